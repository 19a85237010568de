from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.graph.graph import Graph
from lnp.nn.backbone import BackboneSpec
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.h2gcn import H2GCN
from lnp.seeds import Seeds

HIDDEN = 4


def build(rounds: int = 2, *, dropout: float = 0.0, self_in_two_hop: bool = False) -> H2GCN:
    spec = BackboneSpec(
        inputs=5,
        outputs=3,
        hidden=HIDDEN,
        layers=rounds,
        dropout=dropout,
        initialisation="fan-out",
        self_in_two_hop=self_in_two_hop,
    )
    network = H2GCN(spec, Seeds(0).generator("initialisation"))
    generator = np.random.default_rng(0)
    for norm in network.norms:
        norm.running_mean.copy_(torch.from_numpy(generator.normal(size=norm.num_features)))
        norm.running_var.copy_(torch.from_numpy(generator.uniform(0.5, 2, size=norm.num_features)))
    return network


def normalised(a: np.ndarray) -> np.ndarray:
    degree = a.sum(axis=1)
    scale = np.array([d**-0.5 if d else 0.0 for d in degree])
    return scale[:, None] * a * scale


def dense_embedding(network: H2GCN, graph: Graph, *, self_in_two_hop: bool = False) -> np.ndarray:
    a = graph.adjacency.toarray().astype(np.float64)
    two = ((a @ a > 0) & (a == 0)).astype(np.float64)
    if not self_in_two_hop:
        np.fill_diagonal(two, 0)
    s1, s2 = normalised(a), normalised(two)
    x = np.asarray(graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray(), np.float64)
    r = np.maximum(x @ network.ego.weight.detach().double().numpy() + network.ego.bias.detach().double().numpy(), 0)
    blocks = [r]
    for k in range(network.rounds):
        r = np.hstack([s1 @ r, s2 @ r])
        if k < network.rounds - 1:
            norm = network.norms[k]
            if network.training:
                mean, variance = r.mean(axis=0), r.var(axis=0)
            else:
                mean, variance = norm.running_mean.double().numpy(), norm.running_var.double().numpy()
            r = (r - mean) / np.sqrt(variance + norm.eps)
        blocks.append(r)
    return np.hstack(blocks)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("self_in_two_hop", [False, True])
def test_against_the_dense_derivation(random_graph, training: bool, rounds: int, self_in_two_hop: bool) -> None:
    graph = random_graph()
    network = build(rounds, self_in_two_hop=self_in_two_hop).train(training)
    expected = dense_embedding(network, graph, self_in_two_hop=self_in_two_hop)
    tensors, generator = GraphTensors(graph), Seeds(0).generator("dropout")
    statistics = {name: value.clone() for name, value in network.named_buffers()}
    blocks = network.embed(tensors, generator).detach().numpy()
    assert blocks.shape[1] == HIDDEN * (2 ** (rounds + 1) - 1)
    np.testing.assert_allclose(blocks, expected, atol=2e-5)
    network.load_state_dict(statistics, strict=False)
    outputs = network(tensors, generator).detach().numpy()
    readout = network.readout
    weight, bias = readout.weight.detach().double().numpy(), readout.bias.detach().double().numpy()
    np.testing.assert_allclose(outputs, expected @ weight + bias, atol=5e-5)


def test_two_rounds_have_seven_blocks(random_graph) -> None:
    network = build(2)
    assert network.readout.weight.shape == (7 * HIDDEN, 3)
    assert [norm.num_features for norm in network.norms] == [2 * HIDDEN]  # none after the last round


def test_sparse_and_dense_features_agree(random_graph) -> None:
    network = build().eval()
    dense = network(GraphTensors(random_graph(sparse=False)))
    sparse = network(GraphTensors(random_graph(sparse=True)))
    torch.testing.assert_close(sparse, dense, atol=1e-5, rtol=1e-5)


def test_permuting_nodes_permutes_outputs(random_graph) -> None:
    graph, network = random_graph(), build().eval()
    order = np.random.default_rng(1).permutation(graph.node_count)
    permuted = network(GraphTensors(graph.permuted(order)))
    torch.testing.assert_close(permuted, network(GraphTensors(graph))[torch.from_numpy(order)], atol=1e-5, rtol=1e-4)


def test_dropout_hits_every_place_of_the_specification(random_graph) -> None:
    graph = GraphTensors(random_graph())
    network = build(2, dropout=0.5)
    whole = network.eval().embed(graph)
    dropped = network.train().embed(graph, Seeds(0).generator("dropout"))
    # R_0 goes into the concatenation as it is; the last round is dropped after its product.
    assert torch.equal(dropped[:, :HIDDEN], whole[:, :HIDDEN])
    last = dropped[:, 3 * HIDDEN :]
    reached = whole[:, 3 * HIDDEN :] != 0
    assert 0.3 < (last[reached] == 0).double().mean() < 0.8
    assert not torch.equal(dropped[:, HIDDEN : 3 * HIDDEN], whole[:, HIDDEN : 3 * HIDDEN])
