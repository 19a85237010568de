from __future__ import annotations

import math

import networkx
import numpy as np
import pytest

from lnp.errors import LabelError
from lnp.graph.graph import Graph
from lnp.graph.homophily import adjusted_homophily, edge_homophily


def random_graph(seed, nodes=40, edges=120):
    generator = np.random.default_rng(seed)
    graph = Graph.from_edges(generator.integers(0, nodes, (2, edges)), np.zeros((nodes, 1)), class_count=4)
    return graph, generator.integers(-1, 4, nodes)


@pytest.mark.parametrize("seed", range(5))
def test_edge_homophily_against_a_loop(seed):
    graph, labels = random_graph(seed)
    agree = total = 0
    for i, j in graph.edges.T:
        if labels[i] >= 0 and labels[j] >= 0:
            total += 1
            agree += labels[i] == labels[j]
    assert edge_homophily(graph, labels) == pytest.approx(agree / total, abs=1e-15)


@pytest.mark.parametrize("seed", range(5))
def test_adjusted_homophily_is_the_assortativity_coefficient(seed):
    graph, labels = random_graph(seed)
    rival = networkx.Graph((int(i), int(j)) for i, j in graph.edges.T if labels[i] >= 0 and labels[j] >= 0)
    networkx.set_node_attributes(rival, {node: int(labels[node]) for node in rival}, "y")
    expected = networkx.attribute_assortativity_coefficient(rival, "y")
    assert adjusted_homophily(graph, labels) == pytest.approx(expected, abs=1e-12)


def test_weights_play_no_part():
    labels = np.array([0, 0, 1])
    weighted = Graph.from_edges([[0, 1], [1, 2]], np.eye(3), class_count=2, weights=[9.0, 1.0])
    assert edge_homophily(weighted, labels) == 0.5


def test_perfect_agreement_is_one_and_bipartite_is_minus_one(tiny_graph):
    parts = Graph.from_edges([[0, 2], [1, 3]], np.eye(4), class_count=2)
    assert edge_homophily(parts, np.array([0, 0, 1, 1])) == adjusted_homophily(parts, np.array([0, 0, 1, 1])) == 1
    assert adjusted_homophily(parts, np.array([0, 1, 0, 1])) == -1
    assert edge_homophily(tiny_graph, np.array([0, 0, 0, 1, 1, 2, 2])) == pytest.approx(4 / 7)


def test_no_labelled_edge_is_not_a_number(tiny_graph):
    nobody = np.full(7, -1)
    assert math.isnan(edge_homophily(tiny_graph, nobody))
    assert math.isnan(adjusted_homophily(tiny_graph, nobody))
    assert math.isnan(adjusted_homophily(tiny_graph, np.zeros(7, int)))


def test_labels_of_another_graph_are_named(tiny_graph):
    with pytest.raises(LabelError, match=r"each of the 7 nodes, but got shape \(3,\)"):
        edge_homophily(tiny_graph, np.zeros(3, int))
