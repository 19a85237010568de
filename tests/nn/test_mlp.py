from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from lnp.nn.backbone import BackboneSpec
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.mlp import MLP
from lnp.seeds import Seeds


def build(layers: int = 2, dropout: float = 0.0) -> MLP:
    spec = BackboneSpec(inputs=5, outputs=3, hidden=6, layers=layers, dropout=dropout, initialisation="fan-out")
    network = MLP(spec, Seeds(0).generator("initialisation"))
    generator = np.random.default_rng(0)
    for norm in network.norms:  # statistics and scales as after some training
        norm.running_mean.copy_(torch.from_numpy(generator.normal(size=6)))
        norm.running_var.copy_(torch.from_numpy(generator.uniform(0.5, 2, size=6)))
        torch.nn.init.constant_(norm.weight, 1.5)
        torch.nn.init.constant_(norm.bias, -0.3)
    return network


def dense_formula(network: MLP, x: np.ndarray) -> np.ndarray:
    hidden = x.astype(np.float64)
    for number, layer in enumerate(network.layers):
        hidden = hidden @ layer.weight.detach().double().numpy() + layer.bias.detach().double().numpy()
        if number == len(network.layers) - 1:
            break
        hidden = np.maximum(hidden, 0)
        norm = network.norms[number]
        if network.training:
            mean, variance = hidden.mean(axis=0), hidden.var(axis=0)
        else:
            mean, variance = norm.running_mean.double().numpy(), norm.running_var.double().numpy()
        hidden = 1.5 * (hidden - mean) / np.sqrt(variance + norm.eps) - 0.3
    return hidden


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("training", [False, True])
def test_outputs_equal_the_dense_formula(random_graph, sparse: bool, layers: int, training: bool) -> None:
    graph = random_graph(sparse=sparse)
    x = graph.features.toarray() if sparse else graph.features
    network = build(layers).train(training)
    expected = dense_formula(network, x)
    outputs = network(GraphTensors(graph), Seeds(0).generator("dropout")).detach().numpy()
    np.testing.assert_allclose(outputs, expected, atol=1e-5, rtol=1e-5)


def test_edges_do_not_matter(random_graph) -> None:
    graph, network = random_graph(), build().eval()
    other = random_graph(seed=9).with_features(graph.features)
    assert other.edge_count != graph.edge_count
    assert torch.equal(network(GraphTensors(graph)), network(GraphTensors(other)))


def test_one_layer_is_a_linear_map(random_graph) -> None:
    graph, network = random_graph(), build(1).eval()
    expected = F.linear(torch.from_numpy(graph.features), network.layers[0].weight.T, network.layers[0].bias)
    torch.testing.assert_close(network(GraphTensors(graph)), expected)


def test_dropout_follows_normalisation(random_graph) -> None:
    graph, network = GraphTensors(random_graph()), build(dropout=0.5).train()
    zero = network.embed(graph, Seeds(0).generator("dropout")) == 0
    network.dropout = 0.0
    assert 0.2 < zero.double().mean() < 0.8
    assert not (network.embed(graph, Seeds(0).generator("dropout")) == 0).any()  # the norm's bias moved every zero
