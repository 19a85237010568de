from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.graph.graph import Graph
from lnp.nn.edge_similarity import EdgeSimilarity


def dense(edges: EdgeSimilarity, vectors: torch.Tensor) -> torch.Tensor:
    return edges.matrix(vectors) @ torch.eye(edges.node_count, dtype=vectors.dtype)


def brute_force(graph: Graph, vectors: np.ndarray, epsilon: float) -> np.ndarray:
    n = graph.node_count
    weights = np.zeros((n, n))
    for i, j in graph.edges.T:
        weights[i, j] = weights[j, i] = 1 / (np.mean((vectors[i] - vectors[j]) ** 2) + epsilon)
    degree = weights.sum(axis=1)
    matrix = np.zeros((n, n))
    for i, j in np.argwhere(weights):
        matrix[i, j] = weights[i, j] / np.sqrt(degree[i] * degree[j])
    return matrix


@pytest.mark.parametrize("epsilon", [1e-10, 0.5])
def test_matrix_equals_a_loop_over_edges(random_graph, epsilon: float) -> None:
    graph = random_graph()  # its last node is isolated
    vectors = np.random.default_rng(0).normal(size=(graph.node_count, 4))
    matrix = dense(EdgeSimilarity(graph, epsilon=epsilon), torch.from_numpy(vectors))
    np.testing.assert_allclose(matrix.numpy(), brute_force(graph, vectors, epsilon), atol=1e-12)


def test_it_changes_neither_with_the_scale_of_the_vectors_nor_with_edge_weights(random_graph) -> None:
    graph = random_graph()
    weighted = Graph.from_edges(
        graph.edges, graph.features, weights=np.arange(1, graph.edge_count + 1), class_count=graph.class_count
    )
    vectors = torch.from_numpy(np.random.default_rng(1).normal(size=(graph.node_count, 3)))
    plain = dense(EdgeSimilarity(graph), vectors)
    torch.testing.assert_close(dense(EdgeSimilarity(graph), 0.05 * vectors), plain, atol=1e-6, rtol=0)
    assert torch.equal(dense(EdgeSimilarity(weighted), vectors), plain)


def test_how_many_edges_are_taken_at_a_time_makes_no_difference(random_graph, monkeypatch: pytest.MonkeyPatch) -> None:
    edges, vectors = EdgeSimilarity(random_graph()), torch.randn(random_graph().node_count, 4)
    whole = dense(edges, vectors)
    monkeypatch.setattr("lnp.nn.edge_similarity.CHUNK", 12)  # three edges
    assert edges.rows.numel() > 6
    assert torch.equal(dense(edges, vectors), whole)
    torch.testing.assert_close(edges.matrix(vectors).turned() @ torch.eye(edges.node_count), whole.T)


def test_equal_vectors_give_the_ordinary_normalised_adjacency(random_graph) -> None:
    graph = random_graph()
    adjacency = graph.adjacency.toarray()
    root = 1 / np.sqrt(np.maximum(adjacency.sum(axis=1), 1))
    matrix = dense(EdgeSimilarity(graph), torch.ones(graph.node_count, 2))
    np.testing.assert_allclose(matrix.numpy(), root[:, None] * adjacency * root, atol=1e-6)


def test_no_gradient_and_no_edge() -> None:
    vectors = torch.ones(3, 2, requires_grad=True)
    edgeless = Graph.from_edges(np.zeros((2, 0), int), np.ones((3, 1)), class_count=2)
    matrix = EdgeSimilarity(edgeless).matrix(vectors)
    assert not (matrix @ torch.ones(3, 2)).requires_grad
    for width in (2, 16):  # narrow and wide products are different kernels
        assert (matrix @ torch.ones(3, width)).tolist() == [[0] * width] * 3
