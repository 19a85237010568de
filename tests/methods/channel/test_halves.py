"""Whoever judges a node has not learnt its label."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np
import pytest
import torch

from lnp.engine.fit import FitOptions, fit
from lnp.engine.selection import select_last
from lnp.methods.batch import Batch
from lnp.methods.channel.config import ChannelConfig
from lnp.methods.channel.halves import Halves
from lnp.methods.channel.model import Channel
from lnp.nn.softmax import softmax
from lnp.seeds import Seeds


def build(batch: Batch, seed: int = 0, **options: object) -> Halves:
    config = ChannelConfig(**{"hidden": 8, **options})  # type: ignore[arg-type]
    return Halves(config, batch, Seeds(seed).generator("initialisation")).eval()


@pytest.mark.parametrize("left_out", [0, 1])
def test_the_cut_is_a_partition_of_the_noisy_nodes(batch: Batch, left_out: int) -> None:
    batch = replace(batch, noisy=batch.noisy[left_out:])
    halves = build(batch)
    assert (halves.side == -1).all()
    cuts = []
    for seed in range(3):
        halves.draw(batch, Seeds(seed).generator("cut"))
        first, second = halves.learnt(0, batch.noisy).tolist(), halves.learnt(1, batch.noisy).tolist()
        assert sorted(first + second) == sorted(batch.noisy.tolist())
        assert 0 <= len(first) - len(second) <= 1
        assert (halves.side >= 0).sum() == batch.noisy.numel()
        cuts.append(tuple(first))
    assert len(set(cuts)) == 3  # at random


def test_t_c_is_cut_class_by_class_and_joined_again(batch: Batch) -> None:
    """Each network learns half of the trusted nodes of every class, the larger one if they are odd in number."""
    halves = build(batch)
    halves.draw(batch, Seeds(0).generator("cut"))
    before = halves.side.clone()
    assert halves.learnt(0, batch.trusted).equal(batch.trusted)  # nobody is asked about T_C
    halves.cut_trusted(batch)
    learnt = [halves.learnt(index, batch.trusted).tolist() for index in (0, 1)]
    assert sorted(learnt[0] + learnt[1]) == sorted(batch.trusted.tolist())
    for label in range(3):
        trusted = [node for node in batch.trusted.tolist() if batch.given[node] == label]
        counts = [sum(node in half for node in trusted) for half in learnt]
        assert counts == [(len(trusted) + 1) // 2, len(trusted) // 2]
    assert halves.learnt(0, batch.noisy).equal(batch.noisy[before[batch.noisy] == 0])  # T_N stays as it was cut
    halves.join_trusted(batch)
    assert halves.side.equal(before)


def test_every_node_of_the_noisy_set_is_as_likely_in_either_half(batch: Batch) -> None:
    halves, generator = build(batch), Seeds(0).generator("cut")
    times = torch.zeros(batch.node_count)
    for _ in range(400):
        halves.draw(batch, generator)
        times += (halves.side == 0).float()
    share = times[batch.noisy] / 400
    assert (share - 0.5).abs().max() < 5 * 0.5 / 400**0.5  # five standard deviations


def test_predictions_come_from_the_other_network_and_from_both_outside(batch: Batch) -> None:
    halves = build(batch)
    halves.draw(batch, Seeds(0).generator("cut"))
    with torch.no_grad():
        found = halves.predict(batch, "smooth", bound=3.0).numpy()
        first, second = (softmax(n(batch.graph, "smooth", None, bound=3.0)).numpy() for n in halves.networks)
    side = halves.side.numpy()
    np.testing.assert_array_equal(found[side == 0], second[side == 0])
    np.testing.assert_array_equal(found[side == 1], first[side == 1])
    np.testing.assert_allclose(found[side == -1], (first[side == -1] + second[side == -1]) / 2, rtol=1e-6)
    assert not np.allclose(first, second)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)


def test_a_restart_forgets_what_was_learned_and_keeps_the_cut(batch: Batch) -> None:
    halves = build(batch)
    halves.draw(batch, Seeds(0).generator("cut"))
    side = halves.side.clone()
    with torch.no_grad():
        for parameter in halves.parameters():
            parameter.add_(1.0)
    halves.restart(batch, Seeds(5).generator("initialisation"))
    for name, value in build(batch, seed=5).networks.state_dict().items():
        assert torch.equal(halves.networks.state_dict()[name], value), name
    assert torch.equal(halves.side, side)


@pytest.mark.parametrize(("hidden", "half"), [(64, 32), (7, 3), (1, 1)])
def test_each_network_is_half_as_wide(batch: Batch, hidden: int, half: int) -> None:
    widths = [network.backbone.layers[0].weight.shape[1] for network in build(batch, hidden=hidden).networks]
    assert widths == [half, half]


def after_learning_equal_rows(batch: Batch, variant: str) -> tuple[torch.Tensor, torch.Tensor]:
    """What is said of every node after ten epochs of the second stage, in which T stays where it is, and the cut."""
    config = ChannelConfig(hidden=8, variant=variant, estimate_epochs=10, start_epochs=99)
    model = Channel(config, batch, Seeds(0).generator("initialisation"))
    seen: list[torch.Tensor] = []

    def stop(*_: object) -> None:
        model.eval()
        with torch.no_grad():
            seen.append(model.predict(batch))
        if len(seen) == 20:
            raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt):
        fit(model, batch, select_last(), Seeds(0).randomness(), FitOptions(on_epoch=stop))
    return seen[-1], model.halves.side


@pytest.mark.parametrize("variant", ["smooth", "features", "links"])
def test_the_label_of_a_node_never_reaches_what_is_said_of_it(batch: Batch, variant: str) -> None:
    """Another label for one node: every bit of its own prediction stays, while that of others changes."""
    before, side = after_learning_equal_rows(batch, variant)
    for half in (0, 1):
        node = int((side == half).nonzero()[3])
        given = batch.given.clone()
        given[node] = (given[node] + 1) % 3
        after, again = after_learning_equal_rows(replace(batch, given=given), variant)
        assert torch.equal(again, side)
        assert torch.equal(after[node], before[node])
        assert torch.equal(after[side == half], before[side == half])  # the same network says it of its whole half
        assert (after[side == 1 - half] != before[side == 1 - half]).any(dim=1).all()
