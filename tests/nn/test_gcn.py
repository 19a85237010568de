from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.linear_model import LogisticRegression

from lnp.graph.graph import Graph
from lnp.nn.backbone import BackboneSpec
from lnp.nn.gcn import GCN
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.propagation import parse_propagation, propagation_matrix
from lnp.nn.similar_links import similar_links
from lnp.seeds import Seeds


def build(
    layers: int = 2,
    *,
    inputs: int = 5,
    normalisation: str = "symmetric",
    dropout: float = 0.5,
    loops: float = 1.0,
    similar: float = 0.0,
) -> GCN:
    spec = BackboneSpec(
        inputs=inputs,
        outputs=3,
        hidden=6,
        layers=layers,
        dropout=dropout,
        normalisation=normalisation,
        loop_weight=loops,
        similar_weight=similar,
        initialisation="fan-out",  # its bias is not zero
    )
    return GCN(spec, Seeds(0).generator("initialisation"))


def dense_formula(network: GCN, graph: Graph) -> np.ndarray:
    kind, loops, similar = parse_propagation(network.propagation)
    a = graph.adjacency.toarray().astype(np.float64) + loops * np.eye(graph.node_count)
    if similar:
        K = similar_links(graph.features).toarray()
        a = a + similar * (K if kind == "row" else (K + K.T) / 2)
    degree = a.sum(axis=1)
    S = a / degree[:, None] if kind == "row" else a / np.sqrt(np.outer(degree, degree))
    hidden = np.asarray(graph.features.toarray() if sp.issparse(graph.features) else graph.features, np.float64)
    for number, layer in enumerate(network.layers):
        hidden = S @ hidden @ layer.weight.detach().double().numpy() + layer.bias.detach().double().numpy()
        if number < len(network.layers) - 1:
            hidden = np.maximum(hidden, 0)
    return hidden


@pytest.mark.parametrize("normalisation", ["symmetric", "row"])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("loops", "similar"), [(0.3, 0.0), (1.0, 0.0), (10.0, 0.0), (1.0, 1.0), (0.3, 3.0)])
def test_outputs_equal_the_dense_formula(
    random_graph, normalisation: str, layers: int, sparse: bool, loops: float, similar: float
) -> None:
    graph = random_graph(sparse=sparse)
    network = build(layers, normalisation=normalisation, loops=loops, similar=similar).eval()
    outputs = network(GraphTensors(graph)).detach().numpy()
    np.testing.assert_allclose(outputs, dense_formula(network, graph), atol=1e-5)


def test_training_without_dropout_equals_evaluation(random_graph) -> None:
    graph, network = GraphTensors(random_graph()), build(dropout=0.0)
    assert torch.equal(network.train()(graph, Seeds(0).generator("dropout")), network.eval()(graph))


