"""A backbone with a path from the links beside it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.graph.graph import Graph
from lnp.nn.backbone import BackboneSpec
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.registry import build_backbone
from lnp.nn.with_links import WithLinks
from lnp.seeds import Seeds


def build(graph: Graph, name: str, **options: int) -> WithLinks:
    spec = BackboneSpec(inputs=graph.feature_count, outputs=3, hidden=5, nodes=graph.node_count, **options)
    network = build_backbone(name, spec, Seeds(0).generator("initialisation")).eval()
    assert isinstance(network, WithLinks)
    return network


def fill(network: WithLinks) -> None:
    draws = np.random.default_rng(0)
    with torch.no_grad():
        for weight in network.links.parameters():
            weight.copy_(torch.from_numpy(draws.normal(size=weight.shape)))


@pytest.mark.parametrize("name", ["gcn", "h2gcn", "mlp"])
@torch.no_grad()
def test_outputs_are_those_of_the_backbone_and_of_the_rows_of_A(tiny_graph: Graph, name: str) -> None:  # noqa: N802
    tensors, network = GraphTensors(tiny_graph), build(tiny_graph, name, links_width=4)
    alone = build_backbone(
        name, BackboneSpec(inputs=tiny_graph.feature_count, outputs=3, hidden=5), Seeds(0).generator("initialisation")
    ).eval()
    assert torch.equal(network(tensors), alone(tensors))  # V is zero at first, and the backbone's draws come first
    fill(network)
    inner, bias, outer = (w.numpy() for w in network.links.parameters())
    beside = np.maximum(tiny_graph.adjacency.toarray() @ inner + bias, 0) @ outer
    np.testing.assert_allclose(network(tensors).numpy(), alone(tensors).numpy() + beside, atol=1e-5)


@torch.no_grad()
def test_nodes_with_the_same_neighbours_get_the_same_from_the_path() -> None:
    """Whatever their features are: nodes 0 and 1 both know 2 and 3."""
    features = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    graph = Graph.from_edges([[0, 0, 1, 1, 3], [2, 3, 2, 3, 4]], features, class_names=("red", "green", "blue"))
    network, tensors = build(graph, "mlp", links_width=4), GraphTensors(graph)
    fill(network)
    beside = network(tensors) - network.backbone(tensors)
    torch.testing.assert_close(beside[0], beside[1])
    assert not torch.allclose(beside[0], beside[4])


def test_dropout_of_path_and_backbone_follows_one_stream(tiny_graph: Graph) -> None:
    network, tensors = build(tiny_graph, "gcn", links_width=4).train(), GraphTensors(tiny_graph)
    fill(network)
    one, again, other = (network(tensors, Seeds(seed).generator("dropout")) for seed in (0, 0, 1))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    with pytest.raises(ValueError, match="needs a generator"):
        network(tensors)


def test_without_the_number_of_nodes_there_is_no_path() -> None:
    spec = BackboneSpec(inputs=4, outputs=3, links_width=2)
    with pytest.raises(ValueError, match="number of nodes"):
        build_backbone("gcn", spec, Seeds(0).generator("initialisation"))
