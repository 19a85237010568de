"""The paper's observations on its figures: sensitivity, ablation, size of the clean label set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lnp.report.comparison import LNP_METHODS
from lnp.report.measured import ERRORS, Difference, Measured, difference
from lnp.report.observations import Case, Observation, judge, signed
from lnp.report.records import ResultRow
from lnp.report.sweeps import SweepPoint, by_option, by_trusted_size, by_variant, fitted_change, span

__all__ = ["STABLE", "VARIANTS", "figure_observations"]

STABLE = 2.0
"""A curve is stable, an improvement marginal, if it is at most so many points or two standard errors."""
HIGH = 0.6
"""Rates from here on are high."""
SENSITIVITY, ABLATION, SIZE = "figure-sensitivity", "figure-ablation", "figure-clean-size"

VARIANTS = {
    "nl": "without the weighted cross entropy on Y_N",
    "np": "without the cross entropy of the prior",
    "nc": "without the contrastive loss",
    "nw": "with all weights one",
    "nv": "with features and labels concatenated instead of prototypes",
}
"""Variant → what it is."""


def figure_observations(rows: Sequence[ResultRow], protocol: str) -> list[Observation]:
    """Every observation on a figure of which there are runs under this protocol."""
    tables = {row.table for row in rows if row.protocol == protocol}
    found: list[Observation] = []
    if SENSITIVITY in tables:
        found.extend(_sensitivity(rows, protocol))
    if ABLATION in tables:
        found.extend(_ablation(rows, protocol))
    if SIZE in tables:
        found.extend(_clean_size(rows, protocol))
    return found


def _sensitivity(rows: Sequence[ResultRow], protocol: str) -> list[Observation]:
    lambda_1, lambda_2, lambda_3, delta = (
        {rate: points for rate, points in by_option(rows, protocol, option).items() if len(points) > 2}
        for option in ("lambda_1", "lambda_2", "lambda_3", "delta")
    )
    return [
        _trend(lambda_1, protocol),
        judge(
            SENSITIVITY,
            protocol,
            "λ2: at high noise rates LNP-v2 performs poorly when λ2 is too small (0.01) or too large (100).",
            [
                Case(
                    f"rate {rate:g}, λ2 = {end.value:g}",
                    difference(_middle(points[1:-1]).measured, end.measured),
                )
                for rate, points in lambda_2.items()
                if rate >= HIGH
                for end in (points[0], points[-1])
            ],
            what="the accuracy at that end is below the median of the values between",
            expected=4,
        ),
        judge(
            SENSITIVITY,
            protocol,
            "λ3: at high noise rates the accuracy falls when λ3 is large.",
            [
                Case(
                    f"rate {rate:g}, λ3 = {points[-1].value:g}", difference(_middle(low).measured, points[-1].measured)
                )
                for rate, points in lambda_3.items()
                if rate >= HIGH and (low := [point for point in points[:-1] if point.value <= 1])
            ],
            what="the accuracy at the largest λ3 is below the median of those up to 1",
            expected=2,
        ),
        _stable(
            SENSITIVITY,
            protocol,
            "λ3: LNP-v2 is stable from 0.01 to 1.",
            {
                f"rate {rate:g}": low
                for rate, points in lambda_3.items()
                if len(low := [point for point in points if point.value <= 1]) > 1
            },
            4,
        ),
        judge(
            SENSITIVITY,
            protocol,
            "δ: as δ increases, the accuracy first increases and then decreases.",
            [Case(f"rate {rate:g}", _inner_peak(points)) for rate, points in delta.items()],
            what="the best δ lies between the ends",
            expected=4,
        ),
    ]


def _trend(curves: dict[float, list[SweepPoint]], protocol: str) -> Observation:
    cases, told = [], []
    for rate, points in curves.items():
        change = fitted_change(points)
        if change is not None:
            sign = -1 if rate >= HIGH else 1
            cases.append(Case(f"rate {rate:g}", Difference(sign * change.value, change.error)))
            told.append(f"{rate:g}: {signed(change.value)}")
    return judge(
        SENSITIVITY,
        protocol,
        "λ1: as λ1 increases, LNP-v2 becomes better at low noise rates and worse at high ones.",
        cases,
        what="the trend goes the paper's way",
        expected=4,
        detail=f"A line fitted from the smallest λ1 to the largest rises by so many points at rate {', '.join(told)}.",
    )


def _ablation(rows: Sequence[ResultRow], protocol: str) -> list[Observation]:
    found = by_variant(rows, protocol)
    return [
        judge(
            ABLATION,
            protocol,
            f"LNP-v2 is better than {variant}, {meaning}, on all datasets.",
            [
                Case(dataset, difference(variants["v2"], variants[variant]))
                for dataset, variants in found.items()
                if variant in variants and "v2" in variants
            ],
            what="LNP-v2 is ahead",
            expected=6,
        )
        for variant, meaning in VARIANTS.items()
    ]


def _clean_size(rows: Sequence[ResultRow], protocol: str) -> list[Observation]:
    curves = {
        f"{dataset} {rate:g}": points
        for (dataset, rate, _), points in by_trusted_size(rows, protocol, "a").items()
        if len(points) > 1
    }
    methods: dict[tuple[str, float], dict[str, Measured]] = {}
    for (dataset, _, method), points in by_trusted_size(rows, protocol, "b").items():
        for point in points:
            methods.setdefault((dataset, point.value), {})[method] = point.measured
    ends = {label: (points[0], points[-1]) for label, points in curves.items()}
    gains = {label: pair[1].measured.mean - pair[0].measured.mean for label, pair in ends.items()}
    return [
        _stable(SIZE, protocol, "(a) LNP is very stable over a wide range of sizes of T_C.", curves, 8),
        judge(
            SIZE,
            protocol,
            "(a) Twenty clean labels are enough: more of them bring marginal improvement.",
            [Case(label, Difference(_allowance(*ends[label]) - gain, None)) for label, gain in gains.items()],
            what=f"the largest T_C gains at most {STABLE:g} points or two standard errors over the smallest",
            expected=8,
            detail=_told(list(gains.items())),
            single_runs=_are_single_runs(ends.values()),
        ),
        judge(
            SIZE,
            protocol,
            "(b) LNP is better than the baselines at every size of T_C.",
            [
                Case(f"{dataset}, |T_C| = {size:g}", lead)
                for (dataset, size), row in sorted(methods.items())
                if (lead := _lead(row)) is not None
            ],
            what="the better of v1 and v2 is ahead of every baseline",
            expected=14,
        ),
    ]


def _stable(group: str, protocol: str, claim: str, curves: dict[str, list[SweepPoint]], expected: int) -> Observation:
    spans = {label: span(points) for label, points in curves.items()}
    spreads = {label: high.measured.mean - low.measured.mean for label, (low, high) in spans.items()}
    return judge(
        group,
        protocol,
        claim,
        [Case(label, Difference(_allowance(*spans[label]) - spread, None)) for label, spread in spreads.items()],
        what=f"the best and the worst are at most {STABLE:g} points or two standard errors apart",
        expected=expected,
        detail=_told(list(spreads.items())),
        single_runs=_are_single_runs(spans.values()),
    )


def _allowance(first: SweepPoint, second: SweepPoint) -> float:
    error = difference(first.measured, second.measured).error
    return max(STABLE, ERRORS * error) if error is not None else STABLE


def _are_single_runs(pairs: Iterable[tuple[SweepPoint, SweepPoint]]) -> bool:
    """What is allowed for chance is in the cases already, so they have no standard error that would tell."""
    return all(point.measured.runs == 1 for pair in pairs for point in pair)


def _told(values: Sequence[tuple[str, float]]) -> str:
    return f"In points: {', '.join(f'{label} {signed(value)}' for label, value in values)}."


def _middle(points: Sequence[SweepPoint]) -> SweepPoint:
    """The point whose mean is the median; of two, the lower."""
    return sorted(points, key=lambda point: point.measured.mean)[(len(points) - 1) // 2]


def _inner_peak(points: Sequence[SweepPoint]) -> Difference:
    """The best of the inner values − the better end."""
    _, inner = span(points[1:-1])
    _, end = span([points[0], points[-1]])
    return difference(inner.measured, end.measured)


def _lead(row: dict[str, Measured]) -> Difference | None:
    ours = [value for method, value in row.items() if method in LNP_METHODS]
    theirs = [value for method, value in row.items() if method not in LNP_METHODS]
    if not ours or not theirs:
        return None
    best, rival = (max(values, key=lambda value: value.mean) for values in (ours, theirs))
    return difference(best, rival)
