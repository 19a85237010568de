"""The noise that every method is judged behind: the very T of ``lnp-channel``, from what trains and nothing else."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from torch import from_numpy

from lnp.datasets.dataset import Dataset
from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.engine import noise_channel
from lnp.engine.fit import fit
from lnp.engine.noise_channel import behind_channel, learn_channel
from lnp.engine.selection import Selection, select_last
from lnp.errors import ConfigError
from lnp.experiments.protocol import Task, prepare
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import full_batch
from lnp.methods.channel.config import ChannelConfig
from lnp.methods.channel.model import Channel
from lnp.seeds import Seeds

SEEDS = Seeds(0)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    config = SyntheticConfig(nodes=400, classes=4, mean_degree=8, homophily=0.8, features=16, signal=2.0)
    return synthetic(config, SEEDS.generator("graph"))


@pytest.fixture(scope="module")
def task(dataset: Dataset) -> Task:
    """Seven in ten labels of each class say another one."""
    return prepare(dataset, "strict", "flip", 0.7, SEEDS)


@pytest.fixture(scope="module")
def learnt(task: Task) -> np.ndarray:
    return learn_channel(task.graph, task.observed, task.split.train, SEEDS)


def test_it_is_the_matrix_that_the_labels_came_through(task: Task, learnt: np.ndarray) -> None:
    assert task.corruption.matrix is not None
    np.testing.assert_allclose(learnt.sum(axis=1), 1, atol=1e-5)
    assert learnt.argmax(axis=1).tolist() == task.corruption.matrix.argmax(axis=1).tolist()
    assert np.abs(learnt - task.corruption.matrix).max() < 0.2


def test_it_is_the_one_that_lnp_channel_learns_with_that_seed(task: Task, learnt: np.ndarray) -> None:
    batch = full_batch(task.graph, task.observed, task.split.train)
    method = Channel(ChannelConfig(epochs=3), batch, SEEDS.generator("initialisation"))
    fit(method, batch, select_last(), SEEDS.randomness())
    assert method.channel is not None
    np.testing.assert_array_equal(method.channel.numpy(), learnt)


def test_labels_that_do_not_train_do_not_matter(task: Task, learnt: np.ndarray) -> None:
    observed = task.observed
    elsewhere = np.setdiff1d(np.arange(observed.node_count), np.union1d(task.split.train, observed.trusted_nodes))
    given = observed.given.copy()
    given[elsewhere] = 0
    other = ObservedLabels(given, observed.trusted, class_count=observed.class_count)
    np.testing.assert_array_equal(learn_channel(task.graph, other, task.split.train, SEEDS), learnt)


def test_without_trusted_nodes_labels_are_taken_nearly_as_they_are(task: Task) -> None:
    observed = task.observed
    given = np.where(observed.trusted, -1, observed.given)
    nobody = ObservedLabels(given, class_count=observed.class_count)
    np.testing.assert_allclose(learn_channel(task.graph, nobody, task.split.train, SEEDS), np.eye(4), atol=0.01)


def test_only_the_rule_that_asks_gets_it(task: Task, learnt: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    where = task.graph, task.observed, task.split.train, SEEDS
    completed = behind_channel(task.selection, *where)
    np.testing.assert_array_equal(completed.transition, learnt)
    np.testing.assert_array_equal(completed.labels, task.selection.labels)

    def unwanted(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(noise_channel, "learn_channel", unwanted)
    assert behind_channel(completed, *where) is completed
    for rule in ("val-clean", "val-noisy", "val-given", "val-likelihood", "trusted", "last"):
        other = replace(task.selection, rule=rule)
        assert behind_channel(other, *where) is other


def test_behind_it_the_truth_scores_best_of_all_ways_to_name_the_classes(
    dataset: Dataset, task: Task, learnt: np.ndarray
) -> None:
    """Most labels are wrong, so by the labels as they are the names that the noise gives are the best ones."""
    nodes, labels = task.selection.nodes, task.selection.labels
    behind, plain = Selection("val-channel", nodes, labels, learnt), Selection("val-noisy", nodes, labels)
    scores = {}
    for names in itertools.permutations(range(4)):
        table = from_numpy(np.eye(4, dtype=np.float32)[np.array(names)[dataset.truth.labels]])
        scores[names] = behind.score(table), plain.score(table)
    ranked = sorted(scores, key=lambda names: scores[names][0], reverse=True)
    assert ranked[0] == (0, 1, 2, 3)
    assert scores[ranked[0]][0] > scores[ranked[1]][0] + 0.1
    assert max(scores, key=lambda names: scores[names][1]) == tuple(learnt.argmax(1).tolist())


def test_its_epochs_are_named_as_what_they_are(task: Task, learnt: np.ndarray) -> None:
    stages: list[str] = []
    again = learn_channel(
        task.graph, task.observed, task.split.train, SEEDS, on_epoch=lambda record, count: stages.append(record.stage)
    )
    np.testing.assert_array_equal(again, learnt)
    assert {stage.partition(":")[0] for stage in stages} == {"noise"}
    assert stages[0] == "noise: first rows, smooth"


def test_where_it_cannot_fit_the_advice_is_another_rule(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ConfigError("Expected a run that fits.")

    monkeypatch.setattr(noise_channel, "preflight", refuse)
    with pytest.raises(ConfigError, match=r"that fits\. Or choose the epoch by another rule than val-channel"):
        learn_channel(task.graph, task.observed, task.split.train, SEEDS)
