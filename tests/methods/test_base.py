from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from lnp.engine.feed import predict
from lnp.engine.fit import _StageLoop, fit
from lnp.engine.selection import Selection, select_last
from lnp.graph.labels import ObservedLabels
from lnp.methods.base import Method
from lnp.methods.batch import Batch, full_batch
from lnp.methods.channel.learning import OWN_ROWS
from lnp.methods.channel.transition import LEAST
from lnp.methods.gcn import Plain, PlainConfig
from lnp.methods.registry import METHODS, create_method, make_config, option_names
from lnp.seeds import Seeds


def test_label_quality_is_the_probability_of_the_given_label(tiny_graph) -> None:
    observed = ObservedLabels([0, 1, 2, 0, 1, -1, -1], np.arange(7) == 4, class_count=3)
    batch = full_batch(tiny_graph, observed, np.array([0, 1, 2]))
    method = Plain(PlainConfig(hidden=2), batch, Seeds(0).generator("initialisation"))
    table = torch.arange(21.0).reshape(7, 3).softmax(dim=0)
    quality = method.label_quality(batch, table)
    expected = [table[0, 0], table[1, 1], table[2, 2], math.nan, table[4, 1], math.nan, math.nan]
    np.testing.assert_array_equal(quality.numpy(), np.array([float(v) for v in expected], np.float32))


NOISE = [[0.7, 0.3, 0.0], [0.1, 0.6, 0.3], [0.2, 0.0, 0.8]]
BEHIND_NOISE = ("forward", "smodel", "glc", "dgnn", "lnp-channel")
"""The methods with a noise matrix."""


def quick(name: str, batch: Batch, selection: Selection | None = None, **options: object) -> Method:
    """The method after a few epochs of every stage."""
    few = {"hidden": 8, "epochs": 4, "fine_tune_epochs": 3, "estimate_epochs": 6, "label_epochs": 6, "start_epochs": 2}
    known = set(option_names(name))
    config = make_config(name, {**{key: value for key, value in few.items() if key in known}, **options})
    method = create_method(name, config, batch, Seeds(0).generator("initialisation"))
    fit(method, batch, selection or select_last(), Seeds(0).randomness())
    return method.eval()


@pytest.mark.parametrize("name", ["lnp-v2", "lnp-channel"])
def test_the_mode_reaches_every_part(name: str, toy_task) -> None:
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    method = create_method(name, make_config(name, {"hidden": 4}), batch, Seeds(0).generator("initialisation"))
    for mode in (False, True):
        assert method.train(mode) is method
        assert {part.training for part in method.modules()} == {mode}
    assert not any(part.training for part in method.eval().modules())


@pytest.mark.parametrize("name", METHODS)
def test_to_keep_what_optimisers_move_and_buffers_is_to_keep_everything(name: str, toy_task, monkeypatch) -> None:
    """The loop copies no other part of a good epoch, so no method may change another part within a stage."""
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    held_out = toy_task.split.validation
    selection = Selection("val-clean", held_out, np.arange(len(held_out)) % 3)  # epochs in no order are the best ones
    kept = quick(name, batch, selection).state_dict()

    def everything(loop: _StageLoop) -> dict[str, Tensor]:
        return {name: value.clone() for name, value in loop.method.state_dict().items()}

    monkeypatch.setattr(_StageLoop, "_changing", everything)
    for key, value in quick(name, batch, selection).state_dict().items():
        assert torch.equal(value, kept[key]), key


@pytest.mark.parametrize("name", METHODS)
def test_what_a_method_expects_to_be_given_is_a_distribution(name: str, toy_task) -> None:
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    method = quick(name, batch)
    probabilities = predict(method, batch)
    given = method.given_distribution(probabilities)
    assert (given >= 0).all()
    torch.testing.assert_close(given.sum(dim=1), torch.ones(60))
    assert not given.requires_grad
    if name not in BEHIND_NOISE:
        assert torch.equal(given, probabilities)
    rows = torch.tensor([3, 50, 7])
    torch.testing.assert_close(method.given_distribution(probabilities[rows]), given[rows])


@pytest.mark.parametrize("name", BEHIND_NOISE)
def test_its_likelihood_is_the_loss_through_the_noise_matrix(name: str, toy_task) -> None:
    """The mean of −log P(given label) over T_N, from the public method, and as the loss has it."""
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    method = quick(name, batch, **({"correction": "compound"} if name == "dgnn" else {}))
    matrix = torch.tensor(NOISE)
    if name == "smodel":
        method.offset.data = matrix.clamp(min=1e-9).log() - method.start
    elif name == "lnp-channel":
        method.transition.copy_(matrix)
        method.findings.own_rows.fill_(True)
    else:
        method.phases.transition.copy_(matrix)
    probabilities = predict(method, batch)
    torch.testing.assert_close(method.given_distribution(probabilities), probabilities @ matrix)
    given = method.given_distribution(probabilities)[batch.noisy, batch.noisy_labels]
    terms = method.loss(batch, Seeds(0).randomness())
    loss = terms["marginal" if name == "lnp-channel" else "forward_ce"]
    if name == "glc":  # over the number of nodes in both sets
        loss = loss * (batch.noisy.numel() + batch.trusted.numel()) / batch.noisy.numel()
    torch.testing.assert_close(loss, -given.log().mean())


def test_a_matrix_that_no_loss_looks_through_is_left_out(toy_task) -> None:
    """Before it is estimated, and in the channel with equal rows that are not believed."""
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    table = torch.rand(5, 3, generator=torch.Generator().manual_seed(0)).softmax(dim=1)
    for name in ("forward", "glc", "dgnn"):
        fresh = create_method(name, make_config(name), batch, Seeds(0).generator("initialisation"))
        assert torch.equal(fresh.given_distribution(table), table)
    channel = quick("lnp-channel", batch)
    channel.findings.own_rows.fill_(False)
    channel.transition.copy_(LEAST * torch.eye(3) + (1 - LEAST) / 3)
    assert torch.equal(channel.given_distribution(table), table)
    channel.transition.copy_(torch.tensor(NOISE))
    channel.phase.fill_(OWN_ROWS)  # while it is learned it counts, whatever rows it will have
    torch.testing.assert_close(channel.given_distribution(table), table @ torch.tensor(NOISE))


def test_the_contract_cannot_be_instantiated() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Method()  # type: ignore[abstract]
