"""Draws against their distribution, and what a part holds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from lnp.graph.graph import Graph
from lnp.nn.sampling import NeighbourSampler, draw_positions
from lnp.seeds import Seeds


def test_every_subset_is_equally_likely() -> None:
    generator, draws = Seeds(0).generator("draws"), 20_000
    positions = draw_positions(np.full(draws, 5), np.full(draws, 3), generator).reshape(draws, 3)
    found = np.sort(positions, axis=1)
    subsets, counts = np.unique(found, axis=0, return_counts=True)
    assert [tuple(row) for row in subsets.tolist()] == list(combinations(range(5), 3))
    deviation = (counts - draws / 10) / np.sqrt(draws * 0.1 * 0.9)
    assert np.abs(deviation).max() < 4


def test_sets_of_all_sizes_together() -> None:
    sizes, counts = np.array([4, 0, 7, 2, 1000]), np.array([4, 0, 3, 2, 3])
    positions = draw_positions(sizes, counts, Seeds(1).generator("draws"))
    sets = np.split(positions, np.cumsum(counts)[:-1])
    assert [part.tolist() for part in sets[:2]] == [[0, 1, 2, 3], []]
    for part, size in zip(sets, sizes, strict=True):
        assert np.unique(part).size == part.size
        assert ((part >= 0) & (part < size)).all()
    assert draw_positions(sizes[:0], counts[:0], Seeds(1).generator("draws")).size == 0


@pytest.fixture
def graph() -> Graph:
    rng = np.random.default_rng(0)
    return Graph.from_edges(rng.integers(0, 40, (2, 90)), np.eye(40), class_count=2, weights=rng.uniform(1, 2, 90))


def test_with_all_neighbours_a_part_holds_whole_rows_up_to_the_last_hop(graph: Graph) -> None:
    own = np.array([3, 17, 5])
    part = NeighbourSampler(graph.adjacency, [None, None]).sample(own, Seeds(0).generator("s"))
    dense = graph.adjacency.toarray()
    inside = part.nodes[: part.sizes[1]]
    assert part.nodes[:3].tolist() == own.tolist()
    assert np.unique(part.nodes).size == part.nodes.size == part.sizes[2]
    assert set(inside) == set(own) | set(np.flatnonzero(dense[own].any(axis=0)))
    assert set(part.nodes) == set(inside) | set(np.flatnonzero(dense[inside].any(axis=0)))
    rows = np.zeros((inside.size, 40))
    row = np.arange(inside.size).repeat(np.diff(part.one_hop.indptr))
    rows[row, part.nodes[part.one_hop.columns]] = part.one_hop.weights
    np.testing.assert_allclose(rows, dense[inside], rtol=1e-6)


def test_drawn_neighbours_stand_for_all(graph: Graph) -> None:
    own = np.arange(40)
    part = NeighbourSampler(graph.adjacency, [2]).sample(own, Seeds(0).generator("s"))
    degrees, counts = np.diff(graph.adjacency.indptr), np.diff(part.one_hop.indptr)
    np.testing.assert_array_equal(counts, np.minimum(degrees, 2))
    row = own.repeat(counts)
    weights = graph.adjacency.toarray()[row, part.nodes[part.one_hop.columns]]
    np.testing.assert_allclose(part.one_hop.weights, weights * (degrees / np.maximum(counts, 1))[row], rtol=1e-6)


def test_parts_do_not_depend_on_earlier_ones_and_the_seed_decides(graph: Graph) -> None:
    sampler = NeighbourSampler(graph.adjacency, [2, 2], two_hop=True)
    first = sampler.sample(np.array([1, 2]), Seeds(5).generator("s"))
    sampler.sample(np.array([7, 2, 9]), Seeds(6).generator("s"))
    again = sampler.sample(np.array([1, 2]), Seeds(5).generator("s"))
    other = sampler.sample(np.array([1, 2]), Seeds(7).generator("s"))
    assert first.sizes == again.sizes
    np.testing.assert_array_equal(first.nodes, again.nodes)
    np.testing.assert_array_equal(first.two_hop.columns, again.two_hop.columns)  # type: ignore[union-attr]
    assert first.nodes.tolist() != other.nodes.tolist()


def test_no_hops_no_neighbours(graph: Graph) -> None:
    part = NeighbourSampler(graph.adjacency, []).sample(np.array([4, 1]), Seeds(0).generator("s"))
    assert (part.nodes.tolist(), part.sizes, part.one_hop.columns.size) == ([4, 1], (2,), 0)
