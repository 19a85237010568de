"""Tables as reported | reproduced | gap.

A gap is ours − the paper's, in points. It is "within" where it is at most two standard errors, both errors combined:

    |gap| ≤ 2 √(sd_paper² / 5 + sd_ours² / n)

The paper ran everything five times. Where it prints no standard deviation, ours stands in for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from lnp.experiments.tables import Published, Table
from lnp.report.measured import Difference, Measured, difference, measured
from lnp.report.ranks import descending_ranks
from lnp.report.records import ResultRow

__all__ = ["LNP_METHODS", "PAPER_RUNS", "Cell", "CellPlace", "Comparison", "compare", "gap"]

T = TypeVar("T")

PAPER_RUNS = 5
LNP_METHODS = ("lnp-v1", "lnp-v2")

CellPlace = tuple[str, float]
"""A dataset and a noise rate: a row of a table."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A method on a dataset at a rate.

    Args:
        dataset: The graph.
        rate: The noise rate.
        method: The method.
        published: What the paper prints; ``None`` where it has nothing.
        reproduced: Ours; ``None`` where it was not run.
        rank: Ours among all methods that were run here, ties averaged.
        published_rank: The same for the paper's figures.
    """

    dataset: str
    rate: float
    method: str
    published: Published | None
    reproduced: Measured | None
    rank: float | None
    published_rank: float | None

    @property
    def gap(self) -> Difference | None:
        """Ours − the paper's, where both are there."""
        if self.reproduced is None or self.published is None:
            return None
        return gap(self.reproduced, self.published)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A table under a protocol.

    Args:
        table: Its settings and published figures.
        protocol: "paper", "random" or "strict".
        places: Its rows.
        methods: The paper's methods.
        extra: Methods beyond the paper of which there is a run.
        never_run: Methods beyond the paper that belong to the table and of which there is none.
        cells: (dataset, rate, method) → cell; every combination is there.
    """

    table: Table
    protocol: str
    places: tuple[CellPlace, ...]
    methods: tuple[str, ...]
    extra: tuple[str, ...]
    never_run: tuple[str, ...]
    cells: Mapping[tuple[str, float, str], Cell]

    @property
    def name(self) -> str:
        """In words: "table-1, protocol paper"."""
        return f"{self.table.name}, protocol {self.protocol}"

    @property
    def columns(self) -> tuple[str, ...]:
        """Every method shown."""
        return (*self.methods, *self.extra)

    def cell(self, place: CellPlace, method: str) -> Cell:
        """One cell."""
        return self.cells[(*place, method)]

    def row(self, place: CellPlace) -> list[Cell]:
        """The cells of a dataset and rate."""
        return [self.cell(place, method) for method in self.columns]

    def all_cells(self) -> list[Cell]:
        """Every cell, row by row."""
        return [cell for place in self.places for cell in self.row(place)]


def compare(table: Table, protocol: str, rows: Iterable[ResultRow]) -> Comparison:
    """Puts runs beside the published figures; ``rows`` may have runs of other tables and protocols, too."""
    runs: dict[tuple[str, float, str], list[float]] = {}
    for row in rows:
        if (row.table, row.protocol) == (table.name, protocol):
            runs.setdefault((row.dataset, row.rate, row.method), []).append(row.test_accuracy)
    places = _places(table, runs)
    methods = _unique(method for panel in table.panels for method in panel.methods)
    planned = _unique(method for panel in table.panels for method in panel.extra)
    found = {method for _, _, method in runs}
    extra = tuple(method for method in (*planned, *sorted(found - {*planned, *methods})) if method in found)
    cells: dict[tuple[str, float, str], Cell] = {}
    for dataset, rate in places:
        reproduced = {method: measured(runs.get((dataset, rate, method), ())) for method in (*methods, *extra)}
        published = {method: table.published.get((dataset, rate, method)) for method in reproduced}
        ranks = _ranks({method: value.mean for method, value in reproduced.items() if value is not None})
        printed = {m: value.value for m, value in published.items() if value is not None and value.value is not None}
        published_ranks = _ranks(printed)
        for method in reproduced:
            cells[dataset, rate, method] = Cell(
                dataset=dataset,
                rate=rate,
                method=method,
                published=published[method],
                reproduced=reproduced[method],
                rank=ranks.get(method),
                published_rank=published_ranks.get(method),
            )
    return Comparison(
        table=table,
        protocol=protocol,
        places=places,
        methods=methods,
        extra=extra,
        never_run=tuple(method for method in planned if method not in found),
        cells=cells,
    )


def gap(reproduced: Measured, published: Published) -> Difference | None:
    """Ours − the paper's; ``None`` where the paper prints a word."""
    if published.value is None:
        return None
    sd = reproduced.sd if published.deviation is None else published.deviation
    return difference(reproduced, Measured(published.value, sd, PAPER_RUNS))


def place_text(place: CellPlace) -> str:
    """A row in words; a rate of zero is that of labels whose mistakes are what they are.

    >>> place_text(("cora", 0.2)), place_text(("cora", 0.0))
    ('cora 0.2', 'cora')
    """
    dataset, rate = place
    return f"{dataset} {rate:g}" if rate else dataset


def _places(table: Table, runs: Iterable[tuple[str, float, str]]) -> tuple[CellPlace, ...]:
    planned = [(dataset, rate) for panel in table.panels for dataset in panel.datasets for rate in panel.rates]
    printed = [(dataset, rate) for dataset, rate, _ in table.published]
    return _unique([*planned, *printed, *sorted({(dataset, rate) for dataset, rate, _ in runs})])


def _ranks(values: Mapping[str, float]) -> dict[str, float]:
    return dict(zip(values, descending_ranks(list(values.values())), strict=True))


def _unique(values: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(values))
