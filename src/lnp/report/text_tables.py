"""Tables of what the comparisons say, as ready strings, the same for page and Markdown."""

from __future__ import annotations

from dataclasses import dataclass

from lnp.report.comparison import Cell, place_text
from lnp.report.measured import Measured
from lnp.report.observations import signed
from lnp.report.results import TableSection
from lnp.report.results_summary import listed
from lnp.report.verdicts import PLAIN, Reach

__all__ = [
    "NOTHING",
    "TextTable",
    "agreement_table",
    "beaten_table",
    "missed_table",
    "plus_minus",
    "rank_table",
    "undersold_table",
]

NOTHING = "–"


@dataclass(frozen=True)
class TextTable:
    """Strings.

    Args:
        title: What it shows.
        head: Names of the columns.
        rows: Each as long as the head; its first string names it.
        note: How to read it.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def missed_table(found: Reach) -> TextTable:
    """The cells of LNP that do not reach the paper's figure minus one standard deviation, the furthest first."""
    rows = []
    for one in found.missed:
        published, reproduced = one.cell.published, one.cell.reproduced
        if published is not None and published.value is not None and reproduced is not None:
            least = published.value - (published.deviation or 0.0)
            rows.append(
                (
                    least - reproduced.mean,
                    f"{one.table}, {place_text((one.cell.dataset, one.cell.rate))}",
                    one.cell.method,
                    plus_minus(published.value, published.deviation, 2),
                    f"{least:.2f}",
                    plus_minus(reproduced.mean, reproduced.sd, 2),
                    f"{least - reproduced.mean:.2f}",
                    str(reproduced.runs),
                    NOTHING if one.plain_gap is None else signed(one.plain_gap.value),
                )
            )
    rows.sort(key=lambda row: -row[0])
    head = ("cell", "method", "reported", "needed", "reproduced", "short by", "seeds", f"{PLAIN}, ours − the paper's")
    note = (
        f"The last column is the gap of {PLAIN} in the same row. Where a plain network falls short of its published "
        "figure as well, the task may differ from the paper's (which labels were flipped, which nodes are trusted), "
        "and not LNP alone."
    )
    return TextTable(f"Cells that miss, protocol {found.protocol}", head, tuple(row[1:] for row in rows), note)


def agreement_table(section: TableSection) -> TextTable:
    """How each method's figures lie beside the paper's."""
    rows = tuple(
        (
            row.method,
            *(str(number) for number in (row.cells, row.within, row.above, row.below, row.unknown)),
            signed(row.mean_gap),
        )
        for row in section.agreement
    )
    head = ("method", "cells", "within two standard errors", "ours better", "ours worse", "single seed", "mean gap")
    note = "A cell with a single seed has no standard error; it counts as a cell and in the mean gap only."
    return TextTable("Beside the published figures", head, rows, note)


def undersold_table(section: TableSection) -> TextTable:
    """Cells of baselines that are better than published by more than two standard errors."""
    rows = tuple(
        (place_text((cell.dataset, cell.rate)), cell.method, _printed(cell), _ours(cell), signed(cell.gap.value))
        for cell in section.undersold
        if cell.gap is not None
    )
    return TextTable("Baselines that the paper undersold", ("cell", "method", "reported", "reproduced", "gap"), rows)


def beaten_table(section: TableSection) -> TextTable:
    """Rows in which another method, of the paper or not, beats both versions of LNP."""
    clear = {"above": "yes", "unknown": "one seed only"}
    rows = tuple(
        (
            place_text(one.place),
            f"{one.lnp.method} {_ours(one.lnp)}",
            f"{one.other.method} {_ours(one.other)}",
            "yes" if one.in_paper else "no",
            signed(one.lead.value),
            clear.get(one.lead.side, "no"),
        )
        for one in section.beaten
    )
    head = ("cell", "better LNP", "best other method", "in the paper", "lead", "over two standard errors")
    return TextTable("Where another method beats LNP-v1 and v2", head, rows)


def rank_table(section: TableSection) -> TextTable:
    """Mean ranks of all methods, of the paper's methods, and of these by the paper's figures."""
    summaries = (section.ranks, section.own_ranks, section.published_ranks)
    methods = dict.fromkeys(method for summary in summaries if summary is not None for method in summary.methods)
    rows = tuple(
        (method, *(NOTHING if summary is None else _rank(summary.mean_rank(method)) for summary in summaries))
        for method in methods
    )
    head = ("method", "all methods", "the paper's methods", "these, as published")
    return TextTable("Mean ranks", head, rows, _rank_note(section))


def plus_minus(mean: float, sd: float | None, digits: int = 1) -> str:
    """A mean with its standard deviation, where there is one.

    >>> plus_minus(71.25, 1.04), plus_minus(71.25, None, 2)
    ('71.2 ± 1.0', '71.25')
    """
    return f"{mean:.{digits}f}" if sd is None else f"{mean:.{digits}f} ± {sd:.{digits}f}"


def _rank_note(section: TableSection) -> str:
    ranks = section.ranks
    if ranks is None:
        return "Too little has been run for ranks: they need three methods and two rows in which all of them were run."
    chance = "p < 0.001" if ranks.p_value < 0.001 else f"p = {ranks.p_value:.3f}"
    left = f" Left out, since not run in all of these: {listed(ranks.left_out)}." if ranks.left_out else ""
    return (
        f"{len(ranks.methods)} methods over the {ranks.cells} rows in which all of them were run. Friedman's test: "
        f"χ² = {ranks.statistic:.1f}, {chance}. Two methods differ (Nemenyi, 5 %) where their mean ranks are "
        f"{ranks.critical_difference:.2f} apart.{left}"
    )


def _rank(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


def _ours(cell: Cell) -> str:
    value: Measured | None = cell.reproduced
    return NOTHING if value is None else plus_minus(value.mean, value.sd)


def _printed(cell: Cell) -> str:
    published = cell.published
    if published is None or published.value is None:
        return NOTHING
    return plus_minus(published.value, published.deviation)
