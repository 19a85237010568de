"""What ``scale.py`` measured: a table beside the targets, and the figure of cost against size."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
COLOURS = {"gcn": "#7a8290", "lnp-v1": "#009e73", "lnp-v2": "#0072b2"}
GIB = 1024.0
KEY = ("part", "dataset", "method", "batch", "processes", "round")

Row = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """One line of the table.

    Args:
        what: What was measured.
        value: What came out.
        unit: Of the value.
        target: What was wished, if anything.
        at_most: Whether the value should stay below the target, or reach it.
        note: From what.
    """

    what: str
    value: float
    unit: str = ""
    target: float | None = None
    at_most: bool = True
    note: str = ""

    @property
    def verdict(self) -> str:
        """Whether the target is met; empty without one."""
        if self.target is None:
            return ""
        return "met" if (self.value <= self.target if self.at_most else self.value >= self.target) else "MISSED"


def log_slope(sizes: list[float], costs: list[float]) -> float:
    """B of log cost = a + b log size by least squares.

    >>> round(log_slope([10, 100, 1000], [3, 30, 300]), 6)
    1.0
    """
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def lines(rows: list[Row]) -> list[Line]:
    """Everything that can be said of the rows; of rows with the same key the last counts."""
    latest = {
        tuple(row[name] for name in ("part", "dataset", "method", "batch", "processes", "round")): row for row in rows
    }
    parts: dict[str, list[Row]] = defaultdict(list)
    for row in latest.values():
        parts[row["part"]].append(row)
    return [
        *_slopes(parts["slope"]),
        *_ratios(parts["ratio"]),
        *_memory(parts["memory"]),
        *_accuracy(parts["accuracy"]),
        *_nrgnn(parts["nrgnn"]),
        *_processes(parts["processes"]),
    ]


def curves(rows: list[Row]) -> dict[str, dict[str, list[tuple[int, float]]]]:
    """Method → "seconds" or "MiB" → (n, cost), by size. Memory is that above what Python and PyTorch take."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    for row in rows:
        if row["part"] == "slope":
            costs = found.setdefault(row["method"], {"seconds": {}, "MiB": {}})
            costs["seconds"][int(row["nodes"])] = float(row["cpu_seconds"])
            costs["MiB"][int(row["nodes"])] = float(row["peak_mib"]) - float(row["base_mib"])
    return {method: {what: sorted(points.items()) for what, points in costs.items()} for method, costs in found.items()}


def _slopes(rows: list[Row]) -> list[Line]:
    told = []
    for method, costs in curves(rows).items():
        for what, points in costs.items():
            if len(points) > 1:
                sizes, values = zip(*points, strict=True)
                note = f"{len(points)} sizes, {sizes[0]:,} to {sizes[-1]:,} nodes"
                target = 1.05 if method == "lnp-v2" else None
                name = "processor seconds per epoch" if what == "seconds" else "peak memory"
                told.append(
                    Line(f"slope of {name}, {method}", log_slope(list(sizes), list(values)), "", target, note=note)
                )
    return told


def _ratios(rows: list[Row]) -> list[Line]:
    told = []
    for dataset, target in (("ogbn-arxiv-structural", 3.6), ("synthetic-patents", 3.8)):
        taken: dict[str, dict[str, Row]] = defaultdict(dict)
        for row in rows:
            if row["dataset"] == dataset:
                taken[row["round"]][row["method"]] = row
        pairs = [pair for pair in taken.values() if {"gcn", "lnp-v2"} <= pair.keys()]
        for kind, name in (("cpu_seconds", "processor"), ("wall_seconds", "clock")):
            ratios = [float(pair["lnp-v2"][kind]) / float(pair["gcn"][kind]) for pair in pairs]
            if ratios:
                note = f"{name} time, {len(ratios)} × {pairs[0]['gcn']['epochs']} epochs in turns"
                wish = target if kind == "cpu_seconds" else None
                told.append(Line(f"lnp-v2 / gcn, {dataset}", statistics.median(ratios), "", wish, note=note))
    return told


def _memory(rows: list[Row]) -> list[Line]:
    return [
        Line(
            f"peak of lnp-v2, {row['batch']} batch, {row['dataset']}",
            float(row["peak_mib"]) / GIB,
            "GiB",
            16.0 if row["batch"] == "full" else 6.0,
            note=f"{float(row['wall_seconds']):.0f} s per epoch",
        )
        for row in rows
    ]


