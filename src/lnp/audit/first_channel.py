"""The channel to begin with: what the channel model finds out before it trains.

With ``gain`` 0 its channel with rows of its own stays wherever it explains unseen labels at least as well as the one
with equal rows. The audit has its own networks and asks again (:mod:`lnp.audit.cross_fit`).
"""

from __future__ import annotations

from lnp.audit.folds import OnNetwork
from lnp.audit.network import ChannelNetworkConfig
from lnp.audit.posterior import Floats
from lnp.engine.fit import FitOptions, fit
from lnp.engine.history import EpochRecord
from lnp.engine.selection import select_last
from lnp.methods.batch import Batch
from lnp.methods.channel.config import ChannelConfig
from lnp.methods.channel.model import Channel
from lnp.seeds import Seeds

__all__ = ["STEPS", "learn_first_channel"]

STEPS = 4
"""First rows, equal rows, the labels as they are, own rows."""


def learn_first_channel(
    batch: Batch, config: ChannelNetworkConfig, seeds: Seeds, on_step: OnNetwork | None = None
) -> Floats:
    """``(c, c)`` the channel with a row of its own for each class, or uniform noise where that explains more.

    Args:
        batch: Graph, noisy and trusted labels.
        config: Backbone, size and variant.
        seeds: Where all draws come from.
        on_step: Called after each of the :data:`STEPS`.
    """
    options = ChannelConfig(
        backbone=config.backbone,
        hidden=config.hidden,
        layers=config.layers,
        self_in_two_hop=config.self_in_two_hop,
        variant=config.variant,
        epochs=0,
        gain=0.0,
    )

    def on_epoch(record: EpochRecord, epochs: int) -> None:
        if on_step is not None and record.epoch + 1 == epochs:
            on_step()

    method = Channel(options, batch, seeds.generator("audit channel")).to(batch.given.device)
    fit(method, batch, select_last(), seeds.randomness(), FitOptions(on_epoch=on_epoch))
    transition: Floats = method.transition.double().cpu().numpy()
    return transition
