r"""LNP with a noise channel: one network, the true labels latent.

.. math::
    P(\tilde Y_N, Y_C \mid G) = \prod_{i \in T_N} \sum_k P_\theta(y_i = k \mid G)\; T_{k \tilde y_i}
    \prod_{i \in T_C} P_\theta(y_i \mid G)

A given label depends on nothing but the true label of its own node, so the posterior is a product of
:math:`q_i(k) \propto \pi_i(k) T_{k \tilde y_i}`, exact at the cost of one column of T. The evidence lower bound is
tight, and training maximises the likelihood itself: nothing is left for the paper's posterior and decoder to do.

What nodes of T_C were given before somebody checked them, where that is known, multiplies the likelihood by
:math:`T_{y_i \tilde y_i}`. Whoever reviews suspects takes wrong labels out of T_N; without this factor the noise would
seem to be less than it is, with it the likelihood does not depend on how nodes were chosen.

First T is learned (:mod:`lnp.methods.channel.learning`). Then a fresh network maximises the likelihood through it.
Equal rows that keep as few labels as they may are not believed: the network then learns the labels as they are, which
with equal rows leaves the order of the classes as it is. With equal rows labels tell it all there is to know, and T_C
counts lightly.

``docs/channel.md`` has the derivation, ``docs/channel_findings.md`` what each part is worth.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import Parameter

from lnp.losses.marginal_likelihood import label_posterior
from lnp.methods.base import Optimiser, Stage, Terms, Update
from lnp.methods.batch import Batch
from lnp.methods.channel.config import ChannelConfig
from lnp.methods.channel.learning import SMALLEST, LearnsTransition
from lnp.methods.channel.objective import expected_cross_entropy, light, negative_log_likelihood, trusted_weight
from lnp.methods.channel.prior import Prior
from lnp.methods.channel.transition import is_least
from lnp.nn.softmax import softmax
from lnp.seeds import Generator, Randomness

__all__ = ["Channel"]


class Channel(LearnsTransition):
    r"""One network behind a channel that is learned first.

    Attributes:
        prior: :math:`P_\theta(y \mid G)`.
    """

    def __init__(self, config: ChannelConfig, batch: Batch, generator: Generator) -> None:
        super().__init__()
        self.config = config
        self.prior = Prior(config, batch, generator, hidden=config.hidden)
        self.prepare_learning(batch, generator)

    def stages(self, batch: Batch) -> list[Stage]:
        """Learn T, then train through it."""
        config = self.config
        train = Stage(
            name="train",
            epochs=config.epochs,
            optimisers={"main": Optimiser(self._weights(), config.learning_rate, config.weight_decay)},
            updates=(Update(self.loss),),
            begin=self._begin_training,
        )
        return [*self.learning_stages(batch), train]

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """Minus the log-likelihood under T as it was learned, or its M-step for the opinions."""
        logits = self.prior(batch.graph, self.variant, randomness.dropout)
        weight = trusted_weight(self.config, batch)
        if self.findings.counts_lightly or not self.findings.own_rows:
            weight *= light(batch)
        if self.beliefs.numel() > 0:
            return expected_cross_entropy(logits, batch, self.beliefs, trusted_weight=weight)
        return negative_log_likelihood(logits, batch, batch.noisy, self.channel, trusted_weight=weight)

    @property
    def channel(self) -> Tensor | None:
        """What stands between the prior and the given labels: T, but nothing where equal rows are not believed."""
        if self.findings.own_rows:
            return self.transition
        if not self.findings.anything or is_least(self.transition):
            return None
        return self.transition

    def predict(self, batch: Batch) -> Tensor:
        """The prior: what the graph says about every node's true label, whatever label it was given."""
        return self.halves_say(batch) if self.is_learning else softmax(self.prior(batch.graph, self.variant, None))

    def given_distribution(self, probabilities: Tensor) -> Tensor:
        r""":math:`\pi T` with the T of the loss at hand: as far as it is learned, and in training :attr:`channel`."""
        transition = self.transition if self.is_learning else self.channel
        return probabilities if transition is None else probabilities @ transition

    def label_quality(self, batch: Batch, probabilities: Tensor) -> Tensor:
        r""":math:`q_i(\tilde y_i)`: the posterior probability that the given label is the true one; 1 on T_C."""
        if not self.findings.anything:
            return super().label_quality(batch, probabilities)
        quality = torch.full((batch.node_count,), float("nan"), device=probabilities.device)
        known = (batch.given >= 0).nonzero().squeeze(1)
        labels = batch.given[known]
        posterior = label_posterior(probabilities[known].clamp(min=SMALLEST).log(), labels, self.findings.judging)
        quality[known] = posterior.gather(1, labels.unsqueeze(1)).squeeze(1)
        quality[batch.trusted] = 1.0
        return quality

    def _weights(self) -> Iterator[Parameter]:
        """What the last stage moves, asked for when it begins: the variant is known then."""
        yield from self.prior.weights_of(self.variant)

    def _begin_training(self, batch: Batch, randomness: Randomness) -> None:
        self.end_learning(batch)
