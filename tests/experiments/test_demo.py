"""The demo's data against what its own runs say."""

from __future__ import annotations

import numpy as np
import pytest

from lnp.datasets.digits import digits
from lnp.experiments.demo import METHODS, SHOWN, run_demo
from lnp.experiments.demo_data import PICTURES, TOP, DemoData
from lnp.experiments.run import RunOutcome, run
from lnp.experiments.spec import RunSpec


@pytest.fixture(scope="module")
def data() -> DemoData:
    return run_demo(2, epochs=4)


@pytest.fixture(scope="module")
def shown() -> RunOutcome:
    spec = RunSpec(
        dataset="digits", method=SHOWN, noise="flip", rate=0.6, options={"epochs": 4}, selection="last", seed=0
    )
    return run(spec)


def test_methods_and_seeds_are_in_order(data: DemoData, shown: RunOutcome) -> None:
    assert [outcome.name for outcome in data.methods] == list(METHODS)
    assert all(len(outcome.accuracies) == len(outcome.found) == 2 for outcome in data.methods)
    last = data.methods[-1]
    assert last.accuracies[0] == shown.record.test_accuracy
    assert last.found[0] == shown.record.detection_precision_at_100
    assert last.accuracies[0] != last.accuracies[1]


def test_suspects_are_the_contradicted_labels_every_proposed_class_in_turn(data: DemoData, shown: RunOutcome) -> None:
    truth, given = shown.dataset.truth.labels, shown.task.observed.given
    predicted = shown.result.probabilities.argmax(dim=1).numpy()
    train = shown.task.split.train
    contradicted = train[given[train] != predicted[train]]
    assert {suspect.node for suspect in data.suspects} == set(contradicted.tolist())
    for proposed in range(10):
        qualities = [suspect.quality for suspect in data.suspects if suspect.proposed == proposed]
        assert qualities == sorted(qualities)
    classes = {suspect.proposed for suspect in data.suspects}
    assert {suspect.proposed for suspect in data.suspects[: len(classes)]} == classes
    for suspect in data.suspects[:5]:
        assert suspect.quality == pytest.approx(float(shown.quality[suspect.node]))
        assert suspect.confidence == pytest.approx(float(shown.result.probabilities[suspect.node].max()))
        assert (suspect.given, suspect.truth) == (given[suspect.node], truth[suspect.node])
    # Fewer than half of the labels are right, so the most suspect 100 are all contradicted here.
    most = sorted(data.suspects, key=lambda suspect: suspect.quality)[:TOP]
    wrong = np.mean([suspect.given != suspect.truth for suspect in most])
    assert wrong == pytest.approx(data.methods[-1].found[0])


def test_pictures_are_those_of_the_nodes(data: DemoData) -> None:
    features = digits().graph.features
    for suspect in data.suspects[:PICTURES]:
        assert suspect.picture is not None
        np.testing.assert_array_equal(np.ravel(suspect.picture), features[suspect.node])
    assert all(suspect.picture is None for suspect in data.suspects[PICTURES:])


def test_confusion_counts_the_training_nodes(data: DemoData, shown: RunOutcome) -> None:
    train, given = shown.task.split.train, shown.task.observed.given
    predicted = shown.result.probabilities.argmax(dim=1).numpy()
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (given[train], predicted[train]), 1)
    np.testing.assert_array_equal(data.confusion, counts)
    assert data.train_nodes == counts.sum()
    assert len(data.suspects) == counts.sum() - np.trace(counts)
    assert data.given_right == pytest.approx(1 - shown.record.realised_rate)


def test_curves_have_one_value_per_epoch_and_follow_the_stages(data: DemoData, shown: RunOutcome) -> None:
    gcn, *_, last = data.methods
    starts = {curve.stage: (curve.start, len(curve.values)) for curve in gcn.curves}
    assert starts == {"train": (0, 4), "fine-tuning": (4, 100)}
    records = shown.result.history.records
    assert len(records) > 500  # the noise is learned in many stages
    for curve in last.curves:
        expected = [record.terms[curve.term] for record in records if record.stage == curve.stage]
        assert curve.values == expected
        assert records[curve.start].stage == curve.stage
    assert {(curve.stage, curve.term) for curve in last.curves} == {
        (record.stage, term) for record in records for term in record.terms
    }


def test_the_summary_is_plain(data: DemoData) -> None:
    summary = data.summary()
    assert summary["trusted"] == 20
    assert summary["seeds"] == [0, 1]
    methods = summary["methods"]
    assert isinstance(methods, dict)
    assert methods["gcn"]["test_accuracy"] == data.methods[0].accuracies
    assert data.base_rate == pytest.approx(0.6, abs=0.06)


def test_two_processes_give_the_same_numbers_as_one(data: DemoData) -> None:
    finished: list[tuple[str, int]] = []
    other = run_demo(1, epochs=4, processes=2, on_run=lambda method, seed: finished.append((method, seed)))
    assert [outcome.accuracies for outcome in other.methods] == [outcome.accuracies[:1] for outcome in data.methods]
    assert other.suspects == data.suspects
    assert sorted(finished) == [(method, 0) for method in sorted(METHODS)]
