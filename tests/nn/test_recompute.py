from __future__ import annotations

import pytest
import torch

from lnp.nn.backbone import BackboneSpec
from lnp.nn.dropout import dropout
from lnp.nn.gcn import GCN
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.recompute import recomputed
from lnp.seeds import Generator, Seeds


def test_the_second_computation_draws_the_same_and_leaves_the_stream_alone() -> None:
    weight = torch.linspace(-1, 1, 40).view(8, 5).requires_grad_()
    calls = []

    def function(source: Generator | None) -> torch.Tensor:
        calls.append(source)
        return dropout(weight.sin(), 0.5, source).exp()

    results = []
    for apply in (lambda generator: function(generator), lambda generator: recomputed(function, generator)):
        generator = Seeds(5).generator("dropout")
        result = apply(generator)
        (gradient,) = torch.autograd.grad(result.sum(), weight)
        results.append((result, gradient, generator.integers(0, 2**62)))
    assert torch.equal(results[0][0], results[1][0])
    assert torch.equal(results[0][1], results[1][1])
    assert results[0][2] == results[1][2]
    assert len(calls) == 3  # once kept, and twice where it is computed again
    assert calls[2] is not calls[1]


def test_nothing_is_computed_twice_without_gradient() -> None:
    calls = []

    def function(source: Generator | None) -> torch.Tensor:
        calls.append(source)
        return torch.ones(3)

    with torch.no_grad():
        recomputed(function, None)
    assert calls == [None]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("lean", [False, True])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_network_learns_the_same_and_keeps_no_hidden_layer(
    random_graph, lean: bool, sparse: bool, layers: int
) -> None:
    graph = random_graph(sparse=sparse)
    spec = BackboneSpec(inputs=5, outputs=3, hidden=6, layers=layers)
    results = []
    for recompute in (False, True):
        tensors = GraphTensors(graph, lean=lean, recompute=recompute)
        network = GCN(spec, Seeds(0).generator("initialisation")).train()
        generator = Seeds(1).generator("dropout")
        kept: list[tuple[int, ...]] = []
        with torch.autograd.graph.saved_tensors_hooks(
            lambda tensor, kept=kept: (kept.append(tuple(tensor.shape)), tensor)[1], lambda tensor: tensor
        ):
            first = network(tensors, generator)
        second = network(tensors, generator)  # the stream goes on where it would have
        (first.sin().sum() + second.cos().sum()).backward()
        results.append([first, second, *(parameter.grad for parameter in network.parameters())])
        if recompute and layers > 1:
            assert (12, 6) not in kept
        elif layers > 1:
            assert (12, 6) in kept
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(*results, strict=True))
