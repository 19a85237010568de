"""The score that tuning goes by, against the history of the same run; and that test labels do not enter it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lnp.datasets.catalog import load_dataset
from lnp.datasets.dataset import Dataset
from lnp.engine.history import History
from lnp.errors import ConfigError
from lnp.experiments.matched import MatchedScore, match_twins
from lnp.experiments.protocol import Task, prepare
from lnp.experiments.run import run
from lnp.experiments.spec import RunSpec
from lnp.experiments.tuning_objective import EVERY, Hopeless, score
from lnp.graph.labels import Truth
from lnp.seeds import Seeds

GRAPH = "synthetic:nodes=90,classes=3,features=8,mean_degree=6,homophily=0.6"


def make_spec(method: str = "clean-only", **options: object) -> RunSpec:
    return RunSpec(
        dataset=GRAPH,
        method=method,
        rate=0.4,
        protocol="random",
        trusted_size=9,
        options={"hidden": 8, "epochs": 40, **options},
    )


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset(GRAPH)


def kept_score(history: History) -> float:
    """Of the state that training ends with, from the records alone."""
    last = [record.score for record in history if record.stage == history.records[-1].stage]
    before = [record.score for record in history if record.stage != history.records[-1].stage]
    # Fine-tuning keeps the state it starts from if nothing is better.
    return max(last) if not before else max(*last, max(before))


@pytest.mark.parametrize("method", ["clean-only", "lnp-v2", "gcn", "gce"])
def test_it_is_the_score_of_the_epoch_kept(method: str, dataset: Dataset) -> None:
    spec = make_spec(method)
    expected = [kept_score(run(replace(spec, seed=seed)).result.history) for seed in (0, 1)]
    assert score(spec, dataset) == expected[0]
    assert score(spec, dataset, seeds=2) == pytest.approx(np.mean(expected), abs=1e-15)


@pytest.mark.parametrize("method", ["smodel", "glc", "gcn"])
def test_a_likelihood_can_tune(method: str, dataset: Dataset) -> None:
    """Scores are negative, and far below −1 where labels are unlikely."""
    spec = replace(make_spec(method, learning_rate=0.3), selection="val-likelihood")
    history = run(spec).result.history
    judged = History([record for record in history if record.stage != "estimate"])
    heard: list[float] = []
    found = score(spec, dataset, report=lambda step, value: bool(heard.append(value)))
    assert found == pytest.approx(kept_score(judged), abs=1e-12)
    assert found < 0
    assert min(record.score for record in judged) < -1
    last = [record.score for record in judged if record.stage == judged.records[-1].stage]
    start = kept_score(History([record for record in judged if record.stage == "train"]))
    so_far = np.maximum.accumulate(last if method == "glc" else np.maximum(last, start))
    first = max(EVERY, len(last) // 4)
    steps = [step for step in range(EVERY, len(last), EVERY) if step >= first]
    assert heard == pytest.approx([so_far[step - 1] for step in steps], abs=1e-12)


def test_a_method_without_training_has_a_score(dataset: Dataset) -> None:
    spec = make_spec("label-propagation")
    outcome = run(spec)
    assert score(spec, dataset) == outcome.task.selection.score(outcome.result.probabilities)


@pytest.mark.parametrize("method", ["lnp-v1", "gcn", "label-propagation"])
def test_test_labels_do_not_enter(method: str, dataset: Dataset) -> None:
    # The split of `paper` goes by node order, so other labels do not move it.
    spec = replace(make_spec(method), protocol="paper", noise="uniform")
    truth = dataset.truth.labels
    test = prepare(dataset, "paper", "uniform", 0.4, Seeds(0), trusted_size=9).split.test
    shuffled = truth.copy()
    shuffled[test] = (truth[test] + 1) % 3
    other = replace(dataset, truth=Truth(shuffled, class_count=3))
    assert (shuffled != truth).sum() == test.size
    heard: list[list[tuple[int, float]]] = [[], []]
    scores = [
        score(spec, one, report=lambda step, value, to=to: to.append((step, value)))  # type: ignore[misc]
        for one, to in zip((dataset, other), heard, strict=True)
    ]
    assert scores[0] == scores[1]
    assert heard[0] == heard[1]
    assert run(spec).record.test_accuracy > 0  # what did not enter


def test_patience_is_that_of_the_run(dataset: Dataset) -> None:
    spec = replace(make_spec("gcn", fine_tune_epochs=60), patience=5)
    history = run(spec).result.history
    stages = [record.stage for record in history]
    assert stages.count("train") < 40  # or the test shows nothing
    assert stages.count("fine-tuning") < 60
    heard: list[int] = []
    assert score(spec, dataset, report=lambda step, value: bool(heard.append(step))) == kept_score(history)
    # Epochs are counted as if none had been saved, so that trials can be compared.
    assert heard == [40 + step for step in range(20, stages.count("fine-tuning") + 1, EVERY)]


def test_reports_come_from_the_last_stage_with_the_best_so_far(dataset: Dataset) -> None:
    spec = make_spec("lnp-v1")
    scores = [record.score for record in run(spec).result.history]
    heard: list[tuple[int, float]] = []

    def listen(step: int, value: float) -> bool:
        heard.append((step, value))
        return step >= 60

    assert score(spec, dataset, report=listen) == max(scores)
    assert heard == [(step, max(scores[:step])) for step in (10, 20, 30)]
    heard.clear()
    with pytest.raises(Hopeless):
        score(spec, dataset, seeds=2, report=listen)
    second = [record.score for record in run(replace(spec, seed=1)).result.history]
    assert [step for step, _ in heard] == [10, 20, 30, 50, 60]
    assert heard[-1][1] == pytest.approx((max(scores) + max(second[:20])) / 2)


def test_configurations_are_compared_by_the_matched_score(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """The epoch is kept by the rule as it is; what is matched is the score of what was kept."""

    def halved(task: Task) -> MatchedScore:
        return MatchedScore(((0.5, task.selection),))

    plain, heard = score(make_spec("gcn"), dataset), list[list[float]]()
    for judge in (match_twins, halved):
        monkeypatch.setattr("lnp.experiments.tuning_objective.match_twins", judge)
        heard.append([])
        found = score(make_spec("gcn"), dataset, report=lambda step, value: bool(heard[-1].append(value)))
        assert found == pytest.approx(plain if judge is match_twins else plain / 2, abs=1e-15)
    assert heard[0] == heard[1]
    assert len(heard[0]) > 3


def test_a_rule_without_a_score_cannot_tune(dataset: Dataset) -> None:
    with pytest.raises(ConfigError, match="Expected a selection rule that scores, to tune by, but got 'last'"):
        score(replace(make_spec(), selection="last"), dataset)
