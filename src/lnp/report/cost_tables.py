"""Tables of what protocols cost, of noise detection, of time and memory, as ready strings."""

from __future__ import annotations

from collections.abc import Sequence

from lnp.experiments.tables import load_table
from lnp.report.costs import REFERENCE, Cost, Timing
from lnp.report.observations import signed
from lnp.report.results import Analysis, TableSection
from lnp.report.text_tables import NOTHING, TextTable
from lnp.report.verdicts import Loss

__all__ = ["cost_table", "detection_table", "loss_table", "timing_table"]


def loss_table(losses: Sequence[Loss]) -> TextTable:
    """What each method loses from protocol paper to another, table by table."""
    groups = list(dict.fromkeys((loss.table, loss.other) for loss in losses))
    found = {(loss.table, loss.other, loss.method): loss for loss in losses}
    totals: dict[str, tuple[int, float]] = {}
    for one in losses:
        number, points = totals.get(one.method, (0, 0.0))
        totals[one.method] = (number + one.cells, points + one.cells * one.value)
    rows = []
    for method in sorted(totals, key=lambda name: (-totals[name][0], totals[name][1] / totals[name][0])):
        cells = [method]
        for table, other in groups:
            loss = found.get((table, other, method))
            if loss is None:
                cells.append(NOTHING)
            else:
                spread = "" if loss.sd is None else f" ± {loss.sd:.1f}"
                change = f"{signed(-loss.value)}{spread}"
                cells.append(f"{loss.paper_mean:.1f} → {loss.other_mean:.1f} ({change}; {loss.cells})")
        rows.append(tuple(cells))
    head = ("method", *(f"{table}, paper → {other}" for table, other in groups))
    note = (
        "Mean accuracy over the rows that were run under both protocols, in per cent; in brackets the change in points "
        "with its standard deviation over these rows, and their number. Methods of most rows first, of these the "
        "least loss. The other protocols also draw other splits and noise, so a part of the change is not due to the "
        "choice of the epoch."
    )
    return TextTable("From protocol paper to the others", head, tuple(rows), note)


def detection_table(section: TableSection) -> TextTable:
    """AP / AUROC by rate."""
    rates = sorted({rate for row in section.detection for rate in row.by_rate})
    most = max(score.datasets for row in section.detection for score in row.by_rate.values())
    rows = []
    for row in section.detection:
        cells = [row.method]
        for rate in rates:
            score = row.by_rate.get(rate)
            if score is None:
                cells.append(NOTHING)
            else:
                part = f" ({score.datasets})" if score.datasets < most else ""
                cells.append(f"{score.ap:.1f} / {score.auroc:.1f}{part}")
        rows.append((*cells, f"{row.mean_ap:.1f} / {row.mean_auroc:.1f}"))
    head = ("method", *(f"rate {rate:g}" if rate else "given labels" for rate in rates), "mean")
    note = (
        f"Average precision / area under the ROC curve in per cent, means over {most} dataset(s); a smaller number of "
        "datasets is in brackets. Methods of most cells first, of these the best mean average precision. Random "
        "suspicion has an average precision equal to the share of wrong labels, and an area of 50 %."
    )
    return TextTable(section.comparison.name, head, tuple(rows), note)


def cost_table(analysis: Analysis) -> TextTable:
    """Time of a run and of an epoch, and memory where it is known."""
    datasets = list(dict.fromkeys(dataset for found in analysis.costs.values() for dataset in found))
    rows = tuple(
        (label, *(_cost(found.get(dataset)) for dataset in sorted(datasets))) for label, found in analysis.costs.items()
    )
    memory = (
        " and peak memory of the process"
        if analysis.has_memory
        else ". Peak memory is not in the files of records; give the store to see it"
    )
    note = (
        f"Medians over all runs: seconds of a run (in brackets, times those of {REFERENCE}), milliseconds of an "
        f"epoch{memory}. Machines and other work on them differ: compare ratios within a column."
    )
    return TextTable("Time and memory", ("method", *sorted(datasets)), rows, note)


def timing_table(protocol: str, timings: Sequence[Timing]) -> TextTable:
    """Table 8: seconds and ratios to the reference."""
    rows = []
    for one in timings:
        printed = NOTHING
        if one.published is not None:
            printed = one.published.note if one.published.value is None else f"{one.published.value:.2f}"
        rows.append(
            (
                one.dataset if one.dataset == one.stands_for else f"{one.dataset} (paper: {one.stands_for})",
                one.method,
                printed,
                _ratio(one.published_ratio),
                "not run" if one.seconds is None else f"{one.seconds:.2f}",
                _ratio(one.ratio),
            )
        )
    head = ("dataset", "method", "reported, s", f"reported / {REFERENCE}", "ours, s", f"ours / {REFERENCE}")
    note = (
        "The paper's seconds are those until convergence on one V100 GPU, ours those of a whole run on whatever it ran "
        "on: compare the ratios, and mind that other graphs stand in for the paper's."
    )
    return TextTable(f"{load_table('table-8').title}: table-8, protocol {protocol}", head, tuple(rows), note)


def _cost(cost: Cost | None) -> str:
    if cost is None:
        return NOTHING
    parts = [f"{cost.seconds:.1f} s"]
    if cost.ratio is not None:
        parts[0] += f" ({cost.ratio:.1f}×)"
    if cost.epoch is not None:
        parts.append(f"{1000 * cost.epoch:.1f} ms")
    if cost.mib is not None:
        parts.append(f"{cost.mib:.0f} MiB")
    return ", ".join(parts)


def _ratio(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.1f}×"
