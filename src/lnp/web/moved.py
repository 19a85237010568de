"""How the scores moved from one model to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lnp.web.suspects import Suspects

__all__ = ["BINS", "MOST", "Move", "Movement", "compare"]

BINS = 20
"""Bars of the histogram of qualities."""

LEAST = 0.005
"""A smaller change of quality is none: the page would show it as 0.00."""

MOST = 20
"""How many of the nodes that moved most are listed, upwards and downwards."""


@dataclass(frozen=True)
class Move:
    """A label whose quality changed: its node and class, quality before and after, proposal before and after."""

    node: int
    given: int
    before: float
    after: float
    proposed_before: int
    proposed_after: int


@dataclass(frozen=True, eq=False)
class Movement:
    """The difference between two models, over the labels that both have and that nobody has checked.

    Args:
        compared: How many labels those are.
        before: Counts of qualities in :data:`BINS` equal steps from 0 to 1, before …
        after: … and after.
        suspect_before: How many labels were below 0.5 …
        suspect_after: … and are now.
        other_proposal: For how many the proposal is another one.
        fallen: Those whose quality fell most.
        risen: Those whose quality rose most.
    """

    compared: int
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    suspect_before: int
    suspect_after: int
    other_proposal: int
    fallen: list[Move]
    risen: list[Move]


def compare(old: Suspects, new: Suspects, checked: NDArray[np.bool_]) -> Movement:
    """Compares two audits of one graph.

    Args:
        old: Before.
        new: After.
        checked: ``(n,)`` nodes to leave out: their label is no longer in question.
    """
    nodes = np.flatnonzero((old.row_of >= 0) & (new.row_of >= 0) & ~checked)
    nodes = nodes[old.table.given[old.row_of[nodes]] == new.table.given[new.row_of[nodes]]]
    first, second = old.row_of[nodes], new.row_of[nodes]
    before, after = old.table.quality[first], new.table.quality[second]
    rise = after - before
    upwards = np.lexsort((nodes, -rise))

    def moves(order: NDArray[np.int64]) -> list[Move]:
        return [
            Move(
                node=int(nodes[i]),
                given=int(new.table.given[second[i]]),
                before=float(before[i]),
                after=float(after[i]),
                proposed_before=int(old.table.proposed[first[i]]),
                proposed_after=int(new.table.proposed[second[i]]),
            )
            for i in order.tolist()
        ]

    return Movement(
        compared=int(nodes.size),
        before=_histogram(before),
        after=_histogram(after),
        suspect_before=int((before < 0.5).sum()),
        suspect_after=int((after < 0.5).sum()),
        other_proposal=int((old.table.proposed[first] != new.table.proposed[second]).sum()),
        fallen=moves(upwards[::-1][rise[upwards[::-1]] < -LEAST][:MOST]),
        risen=moves(upwards[rise[upwards] > LEAST][:MOST]),
    )


def _histogram(quality: NDArray[np.float64]) -> NDArray[np.int64]:
    counts, _ = np.histogram(quality, bins=BINS, range=(0.0, 1.0))
    return counts.astype(np.int64)
