"""Two-hop sets against matrix powers, and walks against the chances that they claim."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from lnp.graph.graph import Graph
from lnp.nn.propagation import two_hop_neighbours
from lnp.nn.two_hop import connected, row_blocks, two_hop_degrees, two_hop_rows, two_hop_walks
from lnp.seeds import Seeds


@pytest.fixture
def adjacency() -> sp.csr_array:
    """50 nodes with weights, a hub and two isolated nodes."""
    rng = np.random.default_rng(3)
    edges = np.c_[rng.integers(0, 48, (2, 80)), [np.zeros(20, int), rng.integers(1, 48, 20)]]
    graph = Graph.from_edges(edges, np.eye(50), class_count=2, weights=rng.uniform(0.1, 3, 100))
    return graph.adjacency


def test_rows_and_degrees_are_those_of_the_whole_two_hop_matrix(adjacency) -> None:  # type: ignore[no-untyped-def]
    whole = two_hop_neighbours(adjacency).toarray()
    nodes = np.array([7, 0, 49, 7])
    np.testing.assert_array_equal(two_hop_rows(adjacency, nodes).toarray(), whole[nodes])
    for paths in (1, 40, 10**6):
        np.testing.assert_array_equal(two_hop_degrees(adjacency, paths=paths), whole.sum(axis=1))


def test_blocks_hold_every_row_once_and_no_more_paths_than_asked_for(adjacency) -> None:  # type: ignore[no-untyped-def]
    pattern = (adjacency.toarray() > 0).astype(int)
    paths = (pattern @ pattern).sum(axis=1)
    blocks = list(row_blocks(adjacency, paths=100))
    assert np.concatenate(blocks).tolist() == list(range(50))
    assert len(blocks) > 5
    assert all(paths[block].sum() <= 100 or block.size == 1 for block in blocks)


def test_connected_pairs(adjacency) -> None:  # type: ignore[no-untyped-def]
    first, second = (grid.ravel() for grid in np.meshgrid(np.arange(50), np.arange(50)))
    np.testing.assert_array_equal(connected(adjacency, first, second), adjacency.toarray()[first, second] > 0)
    assert connected(adjacency, first[:0], second[:0]).size == 0


@pytest.mark.parametrize("chunk", [5, 10**6])
def test_walks_are_counted_by_the_inverse_of_their_chance(adjacency, chunk: int) -> None:  # type: ignore[no-untyped-def]
    pattern = (adjacency.toarray() > 0).astype(float)
    degrees = pattern.sum(axis=1)
    step = pattern / np.maximum(degrees, 1)[:, None]
    chance = np.where(two_hop_neighbours(adjacency).toarray() > 0, step @ step, 0)
    nodes = np.array([0, 5, 48, 13])
    counts, ends, times = two_hop_walks(adjacency, nodes, 6, Seeds(0).generator("walks"), chunk=chunk)
    starts = nodes.repeat(counts)
    assert counts[2] == 0  # an isolated node goes nowhere
    visits = times * 6 * chance[starts, ends]
    np.testing.assert_allclose(visits, np.round(visits), rtol=0, atol=1e-9)  # how often the walks ended there
    assert (np.bincount(starts, weights=visits) <= 6 + 1e-9).all()


def test_walks_are_right_on_average(adjacency) -> None:  # type: ignore[no-untyped-def]
    generator, draws = Seeds(1).generator("walks"), 1500
    nodes = np.arange(50)
    total, square = np.zeros((50, 50)), np.zeros((50, 50))
    for _ in range(draws):
        counts, ends, times = two_hop_walks(adjacency, nodes, 3, generator)
        total[nodes.repeat(counts), ends] += times
        square[nodes.repeat(counts), ends] += times**2
    exact = two_hop_neighbours(adjacency).toarray()
    mean = total / draws
    error = np.sqrt(np.maximum(square / draws - mean**2, 0) / draws)
    assert not mean[exact == 0].any()
    assert (np.abs(mean - exact) <= 5 * error + 1e-9).all()
