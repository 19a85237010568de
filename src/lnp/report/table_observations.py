"""The paper's observations on its tables, by our runs and by the paper's own figures."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from lnp.experiments.tables import load_table
from lnp.report.comparison import LNP_METHODS, PAPER_RUNS, Cell, CellPlace, Comparison, place_text
from lnp.report.measured import Difference, Measured, difference
from lnp.report.observations import Case, Observation, judge

__all__ = ["table_observations"]

HETEROPHILOUS = ("chameleon", "actor", "squirrel")
SMOOTH = ("dgnn", "nrgnn", "lpm")
"""Methods that rest on the smoothness of labels."""
HIGH = 0.6
"""Rates from here on are high."""

Source = Callable[[Cell], Measured | None]
Row = Mapping[str, Measured]


def table_observations(comparisons: Sequence[Comparison], protocol: str) -> list[Observation]:
    """Every observation on a table of which there are runs under this protocol."""
    by_name = {c.table.name: c for c in comparisons if c.protocol == protocol}
    found: list[Observation] = []
    both = [by_name[name] for name in ("table-1", "table-2") if name in by_name]
    if both:
        found.extend(_main(both, protocol))
    for name, claim in (
        ("table-5", "On large graphs LNP is better than every other method."),
        ("table-6", "With 20 labels per class LNP is clearly better than every other method in all cases."),
        ("table-7", "With H2GCN inside, LNP still leads."),
        ("real-noise", "Beyond the paper: on labels that a language model gave, LNP leads."),
    ):
        if name in by_name:
            table = by_name[name]
            found.append(
                judge(
                    name,
                    protocol,
                    claim,
                    _cases([table], _ahead_of_all(table)),
                    what="the better of v1 and v2 is ahead of every other method of the paper",
                    expected=sum(len(panel.datasets) * len(panel.rates) for panel in table.table.panels),
                    published=_cases([table], _ahead_of_all(table), _printed),
                )
            )
        if name == "table-5" and name in by_name:
            found.append(_growing_lead(by_name[name], protocol))
    return found


def _main(tables: Sequence[Comparison], protocol: str) -> list[Observation]:
    group, places = "table-1 and table-2", len(tables) * 24

    def say(claim: str, rule: Rule, what: str, expected: int, needs: str = "most") -> Observation:
        cases, printed = _cases(tables, rule), _cases(tables, rule, _printed)
        return judge(group, protocol, claim, cases, needs=needs, what=what, expected=expected, published=printed)

    return [
        *(
            say(
                f"A robust loss helps: {method.upper()} generally performs better than GCN.",
                _one_against(method, "gcn"),
                f"{method} is ahead of gcn",
                places,
            )
            for method in ("gce", "apl")
        ),
        say(
            "LNP is clearly better than D-GNN, NRGNN and LPM on heterophilous graphs.",
            lambda row, dataset, rate: _lead(row, SMOOTH) if dataset in HETEROPHILOUS else None,
            "the better of v1 and v2 is ahead of all three",
            places // 2,
            needs="all",
        ),
        say(
            "LNP-v2 generally performs better than LNP-v1 at high noise rates.",
            lambda row, dataset, rate: _one_against("lnp-v2", "lnp-v1")(row, dataset, rate) if rate >= HIGH else None,
            "lnp-v2 is ahead of lnp-v1",
            places // 2,
        ),
        say(
            "LNP is the best or the runner-up in all 48 cases.",
            lambda row, dataset, rate: _lead(row, _others(tables), place=1),
            "at most one other method of the paper is ahead of the better of v1 and v2",
            places,
            needs="all",
        ),
    ]


Rule = Callable[[Row, str, float], Difference | None]
"""From the measured methods of a row to a difference that is positive where the paper is right."""


def _cases(tables: Sequence[Comparison], rule: Rule, source: Source | None = None) -> list[Case]:
    prefix = len({table.table.name for table in tables}) > 1
    return [
        Case((f"{table.table.name} " if prefix else "") + place_text((dataset, rate)), found)
        for table in tables
        for dataset, rate in table.places
        if (found := rule(_row(table, (dataset, rate), source), dataset, rate)) is not None
    ]


def _row(table: Comparison, place: CellPlace, source: Source | None) -> Row:
    read = source or (lambda cell: cell.reproduced)
    return {cell.method: value for cell in table.row(place) if (value := read(cell)) is not None}


def _printed(cell: Cell) -> Measured | None:
    published = cell.published
    if published is None or published.value is None:
        return None
    return Measured(published.value, published.deviation, PAPER_RUNS)


def _one_against(first: str, second: str) -> Rule:
    def rule(row: Row, dataset: str, rate: float) -> Difference | None:
        return difference(row[first], row[second]) if first in row and second in row else None

    return rule


def _ahead_of_all(table: Comparison) -> Rule:
    others = [method for method in table.methods if method not in LNP_METHODS]
    return lambda row, dataset, rate: _lead(row, others)


def _lead(row: Row, others: Sequence[str], place: int = 0) -> Difference | None:
    """The better LNP − the best of the others (or the second best, …)."""
    ours = [row[method] for method in LNP_METHODS if method in row]
    theirs = sorted((row[method] for method in others if method in row), key=lambda value: -value.mean)
    if not ours or len(theirs) <= place:
        return None
    return difference(max(ours, key=lambda value: value.mean), theirs[place])


def _others(tables: Sequence[Comparison]) -> list[str]:
    return [method for method in tables[0].methods if method not in LNP_METHODS]


def _mean(leads: Sequence[Difference]) -> Measured:
    """The mean of some leads; what it may be off by follows from what each of them may, where that is known."""
    errors = [lead.error for lead in leads if lead.error is not None]
    error = math.hypot(*errors) / len(leads) if len(errors) == len(leads) else None
    return Measured(statistics.fmean(lead.value for lead in leads), error, 1)


def _growing_lead(table: Comparison, protocol: str) -> Observation:
    def cases(source: Source | None) -> list[Case]:
        leads: dict[str, dict[bool, list[Difference]]] = {}
        for dataset, rate in table.places:
            lead = _ahead_of_all(table)(_row(table, (dataset, rate), source), dataset, rate)
            if lead is not None:
                leads.setdefault(dataset, {}).setdefault(rate >= HIGH, []).append(lead)
        return [
            Case(dataset, difference(_mean(lead[True]), _mean(lead[False])))
            for dataset, lead in leads.items()
            if len(lead) == 2
        ]

    return judge(
        "table-5",
        protocol,
        "On large graphs the lead of LNP grows with the noise rate.",
        cases(None),
        what="the mean lead is larger at 0.6 and 0.8 than at 0.2 and 0.4",
        expected=len(load_table("table-5").panels[0].datasets),
        published=cases(_printed),
    )
