"""Structural features against dense linear algebra."""

from __future__ import annotations

import networkx
import numpy as np
import scipy.sparse as sp

from lnp.datasets.files.structural import structural_features
from lnp.seeds import Seeds


def features(graph: networkx.Graph, **options: int) -> tuple[np.ndarray, tuple[str, ...]]:
    adjacency = sp.csr_array(networkx.to_scipy_sparse_array(graph, dtype=np.float32))
    return structural_features(adjacency, Seeds(0).generator("structural features"), **options)


def test_positions_span_the_leading_eigenvectors() -> None:
    graph = networkx.barbell_graph(8, 3)
    found, names = features(graph, positions=3, rounds=400)
    dense = networkx.to_numpy_array(graph)
    scale = 1 / np.sqrt(dense.sum(axis=1))
    values, vectors = np.linalg.eigh(0.5 * (np.eye(len(dense)) + scale[:, None] * dense * scale))
    leading = vectors[:, np.argsort(values)[-3:]]
    positions = found[:, 2:] / np.sqrt(len(dense))
    np.testing.assert_allclose(positions @ positions.T, leading @ leading.T, atol=1e-3)
    assert names == ("log degree", "neighbours' log degree", "position 1", "position 2", "position 3")


def test_degrees_are_those_of_networkx() -> None:
    graph = networkx.star_graph(4)
    graph.add_node(9)
    found, _ = features(graph)
    own = np.log1p([graph.degree(node) for node in graph])
    around = np.array([np.mean([np.log1p(graph.degree(k)) for k in graph[node]] or [0]) for node in graph])
    np.testing.assert_allclose(found[:, 0], (own - own.mean()) / own.std(), rtol=1e-5)
    np.testing.assert_allclose(found[:, 1], (around - around.mean()) / around.std(), rtol=1e-5)


def test_communities_are_told_apart_and_the_same_graph_gives_the_same_bits() -> None:
    graph = networkx.planted_partition_graph(2, 40, 0.3, 0.01, seed=1)
    found, _ = features(graph)
    again, _ = features(graph)
    np.testing.assert_array_equal(found, again)
    assert np.isfinite(found).all()
    side = np.repeat([0, 1], 40)
    centres = np.stack([found[side == k, 2:].mean(axis=0) for k in (0, 1)])
    nearer = ((found[:, 2:] - centres[1]) ** 2).sum(axis=1) < ((found[:, 2:] - centres[0]) ** 2).sum(axis=1)
    assert (nearer == side).mean() > 0.95


def test_tiny_graphs_get_what_they_can() -> None:
    found, names = features(networkx.path_graph(2))
    assert found.shape == (2, 4) == (2, len(names))
    assert not found[:, :2].any()  # equal degrees tell nothing
