r"""What was found out about T with each variant of the prior, and what follows from it.

The evidence for a T is how likely given labels are, in nats a label, to networks that have not learnt them. Three
questions are settled by it: which variant of the prior suits the graph, whether T has a row of its own for each class,
and whether T_C counts lightly (:func:`~lnp.methods.channel.objective.light`).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

__all__ = ["Findings"]


class Findings(nn.Module):
    """The T of each start with its evidence; evidence is minus infinity for what was not tried.

    Args:
        variants: How many variants there are.
        classes: How many classes.

    Attributes:
        first_rows: T with a row for each class, learned from nothing but T_C, with each variant.
        first_evidence: For it.
        equal_rows: T with equal rows, with each variant.
        equal_evidence: For it.
        own_evidence: For rows that start from what is said of T_C.
        first_judging: As ``first_rows``, but with networks as sure as they may be (:mod:`lnp.methods.channel.judging`).
        equal_judging: The same for ``equal_rows``.
        own_judging: The same for rows that start from what is said of T_C.
        counts_lightly: Whether T_C counts lightly because unseen labels are more likely so.
        own_rows: Whether T has rows of its own, once it is decided.
    """

    first_rows: Tensor
    first_evidence: Tensor
    equal_rows: Tensor
    equal_evidence: Tensor
    own_evidence: Tensor
    first_judging: Tensor
    equal_judging: Tensor
    own_judging: Tensor
    counts_lightly: Tensor
    own_rows: Tensor

    def __init__(self, variants: int, classes: int) -> None:
        super().__init__()
        for name in ("first", "equal"):
            self.register_buffer(f"{name}_rows", torch.eye(classes).repeat(variants, 1, 1))
            self.register_buffer(f"{name}_judging", torch.eye(classes).repeat(variants, 1, 1))
            self.register_buffer(f"{name}_evidence", torch.full((variants,), -torch.inf))
        self.register_buffer("own_evidence", torch.tensor(-torch.inf))
        self.register_buffer("own_judging", torch.eye(classes))
        self.register_buffer("counts_lightly", torch.tensor(False))
        self.register_buffer("own_rows", torch.tensor(False))

    @property
    def anything(self) -> bool:
        """Whether any T was learned."""
        return bool(self.first_evidence.isfinite().any())

    @property
    def variant_of_own_rows(self) -> int:
        """Which variant suits rows of their own; where T_C counts lightly the first rows are no guide."""
        return int((self.equal_evidence if self.counts_lightly else self.first_evidence).argmax())

    @property
    def variant_of_equal_rows(self) -> int:
        """Which variant suits equal rows."""
        return int(self.equal_evidence.argmax())

    @property
    def variant(self) -> int:
        """Which variant suits the rows that T has."""
        return self.variant_of_own_rows if self.own_rows else self.variant_of_equal_rows

    @property
    def gain(self) -> Tensor:
        """By how many nats a label the best rows of their own beat the best equal ones."""
        return torch.maximum(self.first_evidence.max(), self.own_evidence) - self.equal_evidence.max()

    @property
    def judging(self) -> Tensor:
        """T by which labels are judged, once it is decided which rows T has."""
        if not self.own_rows:
            return self.equal_judging[self.variant_of_equal_rows]
        return self.own_judging if self._own_is_better else self.first_judging[self.variant_of_own_rows]

    @property
    def _own_is_better(self) -> bool:
        return bool(self.counts_lightly or self.first_evidence[self.variant_of_own_rows] < self.own_evidence)

    def note_first(self, variant: int, transition: Tensor, evidence: Tensor, judging: Tensor) -> None:
        """After T was learned with first rows."""
        self.first_evidence[variant] = evidence
        self.first_rows[variant] = transition
        self.first_judging[variant] = judging

    def note_equal(self, variant: int, transition: Tensor, evidence: Tensor, judging: Tensor) -> None:
        """After T was learned with equal rows."""
        self.equal_evidence[variant] = evidence
        self.equal_rows[variant] = transition
        self.equal_judging[variant] = judging

    def note_light(self, variant: int, transition: Tensor, evidence: Tensor, judging: Tensor) -> None:
        """After T was learned with equal rows and a light T_C, which stays light if nothing before was better."""
        self.counts_lightly.fill_(bool(evidence > torch.maximum(self.first_evidence, self.equal_evidence).max()))
        if self.counts_lightly:
            self.note_equal(variant, transition, evidence, judging)

    def note_own(self, evidence: Tensor, judging: Tensor) -> None:
        """After T was learned from what is said of T_C."""
        self.own_evidence.copy_(evidence)
        self.own_judging.copy_(judging)

    def decide(self, own: Tensor, gain: float) -> Tensor:
        """The T that stays.

        Args:
            own: T with own rows, for which there is :attr:`own_evidence`.
            gain: By how many nats a label rows of their own must beat equal ones.
        """
        first = self.first_evidence[self.variant_of_own_rows]
        self.own_rows.fill_(bool(torch.maximum(first, self.own_evidence) - self.equal_evidence.max() >= gain))
        if not self.own_rows:
            return self.equal_rows[self.variant_of_equal_rows]
        return own if self._own_is_better else self.first_rows[self.variant_of_own_rows]
