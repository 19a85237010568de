from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from lnp.graph.graph import Graph
from lnp.nn.backbone import BackboneSpec
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.sign import SIGN
from lnp.seeds import Seeds


def build(layers: int = 2, *, normalisation: str = "symmetric", dropout: float = 0.5, inputs: int = 5) -> SIGN:
    spec = BackboneSpec(
        inputs=inputs,
        outputs=3,
        hidden=6,
        layers=layers,
        dropout=dropout,
        normalisation=normalisation,
        initialisation="fan-out",  # its bias is not zero
    )
    return SIGN(spec, Seeds(0).generator("initialisation"))


def dense_hops(graph: Graph, layers: int, normalisation: str) -> list[np.ndarray]:
    a = graph.adjacency.toarray().astype(np.float64) + np.eye(graph.node_count)
    degree = a.sum(axis=1)
    S = a / degree[:, None] if normalisation == "row" else a / np.sqrt(np.outer(degree, degree))
    X = np.asarray(graph.features.toarray() if sp.issparse(graph.features) else graph.features, np.float64)
    return [np.linalg.matrix_power(S, k) @ X for k in range(layers + 1)]


def dense_formula(network: SIGN, hops: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    state = {name: value.double().numpy() for name, value in network.state_dict().items()}
    blocks = [hop @ state[f"weights.{k}"] for k, hop in enumerate(hops)]
    hidden = np.maximum(np.concatenate(blocks, axis=1) + state["bias"], 0)
    return hidden, hidden @ state["readout.weight"] + state["readout.bias"]


@pytest.mark.parametrize("normalisation", ["symmetric", "row"])
@pytest.mark.parametrize("layers", [1, 2, 4])
@pytest.mark.parametrize("sparse", [False, True])
def test_outputs_equal_the_dense_formula(random_graph, normalisation: str, layers: int, sparse: bool) -> None:
    graph = random_graph(sparse=sparse)
    network = build(layers, normalisation=normalisation).eval()
    hidden, outputs = dense_formula(network, dense_hops(graph, layers, normalisation))
    tensors = GraphTensors(graph)
    np.testing.assert_allclose(network(tensors).detach().numpy(), outputs, atol=1e-5)
    np.testing.assert_allclose(network.embed(tensors).detach().numpy(), hidden, atol=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
def test_gradients_equal_those_of_automatic_differentiation(random_graph, sparse: bool) -> None:
    graph, network = random_graph(sparse=sparse), build().eval()
    hops = [torch.from_numpy(hop).float() for hop in dense_hops(graph, 2, "symmetric")]
    blocks = [hop @ weight for hop, weight in zip(hops, network.weights, strict=True)]
    expected = network.readout((torch.cat(blocks, dim=1) + network.bias).relu())
    results = [
        torch.autograd.grad(outputs.square().sum(), list(network.parameters()))
        for outputs in (network(GraphTensors(graph)), expected)
    ]
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


def test_columns_that_carry_gradient_are_propagated(random_graph) -> None:
    graph = random_graph(features=5)
    network = build(normalisation="row").eval()
    narrow = GraphTensors(graph.with_features(graph.features[:, :3]))
    extra = torch.from_numpy(graph.features[:, 3:].copy()).requires_grad_()
    outputs = network(narrow.with_columns(extra))
    np.testing.assert_allclose(
        outputs.detach().numpy(), dense_formula(network, dense_hops(graph, 2, "row"))[1], atol=1e-5
    )
    outputs[0].sum().backward()
    reached = extra.grad.abs().sum(dim=1) > 0
    a = graph.adjacency.toarray() + np.eye(graph.node_count)
    within_two = (a @ a)[0] > 0
    assert not reached[torch.from_numpy(~within_two)].any()
    assert reached.sum() > 1


def test_dropout_is_drawn_after_the_activation(random_graph) -> None:
    graph, network = GraphTensors(random_graph()), build()
    dropped = network.train().embed(graph, Seeds(2).generator("dropout"))
    whole = network.eval().embed(graph)
    positive = whole > 0
    assert set((dropped[positive] / whole[positive]).detach().round(decimals=4).tolist()) == {0.0, 2.0}


def test_many_rows_are_computed_with_fewer_copies_to_the_same_bits(random_graph) -> None:
    graph, network = random_graph(), build().train()
    results = []
    for lean in (False, True):
        outputs = network(GraphTensors(graph, lean=lean), Seeds(1).generator("dropout"))
        results.append((outputs, *torch.autograd.grad(outputs.sin().sum(), list(network.parameters()))))
    assert all(torch.equal(one, other) for one, other in zip(*results, strict=True))
