"""Means and the rule of two standard errors, by hand."""

from __future__ import annotations

import pytest

from lnp.report.measured import Difference, Measured, difference, measured


def test_errors_are_combined() -> None:
    found = difference(Measured(75.0, 3.0, 9), Measured(70.0, 4.0, 16))
    assert found == Difference(5.0, pytest.approx(2**0.5))  # √(1² + 1²)
    assert found.side == "above"  # 5 > 2.83


@pytest.mark.parametrize(
    ("value", "side"), [(2.0, "within"), (-2.0, "within"), (2.001, "above"), (-2.001, "below"), (0.0, "within")]
)
def test_two_standard_errors_are_the_limit(value: float, side: str) -> None:
    assert Difference(value, 1.0).side == side


def test_one_run_has_no_error() -> None:
    one = measured([0.7])
    assert one == Measured(70.0, None, 1)
    assert difference(one, Measured(60.0, 1.0, 5)).side == "unknown"
    assert difference(Measured(60.0, 1.0, 5), one).error is None


def test_no_spread_at_all() -> None:
    same = Measured(70.0, 0.0, 5)
    assert difference(same, same).side == "within"
    assert difference(same, Measured(69.9, 0.0, 5)).side == "above"
