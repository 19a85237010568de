"""Figures in which something varies: accuracy by λ1, λ2, λ3 or δ, by the size of T_C, by what is left out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from lnp.report.measured import Difference, Measured, measured
from lnp.report.records import ResultRow

__all__ = ["BY_RATE", "SweepPoint", "by_option", "by_trusted_size", "by_variant", "fitted_change", "span"]

Key = TypeVar("Key")

BY_RATE = "lnp-v2"
"""The method whose curves panel a of figure-clean-size has, one for each rate.

Whoever names methods to ``lnp reproduce`` gets their runs in panel a, too; drawn in the colours of the rates they could
not be told from those of this one.
"""


@dataclass(frozen=True)
class SweepPoint:
    """Runs at one value of what varies."""

    value: float
    runs: tuple[float, ...]
    """Test accuracies, in per cent."""
    measured: Measured


def by_option(rows: Iterable[ResultRow], protocol: str, option: str) -> dict[float, list[SweepPoint]]:
    """figure-sensitivity: rate → points in the order of the option's values."""
    return _points(
        (row.rate, float(row.part.partition("=")[2]), row.test_accuracy)
        for row in rows
        if (row.table, row.protocol) == ("figure-sensitivity", protocol) and row.part.partition("=")[0] == option
    )


def by_trusted_size(
    rows: Iterable[ResultRow], protocol: str, panel: str
) -> dict[tuple[str, float, str], list[SweepPoint]]:
    """figure-clean-size: (dataset, rate, method) → points in the order of |T_C|; in panel a of one method only."""
    start = f"{panel}/trusted="
    return _points(
        ((row.dataset, row.rate, row.method), float(row.part.removeprefix(start)), row.test_accuracy)
        for row in rows
        if (row.table, row.protocol) == ("figure-clean-size", protocol)
        and row.part.startswith(start)
        and (panel != "a" or row.method == BY_RATE)
    )


def by_variant(rows: Iterable[ResultRow], protocol: str) -> dict[str, dict[str, Measured]]:
    """figure-ablation: dataset → variant → accuracy."""
    runs: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        if (row.table, row.protocol) == ("figure-ablation", protocol):
            runs.setdefault(row.dataset, {}).setdefault(row.part, []).append(row.test_accuracy)
    return {
        dataset: {variant: value for variant, shares in variants.items() if (value := measured(shares)) is not None}
        for dataset, variants in runs.items()
    }


def fitted_change(points: Sequence[SweepPoint]) -> Difference | None:
    """How much a straight line over the logarithm of the value rises from the first value to the last.

    Least squares over single runs; the error is that of the slope. ``None`` with fewer than three runs or two values.
    A value of zero has no logarithm and does not count.
    """
    points = [point for point in points if point.value > 0]
    pairs = [(math.log10(point.value), run) for point in points for run in point.runs]
    if len(pairs) < 3 or len(points) < 2:
        return None
    x_mean, y_mean = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
    sxx = sum((x - x_mean) ** 2 for x, _ in pairs)
    slope = sum((x - x_mean) * (y - y_mean) for x, y in pairs) / sxx
    residual = sum((y - y_mean - slope * (x - x_mean)) ** 2 for x, y in pairs)
    reach = math.log10(points[-1].value) - math.log10(points[0].value)
    return Difference(slope * reach, reach * math.sqrt(residual / (len(pairs) - 2) / sxx))


def span(points: Sequence[SweepPoint]) -> tuple[SweepPoint, SweepPoint]:
    """The points with the lowest and the highest mean."""
    return (
        min(points, key=lambda point: point.measured.mean),
        max(points, key=lambda point: point.measured.mean),
    )


def _points(runs: Iterable[tuple[Key, float, float]]) -> dict[Key, list[SweepPoint]]:
    found: dict[Key, dict[float, list[float]]] = {}
    for key, value, share in runs:
        found.setdefault(key, {}).setdefault(value, []).append(share)
    return {key: [_point(value, values[value]) for value in sorted(values)] for key, values in found.items()}


def _point(value: float, shares: list[float]) -> SweepPoint:
    mean = measured(shares)
    assert mean is not None
    return SweepPoint(value, tuple(100 * share for share in shares), mean)
