from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.nn.graph_tensors import GraphTensors, SideBySide
from lnp.nn.propagation import PROPAGATIONS, propagation_matrix
from lnp.nn.sparse import SparseMatrix


@pytest.mark.parametrize("sparse", [False, True])
def test_side_by_side_equals_the_concatenation_with_its_gradients(random_graph, sparse: bool) -> None:
    graph = random_graph(sparse=sparse)
    fixed = torch.from_numpy(graph.features.toarray() if sparse else graph.features)
    generator = np.random.default_rng(1)
    extra = torch.tensor(generator.normal(size=(graph.node_count, 3)), dtype=torch.float32, requires_grad=True)
    weight = torch.tensor(generator.normal(size=(8, 4)), dtype=torch.float32, requires_grad=True)

    beside = SideBySide(SparseMatrix.from_scipy(graph.features) if sparse else fixed, extra)
    assert beside.shape == (graph.node_count, 8)
    results = []
    for product in (beside @ weight, torch.cat([fixed, extra], dim=1) @ weight):
        results.append((product, *torch.autograd.grad(product.sin().sum(), [extra, weight])))
    for ours, dense in zip(*results, strict=True):
        torch.testing.assert_close(ours, dense, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", PROPAGATIONS)
def test_propagation_is_the_matrix_and_its_gradient_the_transpose(random_graph, kind: str) -> None:
    graph = random_graph()
    S = propagation_matrix(graph.adjacency, kind).toarray()
    tensors = GraphTensors(graph)
    values = torch.eye(graph.node_count, requires_grad=True)
    product = tensors.propagation(kind) @ values
    np.testing.assert_allclose(product.detach().numpy(), S, atol=1e-6)
    weights = torch.tensor(np.random.default_rng(0).normal(size=S.shape), dtype=torch.float32)
    (product * weights).sum().backward()
    np.testing.assert_allclose(values.grad.numpy(), S.T @ weights.numpy(), atol=1e-5)
    assert tensors.propagation(kind) is tensors.propagation(kind)  # built once


@pytest.mark.parametrize("sparse", [False, True])
def test_features_multiply_alike(random_graph, sparse: bool) -> None:
    graph = random_graph(sparse=sparse)
    values = graph.features.toarray() if sparse else graph.features
    tensors = GraphTensors(graph)
    assert isinstance(tensors.features, SparseMatrix if sparse else torch.Tensor)
    np.testing.assert_allclose((tensors.features @ torch.eye(5)).numpy(), values, atol=1e-7)


def test_with_columns_shares_matrices_and_leaves_the_original_alone(random_graph) -> None:
    tensors = GraphTensors(random_graph())
    widened = tensors.with_columns(torch.ones(tensors.node_count, 2))
    assert (tensors.features.shape[1], widened.features.shape[1]) == (5, 7)
    assert widened.propagation("row") is tensors.propagation("row")
    with pytest.raises(TypeError, match="called twice"):
        widened.with_columns(torch.ones(tensors.node_count, 1))


def test_propagated_features_are_s_times_x_where_the_rule_says_so(random_graph) -> None:
    graph = random_graph(features=9)
    lean = GraphTensors(graph, lean=True)
    for kind in ("symmetric", "row"):
        product = lean.propagated(kind, 2)
        expected = propagation_matrix(graph.adjacency, kind).toarray() @ graph.features
        np.testing.assert_allclose(product.numpy(), expected, atol=1e-6)
        assert not product.requires_grad
        assert lean.propagated(kind, 64) is product  # computed once, for all networks
    assert lean.propagated("row", 1) is None  # 9 columns are more than 8 times 1
    assert GraphTensors(graph).propagated("row", 2) is None  # a small graph
    assert GraphTensors(random_graph(sparse=True), lean=True).propagated("row", 2) is None
    assert lean.with_columns(torch.ones(graph.node_count, 2)).propagated("row", 2) is None


def test_graphs_are_lean_from_some_size_on(random_graph, monkeypatch) -> None:
    graph = random_graph()
    assert not GraphTensors(graph).lean
    monkeypatch.setattr("lnp.nn.graph_tensors.LARGE", graph.node_count)
    assert GraphTensors(graph).lean
    assert not GraphTensors(graph, lean=False).lean
    assert GraphTensors(graph, recompute=True).with_columns(torch.ones(graph.node_count, 1)).recompute


def test_rows_of_the_propagation_are_kept_until_others_are_asked_for(random_graph) -> None:
    graph = random_graph()
    tensors, S = GraphTensors(graph), propagation_matrix(graph.adjacency, "row").toarray()
    for numbers in ([4, 1, 2], [0, 5]):
        rows = torch.tensor(numbers)
        matrix = tensors.propagation_rows("row", rows)
        np.testing.assert_allclose((matrix @ torch.eye(graph.node_count)).numpy(), S[numbers], atol=1e-7)
        assert tensors.propagation_rows("row", rows.clone()) is matrix
