"""From a specification to a record: the numbers against a direct computation."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from lnp.experiments.run import run
from lnp.experiments.spec import RunSpec

SPEC = RunSpec(
    dataset="synthetic:nodes=300,classes=3",
    method="lnp-v2",
    noise="uniform",
    rate=0.3,
    options={"epochs": 15, "hidden": 8},
)


@pytest.fixture(scope="module")
def outcome():  # type: ignore[no-untyped-def]
    return run(SPEC)


def test_record_agrees_with_the_probabilities(outcome) -> None:  # type: ignore[no-untyped-def]
    truth, test = outcome.dataset.truth.labels, outcome.task.split.test
    predicted = outcome.result.probabilities.argmax(dim=1).numpy()
    record = outcome.record
    assert record.test_accuracy == pytest.approx(np.mean(predicted[test] == truth[test]))
    assert record.test_macro_f1 == pytest.approx(f1_score(truth[test], predicted[test], average="macro"))
    train = outcome.task.split.train
    wrong = outcome.task.observed.given[train] != truth[train]
    believed = outcome.result.probabilities.numpy()[train, outcome.task.observed.given[train]]
    assert record.detection_auroc == pytest.approx(roc_auc_score(wrong, -believed))
    assert record.detection_ap == pytest.approx(average_precision_score(wrong, -believed))
    assert record.realised_rate == pytest.approx(wrong.mean())
    assert record.epochs == 15
    assert record.peak_rss_mib > 50


def test_same_spec_same_numbers(outcome) -> None:  # type: ignore[no-untyped-def]
    again = run(SPEC).record
    assert again.test_accuracy == outcome.record.test_accuracy
    assert again.detection_ap == outcome.record.detection_ap


def test_a_user_with_a_large_graph_is_told_why_nothing_is_trained_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(SPEC, method="gcn", options={"epochs": 1, "hidden": 4, "fine_tune_epochs": 0})
    said: list[str] = []
    run(small, announce=said.append)
    monkeypatch.setattr("lnp.experiments.run.LARGE", 300)
    run(replace(small, selection="trusted"), announce=said.append)
    assert said == []
    run(small, announce=said.append)
    assert [line[:48] for line in said] == ["The noise behind the labels is learnt first, by "]


def test_patience_ends_a_run_so_many_epochs_after_its_best() -> None:
    options = {"epochs": 30, "hidden": 8, "learning_rate": 0.1, "fine_tune_epochs": 0}
    spec = replace(SPEC, method="gcn", protocol="random", options=options)
    whole, short = (run(replace(spec, patience=patience)) for patience in (0, 3))
    scores = [record.score for record in whole.result.history]
    stop = next(epoch for epoch in range(4, 30) if max(scores[: epoch - 3]) >= max(scores[:epoch]))
    assert whole.record.epochs == 30
    assert [record.score for record in short.result.history] == scores[:stop]


def test_record_is_json(outcome) -> None:  # type: ignore[no-untyped-def]
    plain = json.loads(json.dumps(outcome.record.to_json()))
    assert plain["spec"]["dataset"] == SPEC.dataset
    assert plain["config"]["hidden"] == 8
    assert plain["config_hash"] == SPEC.config_hash
