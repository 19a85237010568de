r"""The network behind the audit: class probabilities that meet the given labels through a channel.

.. math:: \min_w \; \frac{1}{|T_N|} \sum_{i \in T_N} -\log \big(\pi_w(G_i)^\top T\big)_{\tilde y_i}
          + \frac{s}{|T_C|} \sum_{i \in T_C} -\log \pi_w(y_i \mid G)
          - \frac{a}{c} \sum_k \log \Big( \frac{1}{|T_N|} \sum_{i \in T_N} \pi_w(k \mid G_i) \Big)

The last term is a Dirichlet prior on the shares of the classes: every class exists. Behind a channel that mixes two
classes up, nodes of one fit into the other as well, and without it one class may swallow its partner.

With T the identity and a = 0 it learns the given labels as they are. :math:`\pi_w` is the prior of the channel model in
any of its variants (:mod:`lnp.methods.channel.prior`).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnp.losses.correction import forward_correction
from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.base import Method, Stage, Terms
from lnp.methods.batch import Batch
from lnp.methods.channel.config import ChannelConfig
from lnp.methods.channel.prior import Prior
from lnp.seeds import Generator, Randomness

__all__ = ["ChannelNetwork", "ChannelNetworkConfig"]


@dataclass(frozen=True, kw_only=True)
class ChannelNetworkConfig(ChannelConfig):
    """Options of the audit's networks, beside those that say what the prior looks like.

    Args:
        trusted_share: s, what all trusted nodes weigh together against all noisy ones; a trusted node never weighs
            less than a noisy one.
        class_presence: a, how much speaks against a class without nodes.
    """

    variant: str = "plain"
    trusted_share: float = 1.0
    class_presence: float = 0.3


class ChannelNetwork(Method):
    """One network and a fixed channel."""

    Config = ChannelNetworkConfig
    config: ChannelNetworkConfig
    transition: Tensor

    def __init__(self, config: ChannelNetworkConfig, batch: Batch, generator: Generator, transition: Tensor) -> None:
        super().__init__()
        self.config = config
        self.prior = Prior(config, batch, generator, hidden=config.hidden)
        self.register_buffer("transition", transition)
        self.seen: Tensor | None = None

    def stages(self, batch: Batch) -> list[Stage]:
        """One stage; nothing where there is no label to learn from."""
        learns = batch.noisy.numel() + batch.trusted.numel() > 0
        return [self.main_stage(self.loss)] if learns else []

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """The terms for T_N and T_C, each if it has nodes."""
        logits = self.prior(batch.graph, self.config.variant, randomness.dropout)
        self.seen = logits.detach()
        terms, noisy, trusted = {}, batch.noisy.numel(), batch.trusted.numel()
        if noisy:
            own = logits[batch.noisy]
            terms["noisy_ce"] = forward_correction(own, batch.noisy_labels, self.transition).mean()
            if self.config.class_presence > 0:
                shares = own.softmax(dim=1).mean(dim=0)
                terms["class_presence"] = -self.config.class_presence * shares.clamp(min=1e-12).log().mean()
        if trusted:
            share = max(self.config.trusted_share, trusted / noisy) if noisy else 1.0
            terms["trusted_ce"] = share * cross_entropy(logits[batch.trusted], batch.trusted_labels).mean()
        return terms

    def predict(self, batch: Batch) -> Tensor:
        """Probabilities of the true label, without the channel, as they were in the last step of training.

        The engine asks after every epoch, but under the rule ``last`` no answer matters, and a pass of its own would
        take a third of the time. :meth:`log_probabilities` are those to use.
        """
        logits: Tensor = self.prior(batch.graph, self.config.variant, None) if self.seen is None else self.seen
        return logits.softmax(dim=1)

    @torch.no_grad()
    def log_probabilities(self, batch: Batch) -> Tensor:
        """Logarithms of the probabilities of the true label, in evaluation mode."""
        self.eval()
        logs: Tensor = self.prior(batch.graph, self.config.variant, None).log_softmax(dim=1)
        return logs
