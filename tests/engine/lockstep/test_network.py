from __future__ import annotations

import pytest
import torch
from torch import nn

from lnp.engine.lockstep.network import StackedGCN, dropout_factors
from lnp.engine.lockstep.products import StackedGraph
from lnp.nn.backbone import BackboneSpec
from lnp.nn.dropout import dropout
from lnp.nn.gcn import GCN
from lnp.nn.graph_tensors import GraphTensors
from lnp.seeds import Seeds


@pytest.mark.parametrize("rate", [0.5, 0.3])
def test_the_same_draws_as_dropout(rate) -> None:
    ones = torch.ones(5, 3)
    expected = [dropout(ones, rate, Seeds(seed).generator("dropout")) for seed in range(2)]
    found = dropout_factors([Seeds(seed).generator("dropout") for seed in range(2)], rate, (5, 3))
    assert torch.equal(found, torch.stack(expected))
    assert dropout_factors([], 0.001, (5, 3)) is None


@pytest.mark.parametrize("embed", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_outputs_and_gradients_are_those_of_each_network(toy_task, training, embed) -> None:
    tensors = GraphTensors(toy_task.graph)
    spec = BackboneSpec(inputs=toy_task.graph.feature_count, outputs=3, hidden=6, layers=3)
    networks = [GCN(spec, Seeds(seed).generator("initialisation")).train(training) for seed in range(2)]
    streams = [Seeds(seed).generator("dropout") for seed in range(2)]
    expected = torch.stack(
        [(one.embed if embed else one)(tensors, stream) for one, stream in zip(networks, streams, strict=True)]
    )
    names = [name for name, _ in networks[0].named_parameters()]
    wanted = [
        torch.autograd.grad(expected.sum(), one.parameters(), retain_graph=True, allow_unused=True) for one in networks
    ]

    template, graph = StackedGCN(networks[0]).train(training), StackedGraph(tensors, 2)
    stack = {
        name: torch.stack([one.get_parameter(name).detach() for one in networks]).requires_grad_() for name in names
    }
    again = [Seeds(seed).generator("dropout") for seed in range(2)]
    call = template.embed if embed else template

    holder = nn.Module()
    holder.network = template
    holder.forward = lambda: call(graph, again)

    def of_one_seed(state):
        return torch.func.functional_call(holder, {f"network.{name}": value for name, value in state.items()}, ())

    found = torch.func.vmap(of_one_seed)(stack)
    torch.testing.assert_close(found, expected)
    found.sum().backward()
    for number, name in enumerate(names):
        for seed in range(2):
            if wanted[seed][number] is None:
                assert stack[name].grad is None
            else:
                torch.testing.assert_close(stack[name].grad[seed], wanted[seed][number], atol=1e-4, rtol=1e-4)
