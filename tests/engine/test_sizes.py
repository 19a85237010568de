from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from lnp.engine.sizes import Sizes
from lnp.graph.graph import Graph
from lnp.nn.propagation import propagation_matrix, two_hop_neighbours
from lnp.nn.sparse import SparseMatrix


@pytest.mark.parametrize("sparse", [False, True])
def test_sizes_of_a_graph(sparse: bool) -> None:
    values = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
    graph = Graph.from_edges([[0, 1], [1, 2]], sp.csr_array(values) if sparse else values, class_count=2)
    sizes = Sizes.of(graph, copies=2)
    expected = Sizes(nodes=3, entries=4, features=3, feature_entries=3 if sparse else None, classes=2, copies=2)
    assert sizes == expected


def test_two_hop_entries_of_a_random_graph_are_about_right() -> None:
    edges = np.random.default_rng(0).integers(0, 3_000, size=(2, 12_000))
    graph = Graph.from_edges(edges, np.zeros((3_000, 1)), class_count=2)
    exact = two_hop_neighbours(graph.adjacency).nnz
    assert Sizes.of(graph, two_hop=True).two_hop_entries == pytest.approx(exact, rel=0.2)


def test_bytes_of_the_propagation_are_those_of_its_arrays() -> None:
    graph = Graph.from_edges([[0, 1, 1], [1, 2, 3]], np.zeros((5, 1)), class_count=2)
    csr = SparseMatrix.from_scipy(propagation_matrix(graph.adjacency, "symmetric"), symmetric=True)._forward
    arrays = csr.values(), csr.col_indices(), csr.crow_indices()
    held = sum(array.numel() * array.element_size() for array in arrays)
    assert Sizes.of(graph).propagation == held - 4  # the row pointer has one entry more than rows
