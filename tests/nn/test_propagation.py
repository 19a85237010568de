from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from lnp.errors import ConfigError
from lnp.graph.graph import Graph
from lnp.nn.propagation import (
    PROPAGATIONS,
    is_symmetric,
    parse_propagation,
    propagation_matrix,
    propagation_name,
    two_hop_neighbours,
)
from lnp.nn.similar_links import similar_links


def adjacency(edges: list[tuple[int, int]], nodes: int) -> sp.csr_array:
    return Graph.from_edges(np.array(edges, int).reshape(-1, 2).T, np.zeros((nodes, 1)), class_count=2).adjacency


@st.composite
def graphs(draw: st.DrawFn) -> sp.csr_array:
    nodes = draw(st.integers(1, 9))
    ends = st.integers(0, nodes - 1)
    return adjacency(draw(st.lists(st.tuples(ends, ends), max_size=16)), nodes)


def brute_force_two_hop(a: np.ndarray) -> np.ndarray:
    n = len(a)
    two = np.zeros_like(a)
    for i in range(n):
        for j in range(n):
            reached = any(a[i, k] and a[k, j] for k in range(n))
            two[i, j] = float(i != j and reached and not a[i, j])
    return two


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_row_form_averages(a: sp.csr_array) -> None:
    S = propagation_matrix(a, "row")
    np.testing.assert_allclose(S @ np.ones(a.shape[0]), 1.0, atol=1e-6)
    assert (S.data > 0).all()


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_symmetric_form_keeps_the_root_of_the_degree_and_has_largest_eigenvalue_one(a: sp.csr_array) -> None:
    S = propagation_matrix(a, "symmetric")
    root = np.sqrt(np.asarray(a.sum(axis=1)).ravel() + 1)
    np.testing.assert_allclose(S @ root, root, atol=1e-5)
    values = np.linalg.eigvalsh(S.toarray().astype(np.float64))
    assert values.max() == pytest.approx(1.0, abs=1e-6)
    assert values.min() > -1


@given(graphs())
@settings(max_examples=60, deadline=None)
def test_two_hop_against_brute_force(a: sp.csr_array) -> None:
    dense = a.toarray()
    two = two_hop_neighbours(a)
    assert (two.toarray() == brute_force_two_hop(dense)).all()
    assert (two.data == 1).all()
    assert not two.diagonal().any()
    assert not a.diagonal().any()
    assert a.multiply(two).nnz == 0
    # With the node itself: the same, and 1 on the diagonal of every node that has a neighbour.
    with_self = two_hop_neighbours(a, include_self=True).toarray()
    assert (with_self == brute_force_two_hop(dense) + np.diag(dense.sum(axis=1) > 0)).all()


@given(graphs(), st.sampled_from((*PROPAGATIONS, "symmetric+0.3", "row+0.3", "symmetric+10", "row+10")))
@settings(max_examples=100, deadline=None)
def test_every_form_against_its_dense_formula(a: sp.csr_array, name: str) -> None:
    dense = a.toarray().astype(np.float64)
    kind, _, loops = name.partition("+")
    base = {
        "symmetric": dense + float(loops or 1) * np.eye(len(dense)),
        "row": dense + float(loops or 1) * np.eye(len(dense)),
        "one-hop": dense,
        "two-hop": brute_force_two_hop(dense),
        "two-hop-with-self": brute_force_two_hop(dense) + np.diag(dense.sum(axis=1) > 0),
    }[kind]
    degree = base.sum(axis=1)
    inverse = np.array([1 / d if d else 0.0 for d in degree])
    expected = inverse[:, None] * base if kind == "row" else np.sqrt(np.outer(inverse, inverse)) * base
    S = propagation_matrix(a, name)
    assert S.dtype == np.float32
    np.testing.assert_allclose(S.toarray(), expected, atol=1e-6)


@given(st.sampled_from(("symmetric", "row")), st.floats(1e-3, 1e3), st.just(0.0) | st.floats(1e-3, 1e3))
def test_names_tell_kind_loops_and_similar_nodes(kind: str, loops: float, similar: float) -> None:
    name = propagation_name(kind, loops, similar)
    found = parse_propagation(name)
    assert (found.kind, name.startswith(kind)) == (kind, True)
    assert (found.loops, found.similar) == pytest.approx((loops, similar), rel=1e-5)


@pytest.mark.parametrize("name", ["symmetric~1", "row~1", "symmetric+0.3~3", "row+10~0.5"])
@pytest.mark.parametrize("sparse", [False, True])
def test_similar_nodes_stand_beside_the_links(random_graph, name: str, sparse: bool) -> None:  # type: ignore[no-untyped-def]
    graph = random_graph(sparse=sparse)
    kind, loops, similar = parse_propagation(name)
    K = similar_links(graph.features).toarray().astype(np.float64)
    base = graph.adjacency.toarray() + loops * np.eye(graph.node_count)
    base = base + similar * (K if kind == "row" else (K + K.T) / 2)
    degree = base.sum(axis=1)
    S = propagation_matrix(graph.adjacency, name, graph.features)
    expected = base / degree[:, None] if kind == "row" else base / np.sqrt(np.outer(degree, degree))
    np.testing.assert_allclose(S.toarray(), expected, atol=1e-6)
    assert K.any()
    assert is_symmetric(name) == np.allclose(S.toarray(), S.toarray().T)


def test_similar_nodes_need_features() -> None:
    with pytest.raises(ValueError, match="'row~1' needs features"):
        propagation_matrix(adjacency([(0, 1)], 2), "row~1")


def test_isolated_node_keeps_itself() -> None:
    a = adjacency([(0, 1)], 3)
    for kind in ("symmetric", "row", "symmetric+0.3", "row+10"):
        assert propagation_matrix(a, kind).toarray()[2].tolist() == [0, 0, 1]
    for kind in ("one-hop", "two-hop", "two-hop-with-self"):
        assert not propagation_matrix(a, kind).toarray()[2].any()


def test_triangle_with_a_pendant() -> None:
    two = two_hop_neighbours(adjacency([(0, 1), (1, 2), (0, 2), (2, 3)], 4))
    assert sorted(zip(*two.nonzero(), strict=True)) == [(0, 3), (1, 3), (3, 0), (3, 1)]


def test_complete_graph_has_no_strict_two_hop_neighbours() -> None:
    complete = sp.csr_array(nx.to_scipy_sparse_array(nx.complete_graph(6), dtype=np.float32))
    assert two_hop_neighbours(complete).nnz == 0
    assert propagation_matrix(complete, "two-hop").nnz == 0


def test_two_hop_ignores_weights_and_the_others_use_them() -> None:
    weighted = Graph.from_edges([[0, 1], [1, 2]], np.zeros((3, 1)), weights=[3.0, 0.5], class_count=2).adjacency
    assert two_hop_neighbours(weighted).toarray().tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    np.testing.assert_allclose(propagation_matrix(weighted, "row").toarray()[1], np.array([3, 1, 0.5]) / 4.5, rtol=1e-6)


def test_unknown_kind_lists_the_choices() -> None:
    with pytest.raises(ConfigError, match="one-hop, row, symmetric, two-hop, two-hop-with-self, but got 'column'"):
        propagation_matrix(adjacency([(0, 1)], 2), "column")
