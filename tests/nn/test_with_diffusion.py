"""A backbone whose outputs spread to their neighbours."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.graph.graph import Graph
from lnp.nn.backbone import BackboneSpec
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.registry import build_backbone
from lnp.nn.with_diffusion import RESTART, WithDiffusion
from lnp.nn.with_links import WithLinks
from lnp.seeds import Seeds


def build(graph: Graph, name: str, steps: int, **options: object) -> WithDiffusion:
    spec = BackboneSpec(
        inputs=graph.feature_count, outputs=3, hidden=5, nodes=graph.node_count, diffusion_steps=steps, **options
    )
    return build_backbone(name, spec, Seeds(0).generator("initialisation")).eval()


def dense(tensors: GraphTensors, network: WithDiffusion) -> np.ndarray:
    """(1 - a)^T S^T + a Σ_t (1 - a)^t S^t, the whole map from B(G) to Z."""
    matrix = (tensors.propagation(network.propagation) @ torch.eye(tensors.node_count)).double().numpy()
    powers = [np.linalg.matrix_power((1 - RESTART) * matrix, t) for t in range(network.steps + 1)]
    return powers[-1] + RESTART * sum(powers[:-1])


@pytest.mark.parametrize("name", ["gcn", "h2gcn", "mlp"])
@pytest.mark.parametrize("options", [{}, {"normalisation": "row", "loop_weight": 3.0}], ids=str)
@torch.no_grad()
def test_outputs_are_a_polynomial_of_s_times_those_of_the_backbone(
    tiny_graph: Graph, name: str, options: dict[str, object]
) -> None:
    tensors, network = GraphTensors(tiny_graph), build(tiny_graph, name, 4, **options)
    alone = build(tiny_graph, name, 0, **options)  # type: ignore[arg-type]
    assert not isinstance(alone, WithDiffusion)
    assert torch.equal(network.backbone(tensors), alone(tensors))  # it draws no weights of its own
    assert torch.equal(network.embed(tensors), alone.embed(tensors))
    np.testing.assert_allclose(network(tensors).numpy(), dense(tensors, network) @ alone(tensors).numpy(), atol=1e-5)


def test_gradients_are_those_of_the_dense_form(tiny_graph: Graph) -> None:
    tensors, network = GraphTensors(tiny_graph), build(tiny_graph, "gcn", 3, normalisation="row")
    weights = list(network.parameters())
    aim = torch.from_numpy(np.random.default_rng(0).normal(size=(tiny_graph.node_count, 3)).astype(np.float32))
    found = torch.autograd.grad((network(tensors) * aim).sum(), weights)
    whole = torch.from_numpy(dense(tensors, network).astype(np.float32))
    expected = torch.autograd.grad((whole @ network.backbone(tensors) * aim).sum(), weights)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


def test_a_learnt_matrix_takes_the_place_of_s_and_gets_its_gradient(tiny_graph: Graph) -> None:
    tensors, network = GraphTensors(tiny_graph), build(tiny_graph, "gcn", 3)
    same = (tensors.propagation(network.propagation) @ torch.eye(tensors.node_count)).requires_grad_()
    outputs = network(tensors, propagation=same)
    torch.testing.assert_close(outputs, network(tensors))
    (gradient,) = torch.autograd.grad(outputs.square().sum(), [same])
    moved = same.detach().clone()
    moved[0, 1] += 1e-2
    step = network(tensors, propagation=moved).square().sum() - outputs.square().sum()
    assert step.item() == pytest.approx(1e-2 * gradient[0, 1].item(), rel=0.05)


@torch.no_grad()
def test_what_a_path_from_the_links_adds_does_not_spread(tiny_graph: Graph) -> None:
    tensors, network = GraphTensors(tiny_graph), build(tiny_graph, "mlp", 2, links_width=4)
    assert isinstance(network, WithLinks)
    assert isinstance(network.backbone, WithDiffusion)
    network.links.outer.weight.fill_(1.0)
    beside = network.links(tensors.links, None)
    torch.testing.assert_close(network(tensors) - network.backbone(tensors), beside)
    assert beside.any()


def test_an_isolated_node_keeps_what_it_has() -> None:
    graph = Graph.from_edges([[0], [1]], np.eye(3, dtype=np.float32), class_names=("red", "green", "blue"))
    network, tensors = build(graph, "mlp", 10), GraphTensors(graph)
    torch.testing.assert_close(network(tensors)[2], network.backbone(tensors)[2])
