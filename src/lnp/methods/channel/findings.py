r"""What was found out about T with each variant of the prior, and what follows from it.

The evidence for a T is how likely given labels are, in nats a label, to networks that have not learnt them. Three
questions are settled by it: which variant of the prior suits the graph, whether T has a row of its own for each class,
and whether T_C counts lightly (:func:`~lnp.methods.channel.objective.light`). In the last one T_C has a veto: networks
that hardly look at it may explain given labels best by taking the commonest label of a class for its name, although it
is another one's. Nothing but T_C can tell.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["Findings", "are_worse"]

SURE = 2.0
"""Standard errors from which on a difference is more than chance."""


def are_worse(right: Tensor, others_right: Tensor) -> bool:
    """Whether fewer questions were answered rightly than by others who were asked the same, and not by chance.

    What both or neither know says nothing. Of the rest each is as likely to be known by either if they are equally
    good, so that the difference has as its variance their number (McNemar's test).

    >>> known = torch.tensor([True] * 18 + [False] * 141)
    >>> are_worse(known, known.roll(10)), are_worse(known, torch.arange(159) < 31)
    (False, True)
    """
    only, only_others = int((right & ~others_right).sum()), int((others_right & ~right).sum())
    return only_others - only > SURE * math.sqrt(only + only_others)


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
        unseen_right: Which nodes of T_C networks name rightly that have learnt the other half of T_C, which counts
            fully.
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
    unseen_right: Tensor
    counts_lightly: Tensor
    own_rows: Tensor

    def __init__(self, variants: int, classes: int, trusted: int = 0) -> None:
        super().__init__()
        for name in ("first", "equal"):
            self.register_buffer(f"{name}_rows", torch.eye(classes).repeat(variants, 1, 1))
            self.register_buffer(f"{name}_judging", torch.eye(classes).repeat(variants, 1, 1))
            self.register_buffer(f"{name}_evidence", torch.full((variants,), -torch.inf))
        self.register_buffer("own_evidence", torch.tensor(-torch.inf))
        self.register_buffer("own_judging", torch.eye(classes))
        self.register_buffer("unseen_right", torch.zeros(trusted, dtype=torch.bool))
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

    def note_light(
        self, variant: int, transition: Tensor, evidence: Tensor, judging: Tensor, unseen_right: Tensor
    ) -> None:
        """After T was learned with equal rows and a light T_C, which stays light if nothing before was better.

        Args:
            variant: Its number.
            transition: T.
            evidence: For it.
            judging: T by which labels would be judged.
            unseen_right: As the attribute, with a T_C that counts lightly: if it is clearly worse, T_C stays as it is.
        """
        better = bool(evidence > torch.maximum(self.first_evidence, self.equal_evidence).max())
        self.counts_lightly.fill_(better and not are_worse(unseen_right, self.unseen_right))
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

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *others: Any) -> None:
        state_dict.setdefault(f"{prefix}unseen_right", self.unseen_right)  # models of before T_C had a veto
        super()._load_from_state_dict(state_dict, prefix, *others)
