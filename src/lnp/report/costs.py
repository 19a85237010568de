"""Time and memory of a run, and Table 8."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lnp.experiments.tables import Published, load_table
from lnp.report.comparison import LNP_METHODS
from lnp.report.measured import Difference
from lnp.report.observations import Case, Observation, judge
from lnp.report.records import ResultRow

__all__ = ["REFERENCE", "Cost", "Timing", "costs", "timing_observations", "timings"]

REFERENCE = "gcn"
"""Times are compared with this method's."""


@dataclass(frozen=True)
class Cost:
    """Medians over all runs of a method on a dataset.

    Args:
        seconds: Of a run.
        epoch: Seconds of an epoch; ``None`` for a method without epochs.
        ratio: ``seconds`` over those of the reference on the same dataset; ``None`` without one.
        mib: Peak memory; ``None`` where the records have none.
        runs: How many runs there are.
    """

    seconds: float
    epoch: float | None
    ratio: float | None
    mib: float | None
    runs: int


@dataclass(frozen=True)
class Timing:
    """A method of Table 8 on a dataset: seconds and their ratio to the reference, the paper's and ours.

    Args:
        dataset: Ours.
        stands_for: The paper's.
        method: The method.
        published: What the paper prints.
        published_ratio: To its time of the reference.
        seconds: Ours, the mean over seeds.
        ratio: To ours of the reference.
    """

    dataset: str
    stands_for: str
    method: str
    published: Published | None
    published_ratio: float | None
    seconds: float | None
    ratio: float | None


def costs(rows: Iterable[ResultRow]) -> dict[str, dict[str, Cost]]:
    """Label → dataset → cost. A label is a method, with its backbone where that is not the usual one.

    A run that several tables share counts once.
    """
    runs: dict[tuple[str, str], dict[tuple[object, ...], ResultRow]] = {}
    for row in rows:
        same = (row.protocol, row.noise, row.rate, row.seed, row.config_hash, row.seconds, row.test_accuracy)
        runs.setdefault((_label(row), row.dataset), {})[same] = row
    medians = {place: statistics.median(row.seconds for row in found.values()) for place, found in runs.items()}
    table: dict[str, dict[str, Cost]] = {}
    for (label, dataset), found in sorted(runs.items()):
        reference = medians.get((REFERENCE, dataset))
        epochs = [row.seconds / row.epochs for row in found.values() if row.epochs]
        memory = [row.peak_mib for row in found.values() if row.peak_mib is not None]
        table.setdefault(label, {})[dataset] = Cost(
            seconds=medians[label, dataset],
            epoch=statistics.median(epochs) if epochs else None,
            ratio=medians[label, dataset] / reference if reference else None,
            mib=statistics.median(memory) if memory else None,
            runs=len(found),
        )
    return table


def timings(rows: Iterable[ResultRow], protocol: str) -> list[Timing]:
    """Table 8 under a protocol; empty where it was not run."""
    table = load_table("table-8")
    runs: dict[tuple[str, float], dict[str, list[float]]] = {}
    for row in rows:
        if (row.table, row.protocol) == (table.name, protocol):
            runs.setdefault((row.dataset, row.rate), {}).setdefault(row.method, []).append(row.seconds)
    found = []
    for (dataset, rate), methods in runs.items():
        stands_for = table.stand_ins.get(dataset, dataset)
        ours = {method: statistics.fmean(seconds) for method, seconds in methods.items()}
        printed = {method: table.published.get((stands_for, rate, method)) for method in table.panels[0].methods}
        theirs = {method: one.value for method, one in printed.items() if one is not None and one.value is not None}
        for method in dict.fromkeys((*printed, *ours)):
            found.append(
                Timing(
                    dataset,
                    stands_for,
                    method,
                    printed.get(method),
                    _ratio(theirs, method),
                    ours.get(method),
                    _ratio(ours, method),
                )
            )
    return found


def timing_observations(found: Iterable[Timing], protocol: str) -> list[Observation]:
    """LNP needs less time than NRGNN and LPM."""
    seconds = {(one.dataset, one.method): one.seconds for one in found if one.seconds is not None}
    cases = [
        Case(f"{dataset}, {method} against {rival}", Difference(seconds[dataset, rival] / own - 1, None))
        for (dataset, method), own in seconds.items()
        if method in LNP_METHODS and own
        for rival in ("nrgnn", "lpm")
        if (dataset, rival) in seconds
    ]
    ratios = [1 + case.difference.value for case in cases]
    told = f"{min(ratios):.1f} to {max(ratios):.1f}" if ratios else ""
    return [
        judge(
            "table-8",
            protocol,
            "LNP needs less time than NRGNN and LPM.",
            cases,
            what="the other needs longer",
            expected=8,
            detail=f"The other's time over LNP's is {told}.",
        )
    ]


def _ratio(seconds: Mapping[str, float], method: str) -> float | None:
    reference = seconds.get(REFERENCE)
    return seconds[method] / reference if reference and method in seconds else None


def _label(row: ResultRow) -> str:
    return row.method if row.backbone in ("gcn", row.method) else f"{row.method} ({row.backbone})"
