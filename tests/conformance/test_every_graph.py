"""Every method runs on every small graph there is: minutes, so marked slow where graphs are read from files."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import pytest

from lnp.datasets.catalog import list_datasets
from lnp.experiments.run import run
from lnp.experiments.spec import RunSpec
from lnp.methods.registry import METHODS

MADE = ("digits", "synthetic:nodes=300,homophily=0.8", "synthetic:nodes=300,homophily=0.2")
SMALL = sorted(
    row.name
    for row in list_datasets()
    if row.available and row.nodes < 20_000 and not row.name.startswith(("digits", "syn"))
)


def check(method: str, dataset: str) -> None:
    fields = {f.name for f in dataclasses.fields(METHODS[method].method.Config)}
    few = {"epochs": 2, "fine_tune_epochs": 1, "estimate_epochs": 2, "hidden": 8}
    options = {name: value for name, value in few.items() if name in fields}
    spec = RunSpec(dataset=dataset, method=method, noise="uniform-mix", rate=0.3, protocol="random", options=options)
    record = run(spec).record
    assert 0 <= record.test_accuracy <= 1
    assert record.detection_auroc is None or math.isfinite(record.detection_auroc)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dataset", MADE)
def test_made_graphs(method: str, dataset: str) -> None:
    check(method, dataset)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("dataset", SMALL)
@pytest.mark.parametrize("method", METHODS)
def test_published_graphs(data_folder: Path, method: str, dataset: str) -> None:
    check(method, dataset)
