"""Observations on figures: curves of a known shape get the verdict that they deserve."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from lnp.report.figure_observations import figure_observations
from lnp.report.observations import FAILS, HOLDS, PARTLY, UNKNOWN

LAMBDAS = (0.01, 0.1, 0.5, 1.0, 5.0, 10.0, 100.0)
DELTAS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
RATES = (0.2, 0.4, 0.6, 0.8)

Curve = Callable[[float, float], float]


@pytest.fixture
def sweep(runs):
    def make(option: str, values: tuple[float, ...], curve: Curve):
        return [
            row
            for rate in RATES
            for value in values
            for row in runs(
                "figure-sensitivity",
                "cora",
                rate,
                "lnp-v2",
                [curve(value, rate) - 0.1, curve(value, rate) + 0.1],
                part=f"{option}={value:g}",
            )
        ]

    return make


def verdicts(rows) -> dict[str, str]:
    return {one.claim: one.verdict for one in figure_observations(rows, "paper")}


@pytest.mark.parametrize(("sign", "verdict"), [(1, HOLDS), (-1, FAILS)])
def test_lambda_1_rises_at_low_rates_and_falls_at_high_ones(sweep, sign: int, verdict: str) -> None:
    rows = sweep("lambda_1", LAMBDAS, lambda value, rate: 60 + sign * (1 if rate < 0.5 else -1) * math.log10(value))
    first = figure_observations(rows, "paper")[0]
    assert first.claim.startswith("λ1")
    assert first.verdict == verdict
    assert ("0.2: +4.0" in first.sentence) == (sign == 1)
    assert all(abs(case.difference.value) == pytest.approx(4.0) for case in first.cases)


def test_lambda_1_that_always_helps_holds_in_part(sweep) -> None:
    rows = sweep("lambda_1", LAMBDAS, lambda value, rate: 60 + math.log10(value))
    assert figure_observations(rows, "paper")[0].verdict == PARTLY


def test_lambda_2_is_poor_at_both_ends_of_high_rates(sweep) -> None:
    hill = sweep("lambda_2", LAMBDAS, lambda value, rate: 60 - math.log10(value) ** 2)
    flat_left = sweep("lambda_2", LAMBDAS, lambda value, rate: 60 - max(0.0, math.log10(value)))
    found = [
        next(one for one in figure_observations(rows, "paper") if one.claim.startswith("λ2"))
        for rows in (hill, flat_left)
    ]
    assert [one.verdict for one in found] == [HOLDS, PARTLY]
    assert [len(one.cases) for one in found] == [4, 4]  # two rates, two ends
    # the median of 59, 59.91, 60, 59.51 and 59 is 59.51; the ends have 56
    assert found[0].cases[0].difference.value == pytest.approx(60 - math.log10(5) ** 2 - 56)


def test_lambda_3_falls_when_large_and_is_stable_below_1(sweep) -> None:
    steady = verdicts(sweep("lambda_3", LAMBDAS, lambda value, rate: 60 - (5 if value > 1 else value)))
    assert [verdict for claim, verdict in steady.items() if claim.startswith("λ3")] == [HOLDS, HOLDS]
    steep = verdicts(sweep("lambda_3", LAMBDAS, lambda value, rate: 60 + 5 * math.log10(value)))
    assert [verdict for claim, verdict in steep.items() if claim.startswith("λ3")] == [FAILS, FAILS]


def test_delta_has_its_best_value_inside(sweep) -> None:
    def one(curve: Curve) -> str:
        return next(v for claim, v in verdicts(sweep("delta", DELTAS, curve)).items() if claim.startswith("δ"))

    assert one(lambda value, rate: 60 - 50 * (value - 0.8) ** 2) == HOLDS
    assert one(lambda value, rate: 60 + value) == FAILS
    assert one(lambda value, rate: 60 + (value if rate < 0.5 else -50 * (value - 0.7) ** 2)) == PARTLY


def test_what_was_not_swept_is_not_run(sweep) -> None:
    found = verdicts(sweep("delta", DELTAS, lambda value, rate: 60.0))
    assert [verdict for claim, verdict in found.items() if not claim.startswith("δ")] == [UNKNOWN] * 4


def test_ablation_needs_every_dataset(runs) -> None:
    rows = []
    for dataset, nl in (("cora", 60.0), ("actor", 26.0)):
        rows += runs("figure-ablation", dataset, 0.8, "lnp-v2", [61.0, 61.2] if nl > 50 else [25.0, 25.2], part="v2")
        rows += runs("figure-ablation", dataset, 0.8, "lnp-v2", [nl, nl + 0.2], part="nl")
        rows += runs("figure-ablation", dataset, 0.8, "lnp-v2", [10.0, 11.0], part="nw")
    found = {one.claim.split()[4].rstrip(","): one for one in figure_observations(rows, "paper")}
    assert [found[name].verdict for name in ("nl", "nw", "nv")] == [PARTLY, HOLDS, UNKNOWN]
    assert "Against it: actor (−1.0)." in found["nl"].sentence
    assert "So far 2 of 6 cases" in found["nl"].sentence


@pytest.mark.parametrize(("gain", "verdict"), [(1.5, HOLDS), (2.5, FAILS), (-2.5, HOLDS)])
def test_more_clean_labels_bring_little(runs, gain: float, verdict: str) -> None:
    rows = runs("figure-clean-size", "citeseer", 0.4, "lnp-v2", [70.0, 70.1], part="a/trusted=20")
    rows += runs("figure-clean-size", "citeseer", 0.4, "lnp-v2", [70.0 + gain, 70.1 + gain], part="a/trusted=100")
    stable, enough, _ = figure_observations(rows, "paper")
    assert enough.verdict == verdict
    assert stable.verdict == (HOLDS if abs(gain) < 2 else FAILS)
    assert f"citeseer 0.4 {'+' if gain > 0 else '−'}{abs(gain)}" in enough.sentence


def test_the_curves_by_rate_are_those_of_one_method(runs) -> None:
    rows = [
        row
        for method, gain in (("lnp-v1", 20.0), ("lnp-v2", 1.0), ("lpm", 30.0))
        for size, accuracy in ((20, 60.0), (100, 60.0 + gain))
        for row in runs("figure-clean-size", "citeseer", 0.4, method, [accuracy], part=f"a/trusted={size}")
    ]
    for order in (rows, rows[::-1]):
        stable, enough, _ = figure_observations(order, "paper")
        assert (stable.verdict, enough.verdict) == (HOLDS, HOLDS)
        assert len(stable.cases) == 1
        assert "citeseer 0.4 +1.0." in enough.sentence


def test_a_noisy_pair_counts_as_stable_within_its_errors(runs) -> None:
    rows = runs("figure-clean-size", "citeseer", 0.4, "lnp-v2", [60.0, 70.0], part="a/trusted=20")
    rows += runs("figure-clean-size", "citeseer", 0.4, "lnp-v2", [63.0, 73.0], part="a/trusted=100")
    assert figure_observations(rows, "paper")[0].verdict == HOLDS  # 3 points apart, errors of 5 each


@pytest.mark.parametrize(("more", "single"), [([], True), ([70.5], False)])
def test_single_runs_are_called_so_where_errors_are_allowed_for(runs, more: list[float], single: bool) -> None:
    rows = runs("figure-clean-size", "citeseer", 0.4, "lnp-v2", [70.0, *more], part="a/trusted=20")
    rows += runs("figure-clean-size", "citeseer", 0.4, "lnp-v2", [71.0, *more], part="a/trusted=100")
    assert ["single runs" in found.sentence for found in figure_observations(rows, "paper")[:2]] == [single, single]


def test_every_size_is_a_case_against_the_best_baseline(runs) -> None:
    rows = []
    for size, lpm in ((20, 60.0), (100, 75.0)):
        for method, accuracy in (("lnp-v1", 65.0), ("lnp-v2", 70.0), ("gcn", 50.0), ("lpm", lpm)):
            part = f"b/trusted={size}"
            rows += runs("figure-clean-size", "chameleon", 0.8, method, [accuracy, accuracy + 1], part=part)
    last = figure_observations(rows, "paper")[-1]
    assert [case.difference.value for case in last.cases] == pytest.approx([10.0, -5.0])
    assert last.verdict == PARTLY
