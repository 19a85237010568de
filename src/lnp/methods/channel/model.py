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

Every question on the way is settled by how likely given labels are to networks that have not learnt them
(:mod:`lnp.methods.channel.halves`), and where they are few, under a T that was not counted from them
(:mod:`lnp.methods.channel.crossed`):

1. *First rows*, for each variant of the prior. T by expectation maximisation with a row for each class. Up to the first
   M-step the rows are equal, which says nothing, so that T_C alone teaches. The variant under which the labels are most
   likely goes on to 4 and 5.
2. *Equal rows*, for each variant. The same with one probability of keeping a label for all classes.
3. *Equal rows, lightly*, where T_C is less than a two-hundredth of T_N. The same with the best variant, and λ says what
   one trusted label weighs, not T_C as a whole (:func:`~lnp.methods.channel.objective.light`). If that explains the
   labels better than all before, it is so from there on.
4. *Labels*. Networks learn the given labels as they are. What they say of T_C, whose true labels are known, is another
   place for T to start from: on average a row of T is what is said of that class.
5. *Own rows*. T by expectation maximisation from there. The better of both T stays, if it explains the labels better
   than the best of equal rows by ``gain``: rows of their own can also describe a network's confusions.
6. *Opinions*, if ``targets`` asks for them. Networks learn once more through the T that won, and their posterior of the
   labels that they have not learnt is what the last network learns: the M-step of expectation maximisation.
7. *Train.* A fresh network maximises the likelihood, through T. Equal rows that keep as few labels as they may are not
   believed: the network then learns the labels as they are, which with equal rows leaves the order of the classes as it
   is. With equal rows labels tell it all there is to know, and T_C counts lightly.

``docs/channel.md`` has the derivation and what each part is worth.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor
from torch.nn import Parameter

from lnp.losses.marginal_likelihood import calibrated_evidence, label_posterior
from lnp.methods.base import Epoch, Method, Optimiser, Stage, Terms, Update
from lnp.methods.batch import Batch
from lnp.methods.channel.config import VARIANTS, ChannelConfig
from lnp.methods.channel.crossed import are_few, crossed_evidence
from lnp.methods.channel.findings import Findings
from lnp.methods.channel.halves import Halves
from lnp.methods.channel.objective import expected_cross_entropy, light, negative_log_likelihood, trusted_weight
from lnp.methods.channel.prior import Prior, logit_bound
from lnp.methods.channel.transition import (
    expected_counts,
    is_least,
    learn_transition,
    shared_rows,
    strength_limit,
    uninformed_rows,
)
from lnp.nn.softmax import softmax
from lnp.seeds import Generator, Randomness

__all__ = ["Channel"]

FIRST_ROWS, EQUAL_ROWS, LIGHT_ROWS, LABELS, OWN_ROWS, OPINIONS, TRAINING = range(7)
"""The values of ``phase``."""

LIGHT_STAGE = "equal rows, lightly"
"""The one stage that not every graph has."""

LIGHTEST = 0.25
"""Where :func:`~lnp.methods.channel.objective.light` is less, T_C is weighed in both ways and the better one stays."""

LEAST = 0.2
"""Equal rows keep at least this share of the labels for sure: where networks know little, pure noise explains labels as
well as anything, and nothing is learned from it. Those that would keep less are not believed."""

SMALLEST = 1e-12
"""Lower bound of a probability under the logarithm."""


