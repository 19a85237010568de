"""The audit's network: its loss by hand, and what it learns from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from lnp.audit.network import ChannelNetwork, ChannelNetworkConfig
from lnp.engine.fit import fit
from lnp.engine.selection import select_last
from lnp.methods.batch import full_batch
from lnp.seeds import Seeds


def make(toy_task, **options):
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    config = ChannelNetworkConfig(hidden=8, dropout=0.0, **options)
    channel = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])
    return batch, ChannelNetwork(config, batch, Seeds(0).generator("initialisation"), channel)


def test_loss_is_cross_entropy_through_the_channel_and_weighted_trust(toy_task) -> None:
    batch, network = make(toy_task, trusted_share=0.5)
    network.train()
    terms = network.loss(batch, Seeds(0).randomness())
    p = network.eval().log_probabilities(batch).exp()
    noisy = -((p[batch.noisy] @ network.transition)[torch.arange(batch.noisy.numel()), batch.noisy_labels]).log().mean()
    trusted = -p[batch.trusted, batch.trusted_labels].log().mean()
    assert terms["noisy_ce"].item() == pytest.approx(noisy.item(), rel=1e-5)
    assert terms["trusted_ce"].item() == pytest.approx(0.5 * trusted.item(), rel=1e-5)
    shares = [p[batch.noisy, k].mean().item() for k in range(3)]
    assert terms["class_presence"].item() == pytest.approx(-0.3 * np.log(shares).mean(), rel=1e-5)
    assert terms.keys() == {"noisy_ce", "trusted_ce", "class_presence"}


def test_a_trusted_node_never_weighs_less_than_a_noisy_one(toy_task) -> None:
    batch, network = make(toy_task, trusted_share=0.0)
    network.train()
    terms = network.loss(batch, Seeds(0).randomness())
    p = network.eval().log_probabilities(batch).exp()
    mean = -p[batch.trusted, batch.trusted_labels].log().mean().item()
    assert terms["trusted_ce"].item() == pytest.approx(mean * batch.trusted.numel() / batch.noisy.numel(), rel=1e-5)


def test_the_prior_can_be_switched_off(toy_task) -> None:
    batch, network = make(toy_task, class_presence=0.0)
    assert network.train().loss(batch, Seeds(0).randomness()).keys() == {"noisy_ce", "trusted_ce"}


def test_either_set_may_be_missing(toy_task) -> None:
    batch, network = make(toy_task)
    network.train()
    nobody = batch.noisy[:0]
    assert set(network.loss(replace(batch, noisy=nobody), Seeds(0).randomness())) == {"trusted_ce"}
    assert "trusted_ce" not in network.loss(replace(batch, trusted=nobody), Seeds(0).randomness())
    assert network.stages(replace(batch, noisy=nobody, trusted=nobody)) == []


def test_the_answers_to_use_are_those_of_evaluation(toy_task) -> None:
    batch, network = make(toy_task, epochs=5)
    fit(network, batch, select_last(), Seeds(0).randomness())
    expected = network.eval().prior(batch.graph, "plain", None).log_softmax(dim=1)
    torch.testing.assert_close(network.log_probabilities(batch), expected)


def test_it_learns_the_true_labels_behind_a_swap(toy_task) -> None:
    """All given labels moved on by one class: through that channel the network says the class itself."""
    truth = torch.from_numpy(toy_task.truth.labels)
    batch, _ = make(toy_task)
    moved = replace(batch, given=(truth + 1) % 3, trusted=batch.trusted[:0])
    channel = torch.from_numpy(np.eye(3, dtype=np.float32)[[1, 2, 0]] * 0.98 + 0.0067)
    network = ChannelNetwork(ChannelNetworkConfig(hidden=16), moved, Seeds(0).generator("initialisation"), channel)
    fit(network, moved, select_last(), Seeds(0).randomness())
    assert (network.log_probabilities(moved).argmax(dim=1) == truth).float().mean() > 0.8


def test_the_plain_variant_is_the_backbone_alone_and_another_is_not(toy_task) -> None:
    batch, network = make(toy_task, epochs=5)
    backbone = network.prior.backbone
    torch.testing.assert_close(network.eval().log_probabilities(batch), backbone(batch.graph).log_softmax(dim=1))
    _, smooth = make(toy_task, epochs=5, variant="smooth")
    smooth.load_state_dict(network.state_dict())
    logits = backbone(batch.graph)
    averaged = logits
    for _ in range(2):
        averaged = 0.8 * (batch.graph.propagation("row") @ averaged) + 0.2 * logits
    torch.testing.assert_close(smooth.log_probabilities(batch), averaged.log_softmax(dim=1))
