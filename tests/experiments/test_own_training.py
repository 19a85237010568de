"""Training without truth: what is chosen, what is said, what is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lnp.datasets.own_graph import OwnGraph
from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.engine import suitable_rule
from lnp.engine.model_file import load_model
from lnp.errors import ConfigError, LabelError, ModelFileError, UnknownNameError
from lnp.experiments.own_training import TrainingPlan, about_checks, plan_training, train_own
from lnp.experiments.prediction import model_homes, read_predictions
from lnp.graph.labels import ObservedLabels
from lnp.methods.registry import METHODS
from lnp.seeds import Seeds

CLASSES = ("red", "green", "blue")


@pytest.fixture
def own() -> OwnGraph:
    """90 nodes in three classes, every fifth without a label, four trusted in each class."""
    config = SyntheticConfig(nodes=90, classes=3, features=8, mean_degree=6)
    data = synthetic(config, Seeds(0).generator("graph"))
    labels = data.truth.labels.copy()
    trusted = np.zeros(90, bool)
    for k in range(3):
        trusted[np.flatnonzero(labels == k)[:4]] = True
    labels[(np.arange(90) % 5 == 0) & ~trusted] = -1
    ids = tuple(f"n{i}" for i in range(90))
    graph = replace(data.graph, class_names=CLASSES, node_ids=ids)
    return OwnGraph(graph, ObservedLabels(labels, trusted, class_count=3), ids, CLASSES, {}, ())


def trusting(own: OwnGraph, counts: tuple[int, int, int]) -> OwnGraph:
    """The graph with so many trusted labels in each class."""
    given, trusted = own.labels.given, np.zeros(90, bool)
    for k, count in enumerate(counts):
        trusted[np.flatnonzero(given == k)[:count]] = True
    return replace(own, labels=ObservedLabels(given, trusted, class_count=3))


@pytest.mark.parametrize(
    ("counts", "method", "selection", "said"),
    [
        ((4, 4, 4), "lnp-channel", "val-given", []),
        ((2, 1, 1), "lnp-channel", "val-given", []),
        (
            (4, 4, 0),
            "gce",
            "trusted",
            ["No label is trusted in class 'blue', so gce is trained instead of lnp-c"],
        ),
        ((0, 0, 0), "gce", "val-noisy", ["No label is trusted, and that has a price", "Too few trusted labels"]),
    ],
)
def test_what_suits_is_chosen_and_said(
    own: OwnGraph, counts: tuple[int, int, int], method: str, selection: str, said: list[str]
) -> None:
    plan = plan_training(trusting(own, counts))
    assert (plan.method, plan.selection) == (method, selection)
    assert [note[: len(start)] for note, start in zip(plan.notes, said, strict=True)] == said


@pytest.mark.parametrize("method", ["glc", "lnp-v2", "gcn"])
def test_other_methods_have_the_rule_that_suits_their_labels(
    own: OwnGraph, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    labelled = trusting(own, (4, 4, 4))
    assert plan_training(labelled, method=method).selection == "trusted"
    monkeypatch.setattr(suitable_rule, "LABELS_TO_LEARN_FROM", 20)
    assert plan_training(labelled, method=method).selection == "val-channel"
    assert plan_training(labelled, method=method, whole=False).selection == "trusted"


@pytest.mark.parametrize(
    ("counts", "selection", "said"),
    [((2, 2, 1), "trusted", []), ((2, 1, 1), "val-noisy", ["Too few trusted labels"])],
)
def test_in_parts_a_method_is_chosen_that_can_do_with_them(
    own: OwnGraph, counts: tuple[int, int, int], selection: str, said: list[str]
) -> None:
    plan = plan_training(trusting(own, counts), whole=False)
    assert (plan.method, plan.selection) == ("lnp-v2", selection)
    assert [note[: len(start)] for note, start in zip(plan.notes, said, strict=True)] == said


def test_with_few_labels_the_last_epoch_stays(own: OwnGraph) -> None:
    given = np.where(np.arange(90) < 12, own.labels.given, -1)
    few = replace(own, labels=ObservedLabels(given, class_count=3))
    assert plan_training(few).selection == "last"


def test_the_user_s_choice_stands_or_is_refused(own: OwnGraph) -> None:
    assert plan_training(own, "gcn", "last") == TrainingPlan("gcn", "last", ())
    with pytest.raises(UnknownNameError, match=r"Unknown method 'lnp-v3'"):
        plan_training(own, "lnp-v3")
    for method in ("lnp-v1", "lnp-v2", "glc", "lpm", "clean-only"):
        with pytest.raises(LabelError, match=r"none for class 'green', 'blue'. .*suggest-trusted.*--method gce"):
            plan_training(trusting(own, (3, 0, 0)), method)
    needing = {name for name, row in METHODS.items() if row.method.needs_trusted}
    assert needing == {"lnp-v1", "lnp-v2", "glc", "lpm", "clean-only"}


def test_a_model_is_kept_with_the_user_s_ids(own: OwnGraph, tmp_path: Path) -> None:
    settings = {"epochs": 5, "options": {"hidden": 8}}
    (row,) = train_own(own, tmp_path / "model", plan_training(own), settings=settings)
    predictions = read_predictions(tmp_path / "model")
    assert predictions.node_ids == own.node_ids
    assert predictions.class_names == CLASSES
    np.testing.assert_array_equal(predictions.given, own.labels.given)
    noisy = own.labels.noisy_nodes
    differs = predictions.predicted[noisy] != own.labels.given[noisy]
    assert row["labels_it_disagrees_with"] == int(differs.sum())
    assert row["agreement_with_untrusted_labels"] == pytest.approx(1 - differs.mean())
    assert row["held_out"] == 12  # a fifth of the 60 untrusted labels
    assert row["predicted"] == dict(zip(CLASSES, np.bincount(predictions.predicted, minlength=3).tolist(), strict=True))
    assert row["epochs"] == len(load_model(tmp_path / "model").about["history"])


@pytest.mark.parametrize("method", ["gcn", "gce", "label-propagation", "coteaching-plus"])
def test_without_any_trust_it_still_works(own: OwnGraph, tmp_path: Path, method: str) -> None:
    bare = trusting(own, (0, 0, 0))
    settings = {"epochs": 30} if method != "label-propagation" else {}
    (row,) = train_own(bare, tmp_path / "model", plan_training(bare, method), settings=settings)
    assert row["agreement_with_untrusted_labels"] > 0.6
    assert row["held_out"] == 15  # a fifth of the labels


def test_the_epoch_can_be_chosen_by_likelihood(own: OwnGraph, tmp_path: Path) -> None:
    plan = plan_training(own, "smodel", "val-likelihood")
    assert plan == TrainingPlan("smodel", "val-likelihood", ())
    (row,) = train_own(own, tmp_path / "model", plan, settings={"epochs": 20})
    assert row["held_out"] == 12  # a fifth of the 60 untrusted labels
    model = load_model(tmp_path / "model", own.graph)
    held_out = np.array(model.about["held_out"])
    given = model.method.given_distribution(model.probabilities)[held_out, own.labels.given[held_out]]
    best = max(record["score"] for record in model.about["history"])
    assert float(given.double().log().mean()) == pytest.approx(best, abs=1e-6)


def test_several_seeds_are_kept_apart_and_averaged(own: OwnGraph, tmp_path: Path) -> None:
    plan = TrainingPlan("gcn", "last")
    rows = train_own(own, tmp_path / "models", plan, seeds=2, settings={"epochs": 3})
    assert [row["seed"] for row in rows] == [0, 1]
    parts = [load_model(tmp_path / "models" / f"seed-{seed}").probabilities.numpy() for seed in (0, 1)]
    assert not np.allclose(*parts)
    np.testing.assert_allclose(read_predictions(tmp_path / "models").probabilities, np.mean(parts, axis=0), atol=1e-7)
    for seeds in (1, 2):
        with pytest.raises(ConfigError, match=r"it holds other models"):
            train_own(own, tmp_path / "models", plan, seeds=seeds, settings={"epochs": 1})


def test_one_model_may_replace_another_but_not_a_benchmark(own: OwnGraph, tmp_path: Path) -> None:
    plan = TrainingPlan("gcn", "last")
    for epochs in (1, 2):
        train_own(own, tmp_path / "model", plan, settings={"epochs": epochs})
    assert load_model(tmp_path / "model").config.epochs == 2
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "spec.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"it holds other models"):
        train_own(own, tmp_path / "run", plan, settings={"epochs": 1})


@pytest.mark.parametrize(
    ("wrong", "known", "agreement", "told"),
    [
        (8, 25, 0.92, True),  # two were to be expected; eight or more come once in two thousand times
        (5, 25, 0.92, False),  # once in twenty
        (8, 25, 0.70, False),
        (25, 25, 0.0, False),
        (1, 1, 1.0, True),  # a model that disputes nothing
        (0, 0, 0.5, False),
    ],
)
def test_a_model_that_disputes_too_few_labels_is_pointed_out(
    wrong: int, known: int, agreement: float, told: bool
) -> None:
    given = np.zeros(60, np.int64)
    truth = np.where(np.arange(known) < wrong, 1, 0)
    labels = ObservedLabels(given, class_count=2).checked(np.arange(known), truth)
    notes = about_checks(labels, [{"agreement_with_untrusted_labels": agreement}])
    assert len(notes) == told
    if told:
        expected = f"{wrong} of the {known} checked labels had been wrong, but the model disputes only "
        assert notes[0].startswith(expected + f"{100 * (1 - agreement):.0f} %")


def test_where_nobody_knows_what_labels_had_been_nothing_is_said(own: OwnGraph) -> None:
    assert about_checks(own.labels, [{"agreement_with_untrusted_labels": 1.0}]) == []
    assert about_checks(own.labels, [{"agreement_with_untrusted_labels": None}]) == []


def test_a_training_of_several_models_that_was_stopped_is_no_model_and_can_be_done_anew(
    own: OwnGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, settings = TrainingPlan("gcn", "last"), {"options": {"hidden": 4, "epochs": 2, "fine_tune_epochs": 1}}
    with monkeypatch.context() as patch:
        saved: list[int] = []

        def stop_after_two(*_: object) -> None:
            saved.append(1)
            if len(saved) == 2:
                raise KeyboardInterrupt

        patch.setattr("lnp.experiments.own_training.keep_labels", stop_after_two)
        with pytest.raises(KeyboardInterrupt):
            train_own(own, tmp_path / "models", plan, seeds=4, settings=settings)
    with pytest.raises(ModelFileError, match="stopped before the last one"):
        model_homes(tmp_path / "models")
    train_own(own, tmp_path / "models", plan, seeds=1 + 1, settings=settings)
    assert [home.name for home in model_homes(tmp_path / "models")] == ["seed-0", "seed-1"]