def _accuracy(rows: list[Row]) -> list[Line]:
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        scores[row["batch"]][row["round"]] = 100 * float(row["test_accuracy"])
    told = []
    for batch, found in scores.items():
        told.append(Line(f"accuracy of lnp-v2, {batch} batch", statistics.fmean(found.values()), "%"))
        shared = found.keys() & scores["full"].keys()
        if batch != "full" and shared:
            lost = statistics.fmean(scores["full"][seed] - found[seed] for seed in shared)
            told.append(
                Line(f"points lost against full batch, {batch}", lost, "points", 2.0, note=f"{len(shared)} seeds")
            )
    return told


def _nrgnn(rows: list[Row]) -> list[Line]:
    return [Line(f"peak of nrgnn, {row['dataset']}", float(row["peak_mib"]) / GIB, "GiB", 16.0) for row in rows]


def _processes(rows: list[Row]) -> list[Line]:
    """By the clock, which counts on a machine with nothing else to do, and by the processor time of each process."""
    told = []
    for kind, name, target in (("wall_seconds", "clock", 1.6), ("cpu_seconds", "processor time of each", None)):
        seconds: dict[str, list[float]] = defaultdict(list)
        for row in rows:
            if row[kind]:
                seconds[row["processes"]].append(float(row[kind]))
        if {"1", "2"} <= seconds.keys():
            times = statistics.median(seconds["1"]) / statistics.median(seconds["2"])
            note = f"{name}, {len(seconds['2'])} rounds in turns"
            told.append(Line("two processes, times as fast as one", times, "", target, at_most=False, note=note))
    return told


def show(rows: list[Row]) -> None:
    """Prints the table and draws the figure."""
    from rich.console import Console
    from rich.table import Table

    console = Console(width=130)
    table = Table("what", "value", "target", "", "from", title="Cost and size")
    for line in lines(rows):
        target = "" if line.target is None else f"{'≤' if line.at_most else '≥'} {line.target:g}"
        table.add_row(line.what, f"{line.value:.2f} {line.unit}".strip(), target, line.verdict, line.note)
    console.print(table)
    found = curves(rows)
    if found:
        draw(found)
        console.print(f"Drew {FIGURES / 'scaling.svg'} and scaling.png.")


def draw(found: dict[str, dict[str, list[tuple[int, float]]]]) -> None:
    """Cost against size, both logarithmic, with a line of slope 1 for the eye."""
    import matplotlib

    from lnp.report.plots import METADATA, RC

    with matplotlib.rc_context(RC):
        from matplotlib.figure import Figure
        from matplotlib.ticker import NullFormatter

        figure = Figure(figsize=(9.0, 4.2), layout="constrained")
        for axes, what, label in zip(
            figure.subplots(1, 2),
            ("seconds", "MiB"),
            ("processor seconds per epoch", "peak memory above the imports, MiB"),
            strict=True,
        ):
            for method, costs in found.items():
                sizes, values = zip(*costs[what], strict=True)
                told = f"{method}: slope {log_slope(list(sizes), list(values)):.2f}" if len(sizes) > 1 else method
                axes.plot(sizes, values, "o-", color=COLOURS.get(method, "#d55e00"), label=told, markersize=4)
            points = [point for costs in found.values() for point in costs[what]]
            low, high = min(n for n, _ in points), max(n for n, _ in points)
            start = min(value for _, value in points) / 1.6
            axes.plot([low, high], [start, start * high / low], ":", color="#1d2127", label="slope 1", linewidth=1)
            axes.set(xscale="log", yscale="log", xlabel="nodes, mean degree 9.56", ylabel=label)
            axes.xaxis.set_major_formatter(_plain_number)
            axes.yaxis.set_major_formatter(_plain_number)
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(0.0, -0.16), ncols=2)
        FIGURES.mkdir(parents=True, exist_ok=True)
        for kind in ("svg", "png"):
            figure.savefig(FIGURES / f"scaling.{kind}", dpi=160, metadata=METADATA[kind])


def _plain_number(value: float, _: object = None) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"
