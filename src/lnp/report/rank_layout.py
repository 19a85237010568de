"""Where everything of a critical-difference diagram lies, in units that a drawer may scale.

The axis runs from rank 1 on the left to rank k on the right. The better half of the methods is named on the left, the
others on the right; a line leads from each name to its mean rank. Bars join methods that the test does not tell apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from lnp.report.ranks import RankSummary

__all__ = ["Label", "RankLayout", "rank_layout"]

WIDTH, LEFT, RIGHT = 700.0, 185.0, 185.0
AXIS, BAR, LINE, END = 58.0, 11.0, 21.0, 12.0


@dataclass(frozen=True)
class Label:
    """A method: its name at a height, the side it is on, and where its mean rank lies on the axis."""

    method: str
    mean_rank: float
    x: float
    y: float
    left: bool


@dataclass(frozen=True)
class RankLayout:
    """Places; y grows downwards.

    Args:
        width: Of the drawing.
        height: Of the drawing.
        axis: The height of the axis.
        ends: Where the axis begins and ends, and so where names begin.
        ticks: (x, rank).
        labels: The methods.
        bars: (from, to, height) of methods that the test does not tell apart.
        ruler: From and to of the critical difference, drawn above the axis.
    """

    width: float
    height: float
    axis: float
    ends: tuple[float, float]
    ticks: tuple[tuple[float, int], ...]
    labels: tuple[Label, ...]
    bars: tuple[tuple[float, float, float], ...]
    ruler: tuple[float, float]


def rank_layout(summary: RankSummary) -> RankLayout:
    """Lays a diagram out."""
    count = len(summary.methods)
    scale = (WIDTH - LEFT - RIGHT) / (count - 1)

    def x(rank: float) -> float:
        return LEFT + scale * (rank - 1)

    under = AXIS + BAR * (len(summary.groups) + 1)
    left = (count + 1) // 2
    labels = []
    for position, (method, rank) in enumerate(zip(summary.methods, summary.mean_ranks, strict=True)):
        line = position if position < left else count - 1 - position
        labels.append(Label(method, rank, x(rank), under + LINE * (line + 0.6), position < left))
    bars = tuple(
        (x(summary.mean_ranks[first]) - 4, x(summary.mean_ranks[last]) + 4, AXIS + BAR * (number + 1))
        for number, (first, last) in enumerate(summary.groups)
    )
    return RankLayout(
        width=WIDTH,
        height=under + LINE * left + END,
        axis=AXIS,
        ends=(LEFT, WIDTH - RIGHT),
        ticks=tuple((x(rank), rank) for rank in range(1, count + 1)),
        labels=tuple(labels),
        bars=bars,
        ruler=(LEFT, LEFT + scale * summary.critical_difference),
    )
