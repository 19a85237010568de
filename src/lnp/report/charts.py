"""What the figures of the results show, as plain data. Two drawers read it: one for the page, one for files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lnp.report.comparison import LNP_METHODS
from lnp.report.measured import Measured
from lnp.report.ranks import RankSummary

__all__ = [
    "COLOURS",
    "DASHES",
    "Curves",
    "DotRow",
    "Dots",
    "Mark",
    "Panel",
    "RankPanel",
    "ResultFigure",
    "Scatter",
    "Series",
    "limits",
]

COLOURS = 9
"""How many colours there are, from 1 on."""
DASHES = (1, 0, 0, 1, 2, 2, 1, 2, 1)
"""The kind of line of each colour: 0 whole, 1 dashed, 2 dotted."""


@dataclass(frozen=True)
class Mark:
    """A mean at a place on the axis, with its standard deviation where there is one."""

    x: float
    mean: float
    sd: float | None = None


@dataclass(frozen=True)
class Series:
    """A curve of ours, or single marks of the paper.

    Args:
        label: What it is.
        colour: From 1 on.
        marks: In the order of the axis.
        paper: Published figures: marks without a line.
    """

    label: str
    colour: int
    marks: tuple[Mark, ...]
    paper: bool = False


@dataclass(frozen=True)
class Curves:
    """Accuracy over something that varies; ``ticks`` are places on the axis with what is written there."""

    title: str
    x_label: str
    ticks: tuple[tuple[float, str], ...]
    series: tuple[Series, ...]

    def lines(self) -> list[tuple[Series, int]]:
        """The curves of ours, each with its kind of line, so that colour is not all that tells them apart."""
        return [(one, DASHES[(one.colour - 1) % COLOURS]) for one in self.series if not one.paper]


@dataclass(frozen=True)
class DotRow:
    """A line of a dot chart: ours with its spread, and the paper's figure where there is one."""

    label: str
    value: Measured
    published: float | None = None
    strong: bool = False


@dataclass(frozen=True)
class Dots:
    """Accuracies side by side, one line each."""

    title: str
    rows: tuple[DotRow, ...]


@dataclass(frozen=True)
class Scatter:
    """Reported against reproduced; points of LNP and of the others, each with what it is."""

    title: str
    ours: tuple[tuple[float, float, str], ...]
    others: tuple[tuple[float, float, str], ...]


@dataclass(frozen=True)
class RankPanel:
    """A critical-difference diagram."""

    title: str
    summary: RankSummary
    strong: tuple[str, ...] = LNP_METHODS


Panel = Curves | Dots | Scatter | RankPanel


@dataclass(frozen=True)
class ResultFigure:
    """A figure of one or more panels.

    Args:
        name: The name of its files.
        title: What it shows.
        panels: In order.
    """

    name: str
    title: str
    panels: tuple[Panel, ...]


def limits(values: Sequence[float], margin: float = 0.06) -> tuple[float, float]:
    """The ends of an axis for these values, with some room.

    >>> limits([10.0, 20.0], 0.1)
    (9.0, 21.0)
    """
    low, high = min(values), max(values)
    room = margin * (high - low) or 1.0
    return low - room, high + room
