"""Twins against sets of neighbours compared one by one."""

from __future__ import annotations

import numpy as np
import pytest

from lnp.graph.graph import Graph
from lnp.graph.twins import have_twin, twin_sets


def graph_with_twins(seed: int, nodes: int = 60) -> Graph:
    """Sparse enough for equal neighbourhoods and for nodes without any."""
    generator = np.random.default_rng(seed)
    edges = np.stack([generator.integers(0, nodes, 45), generator.integers(0, 4, 45)])
    weights = generator.uniform(0.5, 2, 45)
    return Graph.from_edges(edges, np.zeros((nodes, 1)), class_count=2, weights=weights)


@pytest.mark.parametrize("seed", range(5))
def test_against_sets(seed: int) -> None:
    graph = graph_with_twins(seed)
    links = graph.adjacency
    sets = [frozenset(links.indices[links.indptr[i] : links.indptr[i + 1]].tolist()) for i in range(60)]
    order = np.random.default_rng(seed).permutation(60)
    nodes, among = order[:40], order[25:]  # fifteen are in both
    expected = [bool(sets[i]) and any(sets[i] == sets[j] and i != j for j in among) for i in nodes]
    assert 3 < sum(expected) < 35  # or the test shows little
    assert have_twin(graph, nodes, among).tolist() == expected


@pytest.mark.parametrize("seed", range(3))
def test_nodes_share_a_number_if_and_only_if_they_share_their_neighbours(seed: int) -> None:
    graph = graph_with_twins(seed)
    links, numbers = graph.adjacency, twin_sets(graph)
    sets = [frozenset(links.indices[links.indptr[i] : links.indptr[i + 1]].tolist()) for i in range(60)]
    alike = [[one == other for other in sets] for one in sets]
    assert (numbers[:, None] == numbers).tolist() == alike
    assert sorted(set(numbers.tolist())) == list(range(len(set(sets))))


def test_no_node_is_its_own_twin() -> None:
    path = Graph.from_edges([[0, 1, 2], [1, 2, 3]], np.eye(4), class_count=2)
    every = np.arange(4)
    assert not have_twin(path, every, every).any()
    square = Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]], np.eye(4), class_count=2)
    assert have_twin(square, every, every).all()


def test_nobody_has_twins_among_none() -> None:
    square = Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]], np.eye(4), class_count=2)
    none = np.zeros(0, np.int64)
    assert have_twin(square, np.arange(4), none).tolist() == [False] * 4
    assert have_twin(square, none, np.arange(4)).size == 0
    assert have_twin(square, none, none).size == 0
