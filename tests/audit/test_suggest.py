"""Labels worth checking: fair to classes, near the middle of groups, and better than chance."""

from __future__ import annotations

import numpy as np
import pytest

from lnp.audit.folds import train_network
from lnp.audit.network import ChannelNetworkConfig
from lnp.audit.suggest import node_descriptions, share_out, suggest_trusted
from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.errors import ConfigError, LabelError
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import full_batch
from lnp.noise.corrupt import corrupt
from lnp.noise.transition import flip_matrix
from lnp.seeds import Seeds


def test_shares_level_what_there_is() -> None:
    assert share_out(6, np.array([0, 0, 0]), np.array([9, 9, 9])).tolist() == [2, 2, 2]
    assert share_out(4, np.array([5, 1, 0]), np.array([9, 9, 9])).tolist() == [0, 2, 2]
    assert share_out(99, np.array([0, 0, 0]), np.array([2, 0, 1])).tolist() == [2, 0, 1]


def test_descriptions_are_neighbourhood_means_of_length_one(tiny_graph: Graph) -> None:
    looped = (tiny_graph.adjacency.toarray() > 0) + np.eye(7)
    averaging = looped / looped.sum(axis=1, keepdims=True)
    expected = averaging @ averaging @ tiny_graph.features
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(node_descriptions(tiny_graph, np.random.default_rng(0)), expected, atol=1e-6)


def test_the_middle_of_every_group_is_proposed() -> None:
    """Two far groups of one given class, no edges: one node of each, the one nearest to its group's mean."""
    angles = np.r_[np.linspace(0.0, 0.2, 5), np.linspace(1.2, 1.5, 7), 3.0]
    graph = Graph.from_edges(np.zeros((2, 0), int), np.c_[np.cos(angles), np.sin(angles)], class_count=2)
    labels = ObservedLabels(np.r_[np.zeros(12, int), 1], class_count=2)
    found = suggest_trusted(graph, labels, 3, np.random.default_rng(0))
    assert set(found.nodes.tolist()) == {2, 8, 12}
    sizes = dict(zip(found.nodes.tolist(), found.stands_for.tolist(), strict=True))
    assert sizes == {2: 5, 8: 7, 12: 1}
    assert found.nodes[0] == 8  # the largest group first


def test_trusted_and_unlabelled_nodes_are_not_proposed_and_points_may_coincide() -> None:
    graph = Graph.from_edges(np.zeros((2, 0), int), np.ones((8, 2)), class_count=2)
    labels = ObservedLabels([0, 0, 0, 1, 1, 1, -1, -1], [True, *[False] * 7], class_count=2)
    found = suggest_trusted(graph, labels, 10, np.random.default_rng(0))
    assert sorted(found.nodes.tolist()) == [1, 2, 3, 4, 5]
    with pytest.raises(ConfigError, match="`budget` to be at least 1"):
        suggest_trusted(graph, labels, 0, np.random.default_rng(0))
    checked = ObservedLabels([0] * 8, [True] * 8, class_count=2)
    with pytest.raises(LabelError, match="nobody checked yet"):
        suggest_trusted(graph, checked, 3, np.random.default_rng(0))


def test_wide_features_are_reduced() -> None:
    generator = np.random.default_rng(0)
    data = synthetic(SyntheticConfig(nodes=100, classes=3, features=90, signal=6.0), generator)
    described = node_descriptions(data.graph, generator)
    assert described.shape == (100, 64)
    np.testing.assert_allclose(np.linalg.norm(described, axis=1), 1, atol=1e-5)


def accuracy(data, given: np.ndarray, checked: np.ndarray, seed: int) -> float:
    """Of a network that learns from the checked labels alone, on all other nodes."""
    truth, trusted = data.truth.labels, np.zeros(given.size, bool)
    trusted[checked] = True
    observed = ObservedLabels(np.where(trusted, truth, given), trusted, class_count=4)
    batch = full_batch(data.graph, observed, np.zeros(0, np.int64))
    logs = train_network(batch, ChannelNetworkConfig(hidden=16, epochs=40), np.eye(4), Seeds(seed).generator("net"))
    return float((logs.argmax(axis=1) == truth)[~trusted].mean())


def test_checking_them_teaches_more_than_checking_at_random() -> None:
    """Classes of very different sizes, two labels of five wrong, nine checks; the mean over six draws."""
    ours, chance = [], []
    for seed in range(6):
        seeds = Seeds(seed)
        config = SyntheticConfig(nodes=300, classes=4, features=12, signal=1.5, balance=(6, 3, 2, 1))
        data = synthetic(config, seeds.generator("graph"))
        given = corrupt(data.truth.labels, flip_matrix(4, 0.4, [1, 2, 3, 0]), seeds.generator("noise")).labels
        labels = ObservedLabels(given, class_count=4)
        chosen = suggest_trusted(data.graph, labels, 9, seeds.generator("suggest")).nodes
        drawn = seeds.generator("chance").choice(300, 9, replace=False)
        ours.append(accuracy(data, given, chosen, seed))
        chance.append(accuracy(data, given, drawn, seed))
    assert np.mean(ours) > np.mean(chance) + 0.03, (np.mean(ours), np.mean(chance))
