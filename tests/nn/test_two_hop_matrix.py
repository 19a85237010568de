"""The product that counts twins once against the matrix that does not."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lnp.graph.graph import Graph
from lnp.nn.propagation import propagation_matrix
from lnp.nn.two_hop_matrix import TwoHopMatrix

KINDS = {False: "two-hop", True: "two-hop-with-self"}


def graph_of(edges: list[tuple[int, int]], nodes: int) -> Graph:
    return Graph.from_edges(np.array(edges, int).reshape(-1, 2).T, np.zeros((nodes, 1)), class_count=2)


def dense_matrix(graph: Graph, *, include_self: bool) -> torch.Tensor:
    return torch.from_numpy(propagation_matrix(graph.adjacency, KINDS[include_self]).toarray())


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Few hubs and many leaves, so that twins and lonely nodes are common."""
    nodes = draw(st.integers(1, 12))
    hubs, ends = st.integers(0, min(2, nodes - 1)), st.integers(0, nodes - 1)
    return graph_of(draw(st.lists(st.tuples(hubs, ends), max_size=16)), nodes)


@given(graphs(), st.booleans())
@settings(max_examples=80, deadline=None)
def test_products_are_those_of_the_whole_matrix(graph: Graph, include_self: bool) -> None:
    dense = torch.from_numpy(np.random.default_rng(0).normal(size=(graph.node_count, 20)).astype(np.float32))
    found = TwoHopMatrix(graph, include_self=include_self) @ dense
    torch.testing.assert_close(found, dense_matrix(graph, include_self=include_self) @ dense, atol=2e-6, rtol=1e-5)


@pytest.mark.parametrize("include_self", [False, True])
def test_gradients_and_theirs_are_those_of_the_whole_matrix(include_self: bool) -> None:
    graph = graph_of([(0, 3), (0, 4), (1, 3), (1, 4), (2, 4), (2, 5), (3, 5)], 7)
    assert dense_matrix(graph, include_self=include_self).count_nonzero() > 6
    whole, product = dense_matrix(graph, include_self=include_self), TwoHopMatrix(graph, include_self=include_self)
    start = torch.from_numpy(np.random.default_rng(1).normal(size=(7, 3)).astype(np.float32))
    gradients = []
    for matrix in (whole, product):
        dense = start.clone().requires_grad_()
        (first,) = torch.autograd.grad((matrix @ dense).pow(3).sum(), dense, create_graph=True)
        gradients.append((first.detach(), torch.autograd.grad(first.pow(2).sum(), dense)[0]))
    torch.testing.assert_close(gradients[1], gradients[0], atol=1e-4, rtol=1e-4)
    mapped = torch.func.grad(lambda dense: (product @ dense).pow(3).sum())(start)
    torch.testing.assert_close(mapped, gradients[0][0], atol=1e-5, rtol=1e-5)


def test_twins_are_counted_once() -> None:
    """Between two hubs and their hundred leaves are ten thousand pairs of leaves, and one of sets."""
    graph = graph_of([(hub, leaf) for hub in (0, 1) for leaf in range(2, 102)], 102)
    assert sp.csr_array(propagation_matrix(graph.adjacency, "two-hop")).nnz == 100 * 99 + 2
    matrix = TwoHopMatrix(graph)
    assert matrix.core.shape == (2, 2)
    torch.testing.assert_close(matrix @ torch.eye(102), dense_matrix(graph, include_self=False))
