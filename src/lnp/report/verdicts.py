"""What the comparisons say.

Which cells of LNP reach the paper's figure, where baselines are better than printed, where they beat LNP, and what the
stricter protocols cost.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lnp.report.comparison import LNP_METHODS, Cell, CellPlace, Comparison
from lnp.report.measured import ROUNDING, Difference, difference

__all__ = [
    "MAIN_TABLES",
    "PLAIN",
    "Agreement",
    "Beaten",
    "Loss",
    "Reach",
    "TableCell",
    "agreement",
    "beaten",
    "best_or_runner_up",
    "losses",
    "reach",
    "undersold",
]

MAIN_TABLES = ("table-1", "table-2")

PLAIN = "gcn"
"""The network that Tables 1 and 2 begin with, with nothing against wrong labels."""


@dataclass(frozen=True)
class TableCell:
    """A cell, the table it is in, and the gap of the plain network in the same row, where both figures are there."""

    table: str
    cell: Cell
    plain_gap: Difference | None = None


@dataclass(frozen=True)
class Reach:
    """The cells of LNP in Tables 1 and 2 that reach the paper's figure minus one standard deviation of the paper.

    Args:
        protocol: Under which.
        reached: Those that do.
        missed: Those that do not.
        not_run: Those of which there is no run.
    """

    protocol: str
    reached: tuple[TableCell, ...]
    missed: tuple[TableCell, ...]
    not_run: tuple[TableCell, ...]

    @property
    def total(self) -> int:
        """All of them: 96 in the paper."""
        return len(self.reached) + len(self.missed) + len(self.not_run)


@dataclass(frozen=True)
class Agreement:
    """How a method's figures lie beside the paper's.

    Args:
        method: The method.
        within: Cells within two standard errors.
        above: Cells where ours is better by more.
        below: Cells where ours is worse by more.
        unknown: Cells with a single run, of which that cannot be said.
        mean_gap: Over all of them, in points.
    """

    method: str
    within: int
    above: int
    below: int
    unknown: int
    mean_gap: float

    @property
    def cells(self) -> int:
        """How many cells were compared."""
        return self.judged + self.unknown

    @property
    def judged(self) -> int:
        """Of how many the side is known."""
        return self.within + self.above + self.below


@dataclass(frozen=True)
class Beaten:
    """A dataset and rate at which the best other method is above the better of LNP-v1 and LNP-v2."""

    place: CellPlace
    lnp: Cell
    other: Cell
    lead: Difference
    in_paper: bool
    """Whether that method is one of the paper's."""


@dataclass(frozen=True)
class Loss:
    """What a method loses from protocol ``paper`` to another, over the cells that were run under both."""

    table: str
    method: str
    other: str
    paper_mean: float
    other_mean: float
    sd: float | None
    """Of the loss over the cells."""
    cells: int

    @property
    def value(self) -> float:
        """In points; negative where the other protocol is better."""
        return self.paper_mean - self.other_mean


def reach(comparisons: Iterable[Comparison], protocol: str) -> Reach:
    """Which cells of LNP in Tables 1 and 2 reach the paper's figure minus one standard deviation."""
    reached: list[TableCell] = []
    missed: list[TableCell] = []
    not_run: list[TableCell] = []
    for comparison in comparisons:
        if comparison.table.name not in MAIN_TABLES or comparison.protocol != protocol:
            continue
        for cell in comparison.all_cells():
            published = cell.published
            if cell.method in LNP_METHODS and published is not None and published.value is not None:
                least = published.value - (published.deviation or 0.0)
                plain = comparison.cells.get((cell.dataset, cell.rate, PLAIN))
                placed = TableCell(comparison.table.name, cell, plain.gap if plain else None)
                if cell.reproduced is None:
                    not_run.append(placed)
                else:
                    (reached if cell.reproduced.mean >= least - ROUNDING else missed).append(placed)
    return Reach(protocol, tuple(reached), tuple(missed), tuple(not_run))


