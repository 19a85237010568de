"""Tasks are ready to be trained on, and what all methods share is learnt once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lnp.datasets.catalog import load_dataset
from lnp.experiments import tasks
from lnp.experiments.protocol import prepare
from lnp.experiments.spec import RunSpec
from lnp.experiments.tasks import task_of
from lnp.seeds import Seeds

SPEC = RunSpec(dataset="synthetic:nodes=60,classes=3", method="gcn", noise="flip", rate=0.3, trusted_size=6)


@pytest.fixture
def learnt(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many nodes trained, each time that a noise matrix was learnt; the matrix says which time that was."""
    calls: list[int] = []

    def learn(graph: object, observed: object, train: np.ndarray, seeds: Seeds, **_: object) -> np.ndarray:
        calls.append(train.size)
        return np.full((3, 3), len(calls), np.float32)

    monkeypatch.setattr(tasks, "learn_channel", learn)
    monkeypatch.setattr(tasks, "_known", type(tasks._known)())
    return calls


def test_methods_of_a_cell_share_the_noise_and_other_cells_do_not(learnt: list[int]) -> None:
    dataset = load_dataset(SPEC.dataset)

    def which(spec: RunSpec) -> int:
        transition = task_of(spec, dataset, Seeds(spec.seed)).selection.transition
        assert transition is not None
        return int(transition[0, 0])

    assert [which(replace(SPEC, method=method)) for method in ("gcn", "lnp-v1", "glc")] == [1, 1, 1]
    others = [
        replace(SPEC, **change) for change in ({"seed": 1}, {"rate": 0.6}, {"noise": "uniform"}, {"trusted_size": 9})
    ]
    assert [which(spec) for spec in others] == [2, 3, 4, 5]
    assert which(SPEC) == 1
    assert len(learnt) == 5


def test_the_rest_of_the_task_is_as_prepared(learnt: list[int]) -> None:
    dataset = load_dataset(SPEC.dataset)
    for rule in ("val-channel", "val-clean", "trusted", "last"):
        spec = replace(SPEC, selection=rule)
        mine = task_of(spec, dataset, Seeds(0))
        plain = prepare(dataset, "strict", "flip", 0.3, Seeds(0), trusted_size=6, selection=rule)
        np.testing.assert_array_equal(mine.observed.given, plain.observed.given)
        np.testing.assert_array_equal(mine.selection.labels, plain.selection.labels)
        assert mine.selection.rule == rule
        assert (mine.selection.transition is not None) == (rule == "val-channel")
    assert len(learnt) == 1


def test_who_learns_that_noise_is_not_given_it(learnt: list[int]) -> None:
    dataset = load_dataset(SPEC.dataset)
    task = task_of(replace(SPEC, method="lnp-channel"), dataset, Seeds(0))
    assert (task.selection.rule, task.selection.transition, learnt) == ("val-given", None, [])


def test_old_ones_are_forgotten(learnt: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "REMEMBERED", 2)
    dataset = load_dataset(SPEC.dataset)
    for seed in (0, 1, 2, 2, 1, 0):
        task_of(replace(SPEC, seed=seed), dataset, Seeds(seed))
    assert len(learnt) == 4
