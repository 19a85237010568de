from __future__ import annotations

import dataclasses

import pytest
import torch

from lnp.nn.backbone import BackboneSpec
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.registry import BACKBONES, build_backbone
from lnp.seeds import Seeds

SPEC = BackboneSpec(inputs=5, outputs=3, hidden=4)


@pytest.mark.parametrize("name", BACKBONES)
def test_training_without_a_generator_is_refused(random_graph, name: str) -> None:
    network, graph = build_backbone(name, SPEC, Seeds(0).generator("initialisation")), GraphTensors(random_graph())
    with pytest.raises(ValueError, match="needs a generator for dropout"):
        network.train()(graph)


@pytest.mark.parametrize("name", BACKBONES)
def test_evaluation_draws_nothing(random_graph, name: str) -> None:
    network, graph = build_backbone(name, SPEC, Seeds(0).generator("initialisation")), GraphTensors(random_graph())
    generator = Seeds(0).generator("dropout")
    network.eval()
    assert torch.equal(network(graph, generator), network(graph))
    assert generator.random() == Seeds(0).generator("dropout").random()


@pytest.mark.parametrize("name", BACKBONES)
@pytest.mark.parametrize("training", [False, True])
def test_sparse_and_dense_features_agree(random_graph, name: str, training: bool) -> None:
    outputs = []
    for sparse in (False, True):
        network = build_backbone(name, SPEC, Seeds(0).generator("initialisation")).train(training)
        outputs.append(network(GraphTensors(random_graph(sparse=sparse)), Seeds(1).generator("dropout")))
    torch.testing.assert_close(*outputs, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", BACKBONES)
def test_extra_columns_equal_a_wider_graph(random_graph, name: str) -> None:
    graph = random_graph(features=5)
    network = build_backbone(name, SPEC, Seeds(0).generator("initialisation")).eval()
    narrow = graph.with_features(graph.features[:, :3])
    extra = torch.from_numpy(graph.features[:, 3:].copy())
    widened = GraphTensors(narrow).with_columns(extra)
    torch.testing.assert_close(network(widened), network(GraphTensors(graph)), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", BACKBONES)
def test_global_random_state_is_left_alone(random_graph, name: str) -> None:
    before = torch.get_rng_state()
    network = build_backbone(name, SPEC, Seeds(0).generator("initialisation"))
    network.train()(GraphTensors(random_graph()), Seeds(0).generator("dropout"))
    assert torch.equal(torch.get_rng_state(), before)


def test_specification_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        SPEC.hidden = 8  # type: ignore[misc]