def test_outputs_and_gradients_equal_those_of_pyg(random_graph, gcn_conv) -> None:
    graph, network = random_graph(), build().eval()
    first, second = gcn_conv(5, 6), gcn_conv(6, 3)
    with torch.no_grad():
        for theirs, ours in zip((first, second), network.layers, strict=True):
            theirs.lin.weight.copy_(ours.weight.T)
            theirs.bias.copy_(ours.bias)
    edges = torch.from_numpy(np.concatenate([graph.edges, graph.edges[::-1]], axis=1))
    expected = second(first(torch.from_numpy(graph.features), edges).relu(), edges)
    outputs = network(GraphTensors(graph))
    torch.testing.assert_close(outputs, expected, atol=1e-5, rtol=1e-5)
    outputs.square().sum().backward()
    expected.square().sum().backward()
    for theirs, ours in zip((first, second), network.layers, strict=True):
        torch.testing.assert_close(ours.weight.grad, theirs.lin.weight.grad.T, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(ours.bias.grad, theirs.bias.grad, atol=1e-5, rtol=1e-4)


def test_without_edges_it_is_a_perceptron(random_graph) -> None:
    features = random_graph().features
    graph = Graph.from_edges(np.zeros((2, 0), int), features, class_count=3)
    network = build(3).eval()
    x = torch.from_numpy(features)
    a, b, c = network.layers
    expected = c(b(a(x).relu()).relu())
    for normalisation in ("symmetric", "row"):
        network.propagation = normalisation
        torch.testing.assert_close(network(GraphTensors(graph)), expected, atol=1e-6, rtol=1e-5)


def test_one_layer_is_logistic_regression_on_averaged_features(random_graph) -> None:
    graph = random_graph(nodes=40, seed=3)
    labels = np.random.default_rng(0).integers(0, 3, 40)
    averaged = propagation_matrix(graph.adjacency, "symmetric") @ graph.features
    reference = LogisticRegression(C=1.0, tol=1e-10, max_iter=5000).fit(averaged, labels)
    network = build(1)
    with torch.no_grad():
        network.layers[0].weight.copy_(torch.from_numpy(reference.coef_.T))
        network.layers[0].bias.copy_(torch.from_numpy(reference.intercept_))
    probabilities = network.eval()(GraphTensors(graph)).softmax(dim=1).detach().numpy()
    np.testing.assert_allclose(probabilities, reference.predict_proba(averaged), atol=1e-5)
    # The regularised loss is stationary there: our gradient is the one that sklearn set to zero.
    loss = torch.nn.functional.cross_entropy(network(GraphTensors(graph)), torch.from_numpy(labels), reduction="sum")
    loss = loss + 0.5 * network.layers[0].weight.square().sum()
    loss.backward()
    assert network.layers[0].weight.grad.abs().max() < 1e-3


@pytest.mark.parametrize("normalisation", ["symmetric", "row"])
def test_permuting_nodes_permutes_outputs(random_graph, normalisation: str) -> None:
    graph, network = random_graph(), build(normalisation=normalisation).eval()
    order = np.random.default_rng(0).permutation(graph.node_count)
    permuted = network(GraphTensors(graph.permuted(order)))
    torch.testing.assert_close(permuted, network(GraphTensors(graph))[torch.from_numpy(order)], atol=1e-6, rtol=1e-5)


def test_embedding_is_the_hidden_layer_after_dropout(random_graph) -> None:
    graph, network = GraphTensors(random_graph()), build()
    generator = Seeds(2).generator("dropout")
    dropped = network.train().embed(graph, generator)
    whole = network.eval().embed(graph)
    assert (whole >= 0).all()
    positive = whole > 0
    ratio = dropped[positive] / whole[positive]
    assert set(ratio.detach().round(decimals=4).tolist()) == {0.0, 2.0}
    last = network.layers[1]
    expected = graph.propagation("symmetric") @ (whole @ last.weight) + last.bias
    assert torch.equal(network(graph), expected)
    assert build(1).eval().embed(graph) is graph.features


def test_another_propagation_takes_the_place_of_s(random_graph) -> None:
    graph, network = random_graph(), build().eval()
    tensors = GraphTensors(graph)
    row = torch.from_numpy(propagation_matrix(graph.adjacency, "row").toarray())
    outputs = network(tensors, propagation=row)  # any left factor will do, a dense tensor too
    network.propagation = "row"
    torch.testing.assert_close(outputs, network(tensors), atol=1e-6, rtol=1e-5)


def test_same_generator_same_outputs_in_training(random_graph) -> None:
    graph, network = GraphTensors(random_graph()), build().train()
    first, second, other = (network(graph, Seeds(seed).generator("dropout")) for seed in (1, 1, 2))
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("normalisation", ["symmetric", "row"])
def test_lean_gives_the_same_outputs_and_gradients(random_graph, layers: int, normalisation: str, sparse: bool) -> None:
    graph = random_graph(sparse=sparse)
    results = []
    for lean in (False, True):
        tensors, network = GraphTensors(graph, lean=lean), build(layers, normalisation=normalisation).train()
        outputs = network(tensors, Seeds(1).generator("dropout"))
        outputs.sin().sum().backward()
        plain = network.eval()(tensors)
        results.append([outputs, plain, *(parameter.grad for parameter in network.parameters())])
        np.testing.assert_allclose(plain.detach().numpy(), dense_formula(network, graph), atol=1e-5)
    same = torch.equal if sparse else torch.allclose  # for sparse features not even the order of products differs
    assert all(same(ours, theirs) for ours, theirs in zip(*results, strict=True))


def test_lean_works_with_learned_graphs_and_inside_torch_func(random_graph) -> None:
    graph = random_graph()
    row = torch.from_numpy(propagation_matrix(graph.adjacency, "row").toarray()).requires_grad_()
    gradients = []
    for lean in (False, True):
        tensors, network = GraphTensors(graph, lean=lean, recompute=lean), build().train()
        outputs = network(tensors, Seeds(1).generator("dropout"), propagation=row)
        gradients.append([*torch.autograd.grad(outputs.sin().sum(), [row, *network.parameters()])])

        def loss(weights: dict, tensors=tensors, network=network) -> torch.Tensor:
            return torch.func.functional_call(network, weights, (tensors, Seeds(1).generator("dropout"))).sin().sum()

        network.eval()(tensors)  # S is built outside
        network.train()
        weights = {name: value.detach() for name, value in network.named_parameters()}
        gradients[-1] += torch.func.grad(loss)(weights).values()
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("lean", [False, True])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("sparse", [False, True])
def test_some_rows_are_those_of_the_whole(random_graph, lean: bool, layers: int, sparse: bool) -> None:
    graph, rows = random_graph(sparse=sparse), torch.tensor([7, 0, 3])
    results = []
    for some in (False, True):
        tensors, network = GraphTensors(graph, lean=lean), build(layers, normalisation="row").train()
        generator = Seeds(1).generator("dropout")
        outputs = network(tensors, generator, rows=rows) if some else network(tensors, generator)[rows]
        gradients = torch.autograd.grad(outputs.square().sum(), list(network.parameters()))
        results.append([outputs.detach(), *gradients, torch.tensor(generator.integers(0, 2**31))])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
