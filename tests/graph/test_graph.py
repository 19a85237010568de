from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from lnp.errors import GraphError
from lnp.graph.graph import Graph

X = np.eye(3, 2)


def build(edges, features=X, **options):
    return Graph.from_edges(edges, features, **{"class_count": 2, **options})


def test_edges_become_undirected_simple_and_sorted():
    graph = build([[2, 0, 1, 0, 1], [0, 2, 1, 1, 0]], features=np.eye(4))  # doubled, self-loop, both directions
    expected = np.zeros((4, 4))
    for i, j in [(0, 2), (0, 1)]:
        expected[i, j] = expected[j, i] = 1
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)
    np.testing.assert_array_equal(graph.edges, [[0, 0], [1, 2]])
    assert (graph.node_count, graph.edge_count, graph.feature_count, graph.class_count) == (4, 2, 4, 2)
    assert graph.class_names == ("0", "1")


def test_the_larger_weight_of_a_doubled_edge_stays():
    graph = build([[0, 1, 1], [1, 0, 2]], weights=[0.5, 2.0, 3.0])
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 2, 0], [2, 0, 3], [0, 3, 0]])


def test_a_graph_without_edges_is_a_graph():
    graph = build([[], []])
    assert graph.edge_count == 0
    assert graph.edges.shape == (2, 0)


def test_permutation_moves_everything_together(tiny_graph):
    order = np.random.default_rng(0).permutation(7)
    moved = tiny_graph.permuted(order)
    np.testing.assert_array_equal(moved.features, tiny_graph.features[order])
    np.testing.assert_array_equal(moved.adjacency.toarray(), tiny_graph.adjacency.toarray()[np.ix_(order, order)])
    assert moved.permuted(np.argsort(order)).checksum == tiny_graph.checksum != moved.checksum


def test_checksum_tells_graphs_apart(tiny_graph):
    assert tiny_graph.checksum == build(tiny_graph.edges, tiny_graph.features, class_count=3).checksum
    changed = tiny_graph.features.copy()
    changed[6, 1] += 1e-6
    assert tiny_graph.with_features(changed).checksum != tiny_graph.checksum
    assert build(tiny_graph.edges[:, 1:], tiny_graph.features, class_count=3).checksum != tiny_graph.checksum


def test_sparse_features_stay_sparse_without_stored_zeros():
    stored_zero = sp.coo_array(([1.0, 0.0, 2.0], ([0, 1, 0], [1, 0, 1])), shape=(3, 2))
    graph = build([[0], [1]], stored_zero)
    assert isinstance(graph.features, sp.csr_array)
    assert graph.features.nnz == 1
    np.testing.assert_array_equal(graph.features.toarray(), [[0, 3], [0, 0], [0, 0]])
    assert graph.features.dtype == np.float32


def test_node_ids_move_with_a_permutation():
    graph = build([[0], [1]], node_ids=("a", "b", "c"))
    assert graph.permuted(np.array([2, 0, 1])).node_ids == ("c", "a", "b")


def test_repr_shows_the_sizes(tiny_graph):
    assert repr(tiny_graph) == "Graph('tiny', 7 nodes, 7 edges, 2 features, 3 classes)"


SPARSE_WITH_NAN = sp.csr_array(([1.0, np.nan], ([0, 2], [0, 1])), shape=(3, 2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edges": [0, 1, 2]}, r"`edges` to be a \(2, m\) array of node numbers, but got shape \(3,\)"),
        ({"edges": [[0.0], [1.0]]}, r"`edges` to be a \(2, m\) array of node numbers, .* float64"),
        ({"edges": [[0, 1], [1, 3]]}, "edges between nodes 0 to 2, but edge 1 names node 3"),
        ({"edges": [[0], [-1]]}, "edges between nodes 0 to 2, but edge 0 names node -1"),
        ({"edges": [[0], [1]], "weights": [0.0]}, "`weights` to be 1 positive numbers"),
        ({"edges": [[0], [1]], "weights": [1.0, 2.0]}, "`weights` to be 1 positive numbers"),
        ({"edges": [[0], [1]], "weights": [np.inf]}, "`weights` to be 1 positive numbers"),
        ({"edges": [[0], [1]], "class_count": None}, "`class_names` or `class_count`, but got neither"),
        ({"edges": [[0], [1]], "class_count": 1}, r"at least two classes, but got \['0'\]"),
        ({"edges": [[0], [1]], "node_ids": ("a",)}, "Expected 3 `node_ids`, but got 1"),
        ({"edges": [[0], [1]], "features": np.ones(3)}, r"`features` to be a \(nodes, features\) matrix"),
        ({"edges": [[], []], "features": np.ones((0, 2)), "name": "void"}, "'void' to have at least one node"),
        (
            {"edges": [[0], [1]], "features": [[1, 2], [np.nan, 1], [np.inf, 1]]},
            r"finite features, but node 1, feature 0 .* \(2 such values in all\)",
        ),
        ({"edges": [[0], [1]], "features": SPARSE_WITH_NAN}, "finite features, but node 2, feature 1"),
    ],
)
def test_what_breaks_the_contract_is_named(arguments, message):
    with pytest.raises(GraphError, match=message):
        build(**arguments)


@pytest.mark.parametrize(
    ("adjacency", "features", "message"),
    [
        (np.ones((2, 3)), X, r"`adjacency` to be square, but got shape \(2, 3\)"),
        (np.eye(3), X, "`adjacency` to have no self-loops"),
        (np.eye(3, k=1), X, "`adjacency` to be symmetric"),
        (np.zeros((2, 2)), X, r"one row for each of the 2 nodes, but got shape \(3, 2\)"),
    ],
)
def test_the_constructor_checks_its_parts(adjacency, features, message):
    with pytest.raises(GraphError, match=message):
        Graph(sp.csr_array(adjacency), features.astype(np.float32), ("a", "b"))
