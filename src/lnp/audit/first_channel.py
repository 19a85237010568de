"""What the channel model finds out before it trains: a first T, the network that goes with it, and what it explains.

The channel model compares noise that treats all classes alike with a T that has a row of its own for each class, both
with every variant of the network, by how likely unseen labels are (:mod:`lnp.methods.channel.learning`). The audit goes
on from its T with networks of its own, which learn from more of the labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lnp.audit.folds import OnNetwork
from lnp.audit.network import ChannelNetworkConfig
from lnp.audit.posterior import Floats
from lnp.engine.fit import FitOptions, fit
from lnp.engine.history import EpochRecord
from lnp.engine.selection import select_last
from lnp.methods.batch import Batch
from lnp.methods.channel.config import CANDIDATES, VARIANTS, ChannelConfig, affordable
from lnp.methods.channel.learning import WEIGHING_STAGES
from lnp.methods.channel.model import Channel
from lnp.seeds import Seeds

__all__ = ["FirstChannel", "learn_first_channel", "steps"]


def steps(node_count: int) -> int:
    """First rows and equal rows with every variant, the labels as they are, own rows; a light T_C is not counted."""
    return 2 * len(affordable(CANDIDATES, node_count)) + 2


@dataclass(frozen=True, eq=False)
class FirstChannel:
    """The answer.

    Args:
        variant: What stands beside the backbone.
        transition: ``(c, c)`` T with a row of its own for each class.
        gain: By how many nats it makes an unseen label more likely than equal rows do.
    """

    variant: str
    transition: Floats
    gain: float


def learn_first_channel(
    batch: Batch, config: ChannelNetworkConfig, seeds: Seeds, on_step: OnNetwork | None = None
) -> FirstChannel:
    """Asks the channel model.

    Args:
        batch: Graph, noisy and trusted labels; at least two noisy ones.
        config: Backbone and size.
        seeds: Where all draws come from.
        on_step: Called after each of the :func:`steps`.
    """
    options = ChannelConfig(
        backbone=config.backbone,
        hidden=config.hidden,
        layers=config.layers,
        self_in_two_hop=config.self_in_two_hop,
        epochs=0,
        gain=0.0,
    )

    def on_epoch(record: EpochRecord, epochs: int) -> None:
        if on_step is not None and record.epoch + 1 == epochs and record.stage not in WEIGHING_STAGES:
            on_step()

    method = Channel(options, batch, seeds.generator("audit channel")).to(batch.given.device)
    fit(method, batch, select_last(), seeds.randomness(), FitOptions(on_epoch=on_epoch))
    findings = method.findings
    best = findings.variant_of_own_rows
    transition = method.transition if findings.own_rows else findings.first_rows[best]
    return FirstChannel(VARIANTS[best], transition.double().cpu().numpy(), findings.gain.nan_to_num(-torch.inf).item())
