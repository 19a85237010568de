r"""How the channel T is learned, before anything is learned through it.

Every question on the way is settled by how likely given labels are to networks that have not learnt them
(:mod:`lnp.methods.channel.halves`), and where they are few, under a T that was not counted from them
(:mod:`lnp.methods.channel.crossed`):

1. *First rows*, for each variant of the prior. T by expectation maximisation with a row for each class. Up to the first
   M-step the rows are equal, which says nothing, so that T_C alone teaches. The variant under which the labels are most
   likely goes on to 4 and 5.
2. *Equal rows*, for each variant. The same with one probability of keeping a label for all classes.
3. *Equal rows, lightly*, where T_C is less than a two-hundredth of T_N. The same with the best variant, and λ says what
   one trusted label weighs, not T_C as a whole (:func:`~lnp.methods.channel.objective.light`). If that explains the
   labels better than all before, it is so from there on, unless T_C itself speaks against it: here, and in a stage
   before it in which T_C counts fully, each network learns one half of T_C and is asked about the other.
4. *Labels*. Networks learn the given labels as they are. What they say of T_C, whose true labels are known, is another
   place for T to start from: on average a row of T is what is said of that class.
5. *Own rows*. T by expectation maximisation from there. The better of both T stays, if it explains the labels better
   than the best of equal rows by ``gain``: rows of their own can also describe a network's confusions.
6. *Opinions*, if ``targets`` asks for them. Networks learn once more through the T that won, and their posterior of the
   labels that they have not learnt is what the last network learns: the M-step of expectation maximisation.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from lnp.losses.marginal_likelihood import calibrated_evidence, label_posterior
from lnp.methods.base import Epoch, Method, Optimiser, Stage, Terms, Update
from lnp.methods.batch import Batch
from lnp.methods.channel.config import VARIANTS, ChannelConfig
from lnp.methods.channel.crossed import are_few, crossed_evidence
from lnp.methods.channel.findings import Findings
from lnp.methods.channel.halves import Halves
from lnp.methods.channel.judging import judging_rows
from lnp.methods.channel.objective import light, negative_log_likelihood
from lnp.methods.channel.prior import logit_bound
from lnp.methods.channel.transition import (
    LEAST,
    expected_counts,
    learn_transition,
    shared_rows,
    strength_limit,
    uninformed_rows,
)
from lnp.seeds import Generator, Randomness

__all__ = ["SMALLEST", "WEIGHING_STAGES", "LearnsTransition"]

FIRST_ROWS, EQUAL_ROWS, LIGHT_ROWS, LABELS, OWN_ROWS, OPINIONS, DONE, FULL_ROWS = range(8)
"""The values of ``phase``; saved models have them, so a new one comes last."""

WEIGHING = (FULL_ROWS, LIGHT_ROWS)
"""The phases in which each network learns one half of T_C and is asked about the other."""

WEIGHING_STAGES = ("equal rows, half of T_C", "equal rows, lightly")
"""Their stages, which settle what T_C weighs and which not every graph has."""

LIGHTEST = 0.25
"""Where :func:`~lnp.methods.channel.objective.light` is less, T_C is weighed in both ways and the better one stays."""

SMALLEST = 1e-12
"""Lower bound of a probability under the logarithm."""


class LearnsTransition(Method):
    """The stages in which T is learned.

    Attributes:
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
    halves: Halves
    findings: Findings
    transition: Tensor
    beliefs: Tensor
    confusion: Tensor
    phase: Tensor
    learning: Tensor

    def prepare_learning(self, batch: Batch, generator: Generator) -> None:
        """Makes the networks and what is noted; a step of construction."""
        config, identity = self.config, torch.eye(batch.class_count)
        self.halves = Halves(config, batch, generator)
        self.register_buffer("transition", identity)
        self.findings = Findings(len(VARIANTS), batch.class_count, batch.trusted.numel())
        asked = batch.noisy.numel() if self._has_opinions(batch) else 0
        self.register_buffer("beliefs", torch.zeros(asked, batch.class_count))
        self.register_buffer("confusion", torch.zeros_like(identity))
        self.register_buffer("phase", torch.tensor(DONE))
        self.register_buffer("learning", torch.tensor(0))
        self._strength = strength_limit(config.largest_strength, batch.noisy.numel(), batch.class_count)

    @property
    def variant(self) -> str:
        """The variant of the prior: the one asked for, or the one with the most evidence for the rows that T has."""
        return VARIANTS[self.findings.variant] if self.config.variant == "auto" else self.config.variant

    @property
    def is_learning(self) -> bool:
        """Whether T is still being learned."""
        return int(self.phase) != DONE

    def learning_stages(self, batch: Batch) -> list[Stage]:
        """T with every candidate, with rows of their own and equal ones, and from another start."""
        config, stages = self.config, list[Stage]()
        if not self._learns(batch):
            return stages
        for name, phase in (("first rows", FIRST_ROWS), ("equal rows", EQUAL_ROWS)):
            for variant in config.candidates(batch.node_count):
                stages.append(self._estimate(f"{name}, {variant}", config.estimate_epochs, phase, variant))
        if 0 < light(batch) < LIGHTEST:
            for name, phase in zip(WEIGHING_STAGES, WEIGHING, strict=True):
                stages.append(self._estimate(name, config.estimate_epochs, phase))
        stages.append(self._estimate("labels", config.label_epochs, LABELS))
        stages.append(self._estimate("own rows", config.estimate_epochs, OWN_ROWS))
        if self._has_opinions(batch):
            stages.append(self._estimate("opinions", config.estimate_epochs, OPINIONS))
        return stages

    def end_learning(self, batch: Batch) -> None:
        """Decides on T; the opinions that were asked for are those of the networks now."""
        if int(self.phase) == OWN_ROWS:
            self.transition.copy_(self.findings.decide(self.transition, self.config.gain))
        elif int(self.phase) == OPINIONS:
            with torch.no_grad():
                opinions = self.halves_say(batch)[batch.noisy]
            logs = opinions.clamp(min=SMALLEST).log()
            self.beliefs.copy_(label_posterior(logs, batch.noisy_labels, self.transition))
        self.phase.fill_(DONE)

    def halves_say(self, batch: Batch) -> Tensor:
        """What the halves say of every node, each of those that it has not learnt."""
        return self.halves.predict(batch, VARIANTS[int(self.learning)], bound=self._bound)

    def end_epoch(self, batch: Batch, epoch: Epoch) -> None:
        """While T is learned: E-step and M-step; at the end of a stage, how likely unseen labels have become."""
        phase = int(self.phase)
        if phase in (OPINIONS, DONE):
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
        self._note(batch, logs, epoch.probabilities)

    def _note(self, batch: Batch, logs: Tensor, probabilities: Tensor) -> None:
        """At the end of a stage."""
        phase, findings, variant = int(self.phase), self.findings, int(self.learning)
        right = probabilities[batch.trusted].argmax(dim=1) == batch.trusted_labels
        if phase == FULL_ROWS:
            findings.unseen_right.copy_(right)
            return
        evidence = self._evidence(batch, logs)
        judging = judging_rows(logs, batch.noisy_labels, self.transition, partial(self._learned, batch))
        if phase == OWN_ROWS:
            findings.note_own(evidence, judging)
        elif phase == LIGHT_ROWS:
            findings.note_light(variant, self.transition, evidence, judging, right)
        else:
            note = findings.note_first if phase == FIRST_ROWS else findings.note_equal
            note(variant, self.transition, evidence, judging)

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
        if int(self.phase) == DONE:  # one cut for everything that is compared
            self.halves.draw(batch, randomness.sampling)
        self.halves.restart(batch, randomness.sampling)
        if phase in WEIGHING:
            self.halves.cut_trusted(batch)
        else:
            self.halves.join_trusted(batch)
        if phase == OPINIONS:
            self.transition.copy_(self.findings.decide(self.transition, self.config.gain))
            self.phase.fill_(phase)
            self.learning.fill_(VARIANTS.index(self.variant))
            return
        self.phase.fill_(phase)
        best = self.findings.variant_of_equal_rows if phase in WEIGHING else self.findings.variant_of_own_rows
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
        if int(self.phase) in (EQUAL_ROWS, *WEIGHING):
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
            seen = batch
            if int(self.phase) in WEIGHING:
                seen = replace(batch, trusted=self.halves.learnt(index, batch.trusted))
            noisy = self.halves.learnt(index, batch.noisy)
            parts = negative_log_likelihood(logits, seen, noisy, self.transition, trusted_weight=weight)
            terms |= {f"{name}_{index}": value for name, value in parts.items()}
        return terms

    def _learns(self, batch: Batch) -> bool:
        return batch.noisy.numel() > 1 and self.config.estimate_epochs > 0

    def _has_opinions(self, batch: Batch) -> bool:
        return self.config.targets == "posterior" and self._learns(batch)
