"""Everything that the report says, computed from records: tables, ranks, verdicts, observations, costs, figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from lnp.errors import DataError
from lnp.experiments.grid import PROTOCOL_NAMES
from lnp.experiments.tables import Table, load_table, table_names
from lnp.report.charts import ResultFigure
from lnp.report.comparison import Cell, Comparison, compare
from lnp.report.costs import Cost, Timing, costs, timing_observations, timings
from lnp.report.detection import DetectionRow, detection_rows
from lnp.report.figure_observations import figure_observations
from lnp.report.observations import Observation
from lnp.report.older_records import older_records
from lnp.report.ranks import RankSummary, rank_methods
from lnp.report.records import ResultRow, Results, mixed_cells
from lnp.report.result_figures import (
    ablation,
    clean_size,
    rank_diagram,
    real_noise,
    reported_against_reproduced,
    sensitivity,
)
from lnp.report.table_observations import table_observations
from lnp.report.verdicts import MAIN_TABLES, Agreement, Beaten, Loss, Reach, agreement, beaten, losses, reach, undersold

__all__ = ["Analysis", "FigureSection", "TableSection", "analyse"]

COMPARED = ("table-1", "table-2", "table-5", "table-6", "table-7", "real-noise")
"""Tables of accuracies by dataset, rate and method."""
FIGURES: dict[str, tuple[Callable[[Sequence[ResultRow], str], ResultFigure | None], ...]] = {
    "figure-sensitivity": (sensitivity,),
    "figure-ablation": (ablation,),
    "figure-clean-size": (partial(clean_size, part="a"), partial(clean_size, part="b")),
}
NAMED = 3
"""How many of many things a note names."""


@dataclass(frozen=True, kw_only=True)
class TableSection:
    """A table under a protocol, with all that is said of it.

    Args:
        comparison: Reported and reproduced.
        ranks: Of all methods by our figures; ``None`` where too little was run.
        own_ranks: Of the paper's methods alone by our figures.
        published_ranks: Of the paper's methods by the paper's figures.
        agreement: By method.
        undersold: Cells of baselines that the paper undersold.
        beaten: Rows in which another method beats LNP.
        detection: By method.
        figures: Scatter and ranks.
    """

    comparison: Comparison
    ranks: RankSummary | None
    own_ranks: RankSummary | None
    published_ranks: RankSummary | None
    agreement: list[Agreement]
    undersold: list[Cell]
    beaten: list[Beaten]
    detection: list[DetectionRow]
    figures: list[ResultFigure]


@dataclass(frozen=True)
class FigureSection:
    """A figure of the paper under a protocol, with what is observed."""

    table: Table
    protocol: str
    figures: list[ResultFigure]
    observations: list[Observation]


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """The whole report as plain data.

    Args:
        runs: How many records there are.
        protocols: Under which.
        notes: What a reader should know about the records.
        tables: Tables with runs.
        figures: Figures with runs.
        reaches: Which cells of LNP reach the paper's figure, by protocol.
        losses: What the stricter protocols cost.
        observations: On the tables; those on figures are with the figures.
        costs: Method → dataset → time and memory.
        timings: Table 8, by protocol.
        not_run: Tables and figures without a record.
    """

    runs: int
    protocols: tuple[str, ...]
    notes: list[str]
    tables: list[TableSection]
    figures: list[FigureSection]
    reaches: list[Reach]
    losses: list[Loss]
    observations: list[Observation]
    costs: dict[str, dict[str, Cost]]
    timings: dict[str, list[Timing]]
    not_run: list[str]

    @property
    def all_figures(self) -> list[ResultFigure]:
        """Every figure, in the order of the report."""
        return [
            *(figure for section in self.tables for figure in section.figures),
            *(figure for section in self.figures for figure in section.figures),
        ]

    @property
    def all_observations(self) -> list[Observation]:
        """On tables and figures."""
        return [*self.observations, *(one for section in self.figures for one in section.observations)]

    @property
    def has_memory(self) -> bool:
        """Whether the records say how much memory was used."""
        return any(cost.mib is not None for datasets in self.costs.values() for cost in datasets.values())

    def section(self, table: str, protocol: str) -> TableSection | None:
        """A table under a protocol, where there are runs."""
        wanted = [s for s in self.tables if (s.comparison.table.name, s.comparison.protocol) == (table, protocol)]
        return wanted[0] if wanted else None


def analyse(results: Results) -> Analysis:
    """Computes everything; the same records give the same values."""
    rows = results.rows
    if not rows:
        raise DataError(
            "Expected records of at least one table or figure, TABLE.PROTOCOL.csv, but there are none. Make some with "
            "`lnp reproduce table-2 --results results`."
        )
    found = {(row.table, row.protocol) for row in rows}
    protocols = tuple(name for name in PROTOCOL_NAMES if any(protocol == name for _, protocol in found))
    comparisons = {
        (name, protocol): compare(load_table(name), protocol, rows) for name in COMPARED for protocol in PROTOCOL_NAMES
    }
    shown = [comparison for place, comparison in comparisons.items() if place in found]
    times = {protocol: timings(rows, protocol) for protocol in protocols if ("table-8", protocol) in found}
    observations = [one for protocol in protocols for one in table_observations(shown, protocol)]
    observations += [one for protocol, times_ in times.items() for one in timing_observations(times_, protocol)]
    main = [place for place in comparisons if place[0] in MAIN_TABLES]
    return Analysis(
        runs=len(rows),
        protocols=protocols,
        notes=[*results.notes, *_mixed(rows), *older_records(rows)],
        tables=[_section(comparison, rows) for comparison in shown],
        figures=[
            FigureSection(
                load_table(name),
                protocol,
                figures,
                [one for one in figure_observations(rows, protocol) if one.group == name],
            )
            for name, drawers in FIGURES.items()
            for protocol in protocols
            if (figures := [figure for draw in drawers if (figure := draw(rows, protocol)) is not None])
        ],
        reaches=[
            reach((comparisons[place] for place in main), protocol)
            for protocol in PROTOCOL_NAMES
            if protocol == "paper" or any(place in found and place[1] == protocol for place in main)
        ],
        losses=[loss for other in ("random", "strict") for loss in losses(shown, other)],
        observations=observations,
        costs=costs(rows),
        timings=times,
        not_run=[name for name in table_names() if not any(table == name for table, _ in found)],
    )


def _section(comparison: Comparison, rows: Sequence[ResultRow]) -> TableSection:
    ours: dict[object, dict[str, float]] = {}
    printed: dict[object, dict[str, float]] = {}
    for cell in comparison.all_cells():
        place = (cell.dataset, cell.rate)
        if cell.reproduced is not None:
            ours.setdefault(place, {})[cell.method] = cell.reproduced.mean
        if cell.published is not None and cell.published.value is not None:
            printed.setdefault(place, {})[cell.method] = cell.published.value
    ranks = rank_methods(ours, comparison.methods, comparison.extra)
    is_real = comparison.table.name == "real-noise"
    figures = (
        real_noise(comparison) if is_real else reported_against_reproduced(comparison),
        rank_diagram(comparison, ranks),
    )
    return TableSection(
        comparison=comparison,
        ranks=ranks,
        own_ranks=rank_methods(_only(ours, comparison.methods), comparison.methods),
        published_ranks=rank_methods(printed, comparison.methods),
        agreement=agreement(comparison),
        undersold=undersold(comparison),
        beaten=beaten(comparison),
        detection=detection_rows(comparison, rows),
        figures=[figure for figure in figures if figure is not None],
    )


def _only(scores: Mapping[object, Mapping[str, float]], methods: Sequence[str]) -> dict[object, dict[str, float]]:
    return {
        place: {method: score for method, score in row.items() if method in methods} for place, row in scores.items()
    }


def _mixed(rows: Sequence[ResultRow]) -> list[str]:
    cells = mixed_cells(rows)
    if not cells:
        return []
    more = f" and {len(cells) - NAMED} more" if len(cells) > NAMED else ""
    return [
        f"In {len(cells)} cells the seeds were not all run with one configuration and one version of the code: "
        f"{'; '.join(cells[:NAMED])}{more}."
    ]
