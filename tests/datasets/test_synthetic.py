from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.errors import ConfigError
from lnp.graph.homophily import edge_homophily
from lnp.seeds import Seeds


def draw(seed=0, **knobs):
    return synthetic(SyntheticConfig(**knobs), Seeds(seed).generator("graph"))


@pytest.mark.parametrize("homophily", [0.0, 0.2, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("degree_spread", [0.0, 1.0])
def test_homophily_is_the_knob(homophily, degree_spread):
    dataset = draw(nodes=4000, homophily=homophily, degree_spread=degree_spread)
    realised = edge_homophily(dataset.graph, dataset.truth.labels)
    edges = dataset.graph.edge_count
    assert abs(realised - homophily) <= 4 * np.sqrt(homophily * (1 - homophily) / edges)


def test_homophily_is_exact_in_expectation_even_in_a_crowded_graph():
    # A third of all within-class pairs are joined, so drawing pairs with replacement would show.
    values = []
    for seed in range(200):
        dataset = draw(seed, nodes=30, classes=3, mean_degree=4, homophily=0.7, features=3)
        values.append(edge_homophily(dataset.graph, dataset.truth.labels))
    assert abs(np.mean(values) - 0.7) < 4 * np.sqrt(0.7 * 0.3 / 60 / 200)


@pytest.mark.parametrize("balance", [None, (5.0, 1.0, 1.0, 1.0, 2.0)])
def test_the_mean_degree_is_exact(balance):
    graph = draw(nodes=1000, mean_degree=7, balance=balance).graph
    assert graph.edge_count == 3500


def test_alike_nodes_have_poisson_degrees_and_hubs_do_not():
    degrees = np.diff(draw(nodes=5000, mean_degree=10).graph.adjacency.indptr)
    assert abs(degrees.var() / 10 - 1) < 5 * np.sqrt(2 / 5000)  # variance = mean, up to sampling
    spread = np.diff(draw(nodes=5000, mean_degree=10, degree_spread=1.0).graph.adjacency.indptr)
    # Poisson with log-normal means: variance = 10 + 100 (e − 1) ≈ 182, before hubs saturate.
    assert 120 < spread.var() < 250


def test_neighbours_of_other_classes_are_spread_evenly():
    dataset = draw(nodes=4000, classes=4, homophily=0.4, features=4)
    first, second = dataset.truth.labels[dataset.graph.edges]
    counts = np.zeros((4, 4))
    np.add.at(counts, (np.minimum(first, second), np.maximum(first, second)), 1)
    across = counts[np.triu_indices(4, 1)]
    expected = across.sum() / 6
    assert (np.abs(across - expected) < 4.5 * np.sqrt(expected)).all()


def test_class_sizes_follow_the_balance():
    assert np.bincount(draw(nodes=1000).truth.labels).tolist() == [200] * 5
    sizes = np.bincount(draw(nodes=1000, balance=(4, 3, 2, 0.5, 0.5)).truth.labels)
    assert np.abs(sizes - [400, 300, 200, 50, 50]).max() <= 2
    assert np.bincount(draw(nodes=100, mean_degree=2, balance=(1e6, 1, 1, 1, 1)).truth.labels).tolist() == [
        96,
        1,
        1,
        1,
        1,
    ]


def test_class_means_are_the_signal_apart():
    dataset = draw(nodes=20000, classes=4, features=16, signal=3.0)
    labels, x = dataset.truth.labels, dataset.graph.features
    means = np.stack([x[labels == k].mean(axis=0) for k in range(4)])
    distances = np.linalg.norm(means[:, None] - means[None], axis=2)[np.triu_indices(4, 1)]
    np.testing.assert_allclose(distances, 3.0, atol=0.1)
    assert abs((x - means[labels]).std() - 1) < 0.01


def test_without_signal_features_say_nothing():
    dataset = draw(nodes=5000, signal=0.0)
    labels, x = dataset.truth.labels, dataset.graph.features
    means = np.stack([x[labels == k].mean(axis=0) for k in range(5)])
    assert np.abs(means).max() < 5 / np.sqrt(1000)


def test_node_order_tells_nothing_of_the_class():
    labels = draw(nodes=2000).truth.labels
    assert np.abs(np.bincount(labels[:1000]) - 200).max() < 5 * np.sqrt(50)


def test_same_seed_same_bits():
    first, again, other = draw(3), draw(3), draw(4)
    assert first.graph.checksum == again.graph.checksum != other.graph.checksum
    np.testing.assert_array_equal(first.truth.labels, again.truth.labels)


def test_memory_grows_with_nodes_and_not_with_pairs():
    def peak(nodes):
        tracemalloc.start()
        draw(nodes=nodes, features=8)
        largest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return largest

    assert peak(20000) < 15 * peak(2000)  # ten times the nodes; n² would be a hundred times


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"homophily": 1.2}, r"`homophily` to be in \[0, 1\], but got 1.2"),
        ({"classes": 1}, r"`classes` to be in \[2, 2000\], but got 1"),
        ({"nodes": 3}, r"`classes` to be in \[2, 3\], but got 5"),
        ({"features": 4}, "`features` to be at least the number of classes, 5, but got 4"),
        ({"mean_degree": -1.0}, "`mean_degree` to be a number from 0, but got -1.0"),
        ({"signal": float("nan")}, "`signal` to be a number from 0, but got nan"),
        ({"degree_spread": 9.0}, r"`degree_spread` to be in \[0, 3\]"),
        ({"balance": (1.0, 2.0)}, r"`balance` to be 5 positive numbers, but got \(1.0, 2.0\)"),
        ({"balance": (1.0, 2.0, 0.0, 1.0, 1.0)}, "`balance` to be 5 positive numbers"),
    ],
)
def test_knobs_out_of_range_are_named(knobs, message):
    with pytest.raises(ConfigError, match=message):
        SyntheticConfig(**knobs)


def test_more_edges_than_pairs_are_refused():
    with pytest.raises(ConfigError, match=r"`mean_degree` to leave room for .* different edges among .* pairs"):
        draw(nodes=20, mean_degree=15)
