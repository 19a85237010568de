from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from lnp.nn.random_walks import most_visited, random_walks


def weighted_graph() -> sp.csr_array:
    dense = np.zeros((6, 6), np.float32)
    for i, j, weight in ((0, 1, 1), (0, 2, 3), (1, 2, 2), (2, 3, 4), (3, 4, 0.5)):
        dense[i, j] = dense[j, i] = weight
    return sp.csr_array(dense)  # node 5 is isolated


def test_steps_follow_edges_and_isolated_nodes_stay() -> None:
    adjacency = weighted_graph()
    starts = np.arange(6)
    visited = random_walks(adjacency, starts, np.random.default_rng(0), walks=7, length=9)
    assert visited.shape == (6, 9, 7)
    before = np.concatenate([np.broadcast_to(starts[:, None, None], (6, 1, 7)), visited[:, :-1]], axis=1)
    dense = adjacency.toarray()
    assert (dense[before[:5], visited[:5]] > 0).all()
    assert (visited[5] == 5).all()


def test_distribution_after_some_steps_is_a_power_of_the_transition_matrix() -> None:
    adjacency, count = weighted_graph(), 40_000
    visited = random_walks(adjacency, np.array([1]), np.random.default_rng(1), walks=count, length=3)
    dense = adjacency.toarray()[:5, :5].astype(float)
    transition = dense / dense.sum(axis=1, keepdims=True)
    for step in range(3):
        expected = np.linalg.matrix_power(transition, step + 1)[1]
        share = np.bincount(visited[0, step], minlength=6)[:5] / count
        np.testing.assert_allclose(share, expected, atol=4 * np.sqrt(0.25 / count))


def test_a_graph_without_edges() -> None:
    adjacency = sp.csr_array((3, 3), dtype=np.float32)
    visited = random_walks(adjacency, np.arange(3), np.random.default_rng(0), walks=2, length=4)
    assert (visited == np.arange(3)[:, None, None]).all()


def test_most_visited_against_counting_by_hand() -> None:
    generator = np.random.default_rng(2)
    starts = np.array([3, 0, 7, 5])
    visited = generator.integers(0, 12, size=(4, 6, 5))
    visited[3] = 5  # never leaves
    allowed = np.arange(12) % 4 != 1
    listed = most_visited(visited, starts, allowed, 4)
    for row, start in enumerate(starts):
        met = [int(v) for v in visited[row].ravel() if allowed[v] and v != start]
        ranked = sorted(set(met), key=lambda v: (-met.count(v), met.index(v))) or [int(start)]
        assert listed[row].tolist() == [ranked[i % len(ranked)] for i in range(4)]


def test_few_visited_nodes_are_repeated_in_turn() -> None:
    visited = np.array([[[1], [2], [1]]])
    assert most_visited(visited, np.array([0]), np.ones(3, bool), 5).tolist() == [[1, 2, 1, 2, 1]]


def test_no_start_gives_no_row() -> None:
    none = np.zeros(0, np.int64)
    visited = random_walks(weighted_graph(), none, np.random.default_rng(0), walks=2, length=3)
    assert most_visited(visited, none, np.ones(6, bool), 4).shape == (0, 4)