def agreement(comparison: Comparison) -> list[Agreement]:
    """For every method of which there is something to compare, in the table's order."""
    found = []
    for method in comparison.columns:
        gaps = [gap for place in comparison.places if (gap := comparison.cell(place, method).gap) is not None]
        if gaps:
            sides = [gap.side for gap in gaps]
            within, above, below, unknown = (sides.count(side) for side in ("within", "above", "below", "unknown"))
            mean = statistics.fmean(gap.value for gap in gaps)
            found.append(Agreement(method, within, above, below, unknown, mean))
    return found


def undersold(comparison: Comparison) -> list[Cell]:
    """Cells of baselines in which ours is better than printed by more than two standard errors, largest gap first."""
    gaps = [(cell, gap) for cell in comparison.all_cells() if (gap := cell.gap) is not None]
    found = [(cell, gap) for cell, gap in gaps if cell.method not in LNP_METHODS and gap.side == "above"]
    return [cell for cell, _ in sorted(found, key=lambda pair: -pair[1].value)]


def beaten(comparison: Comparison) -> list[Beaten]:
    """Rows in which the best other method is above both versions of LNP, largest lead first."""
    found = []
    for place in comparison.places:
        lnp, other = _best(comparison, place, lnp=True), _best(comparison, place, lnp=False)
        if lnp is None or other is None or lnp.reproduced is None or other.reproduced is None:
            continue
        lead = difference(other.reproduced, lnp.reproduced)
        if lead.value > ROUNDING:
            found.append(Beaten(place, lnp, other, lead, other.method in comparison.methods))
    return sorted(found, key=lambda one: -one.lead.value)


def best_or_runner_up(comparison: Comparison, methods: Sequence[str]) -> tuple[int, int, int]:
    """In how many rows LNP is best, best or second, and how many rows there are; only ``methods`` count."""
    best = second = rows = 0
    for place in comparison.places:
        means = {
            cell.method: cell.reproduced.mean
            for cell in comparison.row(place)
            if cell.method in methods and cell.reproduced is not None
        }
        ours = [mean for method, mean in means.items() if method in LNP_METHODS]
        theirs = sorted((mean for method, mean in means.items() if method not in LNP_METHODS), reverse=True)
        if ours and theirs:
            rows += 1
            best += max(ours) >= theirs[0] - ROUNDING
            second += len(theirs) < 2 or max(ours) >= theirs[1] - ROUNDING
    return best, second, rows


def losses(comparisons: Sequence[Comparison], other: str) -> list[Loss]:
    """What each method loses from ``paper`` to ``other``, table by table."""
    found = []
    by_name = {(comparison.table.name, comparison.protocol): comparison for comparison in comparisons}
    for comparison in comparisons:
        second = by_name.get((comparison.table.name, other))
        if comparison.protocol != "paper" or second is None:
            continue
        for method in comparison.columns:
            pairs = [
                (first.mean, ours.mean)
                for place in comparison.places
                if (first := comparison.cell(place, method).reproduced) is not None
                and (cell := second.cells.get((*place, method))) is not None
                and (ours := cell.reproduced) is not None
            ]
            if pairs:
                paper_mean, other_mean = (statistics.fmean(column) for column in zip(*pairs, strict=True))
                drops = [before - after for before, after in pairs]
                sd = statistics.stdev(drops) if len(drops) > 1 else None
                found.append(Loss(comparison.table.name, method, other, paper_mean, other_mean, sd, len(pairs)))
    return found


def _best(comparison: Comparison, place: CellPlace, *, lnp: bool) -> Cell | None:
    cells = [
        cell for cell in comparison.row(place) if cell.reproduced is not None and (cell.method in LNP_METHODS) == lnp
    ]
    return max(cells, key=lambda cell: cell.reproduced.mean if cell.reproduced else 0.0, default=None)
