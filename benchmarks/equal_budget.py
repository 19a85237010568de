r"""Tables 1 and 2 where every method was searched with the same ten trials, beside the configurations that ship.

What ships was found by searches of unequal length (docs/searches.md). Here each method has ten trials by one seed in
each cell, from its default on, in the space of ``lnp tune``; the winner runs with five seeds. For table-1 and table-2::

    lnp tune table-1 --methods … --datasets cora,citeseer,chameleon --rates 0.4,0.8 --trials 10 \
        --study equal.sqlite --out results/equal-budget/tuned.json
    lnp reproduce table-1 --methods … --datasets cora,citeseer,chameleon --rates 0.4,0.8 \
        --config results/equal-budget/tuned.json --results results/equal-budget
    python benchmarks/equal_budget.py
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lnp.experiments.tables import load_table
from lnp.report.comparison import LNP_METHODS, Comparison, compare, place_text
from lnp.report.ranks import RankSummary, rank_methods
from lnp.report.records import read_results
from lnp.report.verdicts import MAIN_TABLES, reach

ROOT = Path(__file__).parents[1]
SHIPPED = ROOT / "results"
EQUAL = SHIPPED / "equal-budget"
PROTOCOL = "paper"


class Place(NamedTuple):
    """A row of a table."""

    table: str
    dataset: str
    rate: float


def comparisons(folder: Path) -> list[Comparison]:
    """Both tables beside the paper's figures."""
    rows = read_results(folder).rows
    return [compare(load_table(name), PROTOCOL, rows) for name in MAIN_TABLES]


def means_of(found: list[Comparison]) -> dict[Place, dict[str, float]]:
    """Row → method → mean test accuracy in per cent."""
    means = {}
    for one in found:
        for place in one.places:
            here = {cell.method: cell.reproduced.mean for cell in one.row(place) if cell.reproduced is not None}
            if here:
                means[Place(one.table.name, *place)] = here
    return means


def ranked(rows: list[dict[str, float]], methods: list[str]) -> RankSummary:
    """The methods over all rows."""
    summary = rank_methods(dict(enumerate(rows)), methods)
    assert summary is not None, "three methods and two rows are needed"
    return summary


def lines() -> Iterator[str]:
    """The page."""
    equal, shipped = comparisons(EQUAL), comparisons(SHIPPED)
    means, shipped_means = means_of(equal), means_of(shipped)
    methods = [method for method in equal[0].columns if all(method in row for row in means.values())]
    now, before = list(means.values()), [{m: shipped_means[place][m] for m in methods} for place in means]
    ranks, ranks_before = ranked(now, methods), ranked(before, methods)
    order = list(ranks.methods)
    yield _line("", [f"`{method}`" for method in order])
    yield f"|---|{'---:|' * len(order)}"
    for place, row in means.items():
        best = max(round(row[m], 1) for m in order)
        cells = [f"{row[m]:.1f}" for m in order]
        name = f"{place.table[-1]}: {place_text((place.dataset, place.rate))}"
        yield _line(name, [f"**{cell}**" if float(cell) == best else cell for cell in cells])
    for name, rows in (("mean", now), ("mean, as shipped", before)):
        yield _line(name, [f"{statistics.mean(row[m] for row in rows):.1f}" for m in order])
    for name, summary in (("mean rank", ranks), ("mean rank, as shipped", ranks_before)):
        yield _line(name, [f"{summary.mean_rank(m):.1f}" for m in order])
    yield ""
    yield f"Two mean ranks differ where they are {ranks.critical_difference:.1f} apart (Nemenyi, {ranks.cells} cells)."
    yield ""
    yield f"Cells of {' and '.join(LNP_METHODS)} that reach the paper's figure minus one standard deviation:"
    for name, found in (("equal budget", equal), ("as shipped", shipped)):
        verdict = reach(found, PROTOCOL)
        reached, missed = (
            sum(Place(one.table, one.cell.dataset, one.cell.rate) in means for one in part)
            for part in (verdict.reached, verdict.missed)
        )
        yield f"{name} {reached} of {reached + missed};" if name == "equal budget" else f"{name} {reached}."


def _line(name: str, cells: list[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    print("\n".join(lines()))
