"""How long it will take."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lnp.experiments.estimate import estimate_seconds, guess_seconds
from lnp.experiments.spec import RunSpec

CORA = RunSpec(dataset="cora", method="gcn")
HETEROPHILOUS = replace(CORA, options={"backbone": "h2gcn"})


def test_measured_runs_are_believed_by_dataset_method_and_backbone() -> None:
    measured = {("cora", "gcn", "gcn"): 4.0, ("cora", "gcn", "h2gcn"): 10.0}
    assert estimate_seconds([CORA, CORA, HETEROPHILOUS], measured) == pytest.approx(18)
    assert estimate_seconds([CORA, CORA, HETEROPHILOUS], measured, workers=2) == pytest.approx(9)
    mixed = estimate_seconds([CORA, replace(CORA, dataset="pubmed")], measured)
    assert mixed == pytest.approx(4 + guess_seconds(replace(CORA, dataset="pubmed")))
    assert estimate_seconds([], {}) == 0


def test_guesses_grow_with_epochs_graphs_and_methods() -> None:
    base = guess_seconds(CORA)
    larger = [
        replace(CORA, options={"epochs": 400}),
        replace(CORA, dataset="ogbn-arxiv"),
        replace(CORA, method="lnp-v2"),
        HETEROPHILOUS,
    ]
    assert all(guess_seconds(spec) > 1.2 * base for spec in larger)
    assert guess_seconds(replace(CORA, dataset="my-own-graph")) > 0
