"""Sweeps: what is gathered where, and the fitted line against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lnp.report.measured import Measured
from lnp.report.sweeps import SweepPoint, by_option, by_trusted_size, by_variant, fitted_change, span


def test_points_by_option_in_the_order_of_values(runs) -> None:
    rows = [
        *runs("figure-sensitivity", "cora", 0.2, "lnp-v2", [80.0], part="lambda_1=100"),
        *runs("figure-sensitivity", "cora", 0.2, "lnp-v2", [70.0, 72.0], part="lambda_1=0.5"),
        *runs("figure-sensitivity", "cora", 0.2, "lnp-v2", [1.0], part="lambda_2=0.5"),
        *runs("figure-sensitivity", "cora", 0.2, "lnp-v2", [2.0], part="lambda_1=0.5", protocol="strict"),
        *runs("table-2", "cora", 0.2, "lnp-v2", [3.0]),
    ]
    points = by_option(rows, "paper", "lambda_1")
    assert list(points) == [0.2]
    assert [(point.value, point.measured.mean, len(point.runs)) for point in points[0.2]] == [
        (0.5, pytest.approx(71.0), 2),
        (100.0, pytest.approx(80.0), 1),
    ]
    low, high = span(points[0.2])
    assert (low.value, high.value) == (0.5, 100.0)


def test_points_by_size_and_variant(runs) -> None:
    rows = [
        *runs("figure-clean-size", "citeseer", 0.8, "gcn", [50.0], part="b/trusted=100"),
        *runs("figure-clean-size", "citeseer", 0.8, "gcn", [40.0], part="b/trusted=20"),
        *runs("figure-clean-size", "citeseer", 0.8, "lnp-v2", [60.0], part="a/trusted=20"),
        *runs("figure-ablation", "cora", 0.8, "lnp-v2", [60.0, 62.0], part="nl"),
    ]
    curves = by_trusted_size(rows, "paper", "b")
    assert list(curves) == [("citeseer", 0.8, "gcn")]
    assert [point.value for point in curves["citeseer", 0.8, "gcn"]] == [20.0, 100.0]
    assert by_variant(rows, "paper") == {"cora": {"nl": Measured(61.0, pytest.approx(2**0.5), 2)}}


def test_the_fitted_line_is_that_of_scipy() -> None:
    generator = np.random.default_rng(0)
    values = [0.01, 0.1, 1.0, 5.0, 100.0]
    accuracies = 70 + 2 * np.log10(values)[:, None] + generator.normal(0, 1, (5, 3))
    points = [
        SweepPoint(value, tuple(row), Measured(row.mean(), row.std(ddof=1), 3))
        for value, row in zip(values, accuracies, strict=True)
    ]
    line = stats.linregress(np.repeat(np.log10(values), 3), accuracies.ravel())
    found = fitted_change(points)
    assert found is not None
    assert found.value == pytest.approx(4 * line.slope)  # four powers of ten
    assert found.error == pytest.approx(4 * line.stderr)
    zero = SweepPoint(0.0, (0.0,), Measured(0.0, None, 1))
    assert fitted_change([zero, *points]) == found
    assert fitted_change(points[:1]) is None