class Channel(Method):
    r"""One network behind a channel that is learned first.

    Attributes:
        prior: :math:`P_\theta(y \mid G)`.
        halves: The two networks that T is learned with.
        transition: T, the identity before it is learned.
        findings: What each T that was tried explains, and what was decided by it.
        beliefs: The posterior of the labels of T_N by networks that have not learnt them, if ``targets`` asks for it.
        confusion: What networks that learned the labels say of T_C, summed by true class.
        phase: What is being learned.
        learning: The number of the variant that is learning.
    """

    Config = ChannelConfig
    config: ChannelConfig
    transition: Tensor
    beliefs: Tensor
    confusion: Tensor
    phase: Tensor
    learning: Tensor

    def __init__(self, config: ChannelConfig, batch: Batch, generator: Generator) -> None:
        super().__init__()
        self.config = config
        self.prior = Prior(config, batch, generator, hidden=config.hidden)
        self.halves = Halves(config, batch, generator)
        identity = torch.eye(batch.class_count)
        self.register_buffer("transition", identity)
        self.findings = Findings(len(VARIANTS), batch.class_count)
        asked = batch.noisy.numel() if self._has_opinions(batch) else 0
        self.register_buffer("beliefs", torch.zeros(asked, batch.class_count))
        self.register_buffer("confusion", torch.zeros_like(identity))
        self.register_buffer("phase", torch.tensor(TRAINING))
        self.register_buffer("learning", torch.tensor(0))
        self._strength = strength_limit(config.largest_strength, batch.noisy.numel(), batch.class_count)

    @property
    def variant(self) -> str:
        """The variant of the prior: the one asked for, or the one with the most evidence for the rows that T has."""
        return VARIANTS[self.findings.variant] if self.config.variant == "auto" else self.config.variant

    def stages(self, batch: Batch) -> list[Stage]:
        """Learn T with every candidate, with rows of their own and equal ones, and from another start, then train."""
        config, stages = self.config, []
        if self._learns_transition(batch):
            for name, phase in (("first rows", FIRST_ROWS), ("equal rows", EQUAL_ROWS)):
                for variant in config.candidates:
                    stages.append(self._estimate(f"{name}, {variant}", config.estimate_epochs, phase, variant))
            if 0 < light(batch) < LIGHTEST:
                stages.append(self._estimate(LIGHT_STAGE, config.estimate_epochs, LIGHT_ROWS))
            stages.append(self._estimate("labels", config.label_epochs, LABELS))
            stages.append(self._estimate("own rows", config.estimate_epochs, OWN_ROWS))
            if self._has_opinions(batch):
                stages.append(self._estimate("opinions", config.estimate_epochs, OPINIONS))
        train = Stage(
            name="train",
            epochs=config.epochs,
            optimisers={"main": Optimiser(self._weights(), config.learning_rate, config.weight_decay)},
            updates=(Update(self.loss),),
            begin=self._begin_training,
        )
        return [*stages, train]

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
        if not self.findings.anything or is_least(self.transition, LEAST):
            return None
        return self.transition

    def predict(self, batch: Batch) -> Tensor:
        """The prior: what the graph says about every node's true label, whatever label it was given."""
        if int(self.phase) != TRAINING:
            return self.halves.predict(batch, VARIANTS[int(self.learning)], bound=self._bound)
        return softmax(self.prior(batch.graph, self.variant, None))

    def given_distribution(self, probabilities: Tensor) -> Tensor:
        r""":math:`\pi T` with the T of the loss at hand: as far as it is learned, and in training :attr:`channel`."""
        transition = self.channel if int(self.phase) == TRAINING else self.transition
        return probabilities if transition is None else probabilities @ transition

    def label_quality(self, batch: Batch, probabilities: Tensor) -> Tensor:
        r""":math:`q_i(\tilde y_i)`: the posterior probability that the given label is the true one; 1 on T_C."""
        if not self.findings.anything:
            return super().label_quality(batch, probabilities)
        quality = torch.full((batch.node_count,), float("nan"), device=probabilities.device)
        known = (batch.given >= 0).nonzero().squeeze(1)
        labels = batch.given[known]
        posterior = label_posterior(probabilities[known].clamp(min=SMALLEST).log(), labels, self.transition)
        quality[known] = posterior.gather(1, labels.unsqueeze(1)).squeeze(1)
        quality[batch.trusted] = 1.0
        return quality

    def end_epoch(self, batch: Batch, epoch: Epoch) -> None:
        """While T is learned: E-step and M-step; at the end of a stage, how likely unseen labels have become."""
        phase = int(self.phase)
        if phase in (OPINIONS, TRAINING):
            return
        labels = batch.noisy_labels
        logs = epoch.probabilities[batch.noisy].clamp(min=SMALLEST).log()
        if phase != LABELS and epoch.index + 1 >= self.config.start_epochs:
            counts = expected_counts(label_posterior(logs, labels, self.transition), labels)
            self.transition.copy_(self._learned(batch, counts))
        if phase == LABELS:
            self.confusion.copy_(expected_counts(epoch.probabilities[batch.trusted], batch.trusted_labels).T)
            return
        if epoch.index + 1 < epoch.count:
            return
        evidence = self._evidence(batch, logs)
        if phase == OWN_ROWS:
            self.findings.own_evidence.copy_(evidence)
            return
        notes = {FIRST_ROWS: self.findings.note_first, EQUAL_ROWS: self.findings.note_equal}
        notes.get(phase, self.findings.note_light)(int(self.learning), self.transition, evidence)

    def _estimate(self, name: str, epochs: int, phase: int, variant: str | None = None) -> Stage:
        adam = Optimiser(self.halves.parameters(), self.config.learning_rate, self.config.weight_decay)
        return Stage(
            name=name,
            epochs=epochs,
            optimisers={"main": adam},
            updates=(Update(self._estimate_loss),),
            selects=False,
            begin=partial(self._begin, phase, variant),
        )

    def _begin(self, phase: int, variant: str | None, batch: Batch, randomness: Randomness) -> None:
        if int(self.phase) == TRAINING:  # one cut for everything that is compared
            self.halves.draw(batch, randomness.sampling)
        self.halves.restart(batch, randomness.sampling)
        if phase == OPINIONS:
            self.transition.copy_(self.findings.decide(self.transition, self.config.gain))
            self.phase.fill_(phase)
            self.learning.fill_(VARIANTS.index(self.variant))
            return
        self.phase.fill_(phase)
        best = self.findings.variant_of_equal_rows if phase == LIGHT_ROWS else self.findings.variant_of_own_rows
        self.learning.fill_(VARIANTS.index(variant) if variant else best)
        if phase == LABELS:
            self.transition.copy_(torch.eye(batch.class_count))
        elif phase == FIRST_ROWS:
            self.transition.copy_(uninformed_rows(batch.trusted_labels, batch.class_count))
        else:
            self.transition.copy_(self._rows(self._start_counts()))

    @property
    def _bound(self) -> float:
        bound = 0.0 if int(self.phase) == LABELS else self.config.logit_bound
        return logit_bound(bound, len(self.transition))

    def _start_counts(self) -> Tensor:
        """What was said of T_C, and for every class one label more that is half right: all there is without T_C."""
        classes = len(self.confusion)
        return self.confusion + (torch.eye(classes, device=self.confusion.device) + 1 / classes) / 2

    def _rows(self, counts: Tensor) -> Tensor:
        if int(self.phase) in (EQUAL_ROWS, LIGHT_ROWS):
            return shared_rows(counts, least=LEAST)
        return learn_transition(counts, largest_strength=self._strength)

    def _learned(self, batch: Batch, counts: Tensor) -> Tensor:
        return self._rows(counts if batch.checks is None else counts + batch.checks)

    def _evidence(self, batch: Batch, logs: Tensor) -> Tensor:
        """How likely the labels of T_N are to networks that have not learnt them, in nats a label."""
        labels = batch.noisy_labels
        if not are_few(labels.numel(), batch.class_count):
            return calibrated_evidence(logs, labels, self.transition)
        side = self.halves.side[batch.noisy]
        return crossed_evidence(logs, labels, side, self.transition, partial(self._learned, batch))

    def _estimate_loss(self, batch: Batch, randomness: Randomness) -> Terms:
        config = self.config
        weight = 0.0 if int(self.phase) == LABELS else config.estimate_trusted_weight
        if int(self.phase) == LIGHT_ROWS or self.findings.counts_lightly:
            weight *= light(batch)
        terms: Terms = {}
        variant = VARIANTS[int(self.learning)]
        for index, logits in enumerate(self.halves.logits(batch, variant, randomness.dropout, bound=self._bound)):
            parts = negative_log_likelihood(
                logits, batch, self.halves.nodes(index), self.transition, trusted_weight=weight
            )
            terms |= {f"{name}_{index}": value for name, value in parts.items()}
        return terms

    def _weights(self) -> Iterator[Parameter]:
        """What the last stage moves, asked for when it begins: the variant is known then."""
        yield from self.prior.weights_of(self.variant)

    def _learns_transition(self, batch: Batch) -> bool:
        return batch.noisy.numel() > 1 and self.config.estimate_epochs > 0

    def _has_opinions(self, batch: Batch) -> bool:
        return self.config.targets == "posterior" and self._learns_transition(batch)

    def _begin_training(self, batch: Batch, randomness: Randomness) -> None:
        if int(self.phase) == OWN_ROWS:
            self.transition.copy_(self.findings.decide(self.transition, self.config.gain))
        elif int(self.phase) == OPINIONS:
            with torch.no_grad():
                opinions = self.halves.predict(batch, self.variant, bound=self._bound)[batch.noisy]
            logs = opinions.clamp(min=SMALLEST).log()
            self.beliefs.copy_(label_posterior(logs, batch.noisy_labels, self.transition))
        self.phase.fill_(TRAINING)
