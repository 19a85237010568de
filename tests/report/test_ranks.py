"""Ranks and tests against scipy and against published values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from lnp.report.ranks import critical_difference, descending_ranks, friedman, groups, rank_methods


def test_ranks_are_those_of_scipy() -> None:
    generator = np.random.default_rng(0)
    for count in (1, 2, 5, 17):
        values = generator.integers(0, 6, count) / 10  # many ties
        assert descending_ranks(values.tolist()) == stats.rankdata(-values).tolist()


def test_rounding_does_not_break_a_tie() -> None:
    assert descending_ranks([0.1 + 0.2, 0.3, 0.2]) == [1.5, 1.5, 3.0]


def test_friedman_is_that_of_scipy_with_and_without_ties() -> None:
    generator = np.random.default_rng(1)
    for values in (generator.random((12, 5)), generator.integers(0, 3, (12, 5)).astype(float)):
        ranks = [descending_ranks(row) for row in values.tolist()]
        expected = stats.friedmanchisquare(*values.T)
        assert friedman(ranks) == pytest.approx((expected.statistic, expected.pvalue))
    assert friedman([[1.5, 1.5], [1.5, 1.5]]) == (0.0, 1.0)


@pytest.mark.parametrize(("methods", "quantile"), [(2, 1.960), (3, 2.343), (5, 2.728), (9, 3.102), (10, 3.164)])
def test_critical_difference_by_the_published_quantiles(methods: int, quantile: float) -> None:
    # The table of q for the two-tailed Nemenyi test at 0.05 in Demšar (2006).
    expected = quantile * np.sqrt(methods * (methods + 1) / (6 * 10))
    assert critical_difference(methods, 10) == pytest.approx(expected, abs=1.1e-3)


def test_groups_are_the_longest_and_none_is_within_another() -> None:
    means = [1.0, 1.2, 2.5, 2.6, 5.0, 9.0]
    found = groups(means, 1.45)
    assert found == [(0, 1), (1, 3)]
    brute = {
        (i, j) for i in range(6) for j in range(i + 1, 6) if means[j] - means[i] < 1.45
    }  # every pair that is not told apart …
    assert all(any(first <= i and j <= last for first, last in found) for i, j in brute)  # … is under a bar


def test_only_rows_with_all_methods_count_and_strangers_must_have_them_all() -> None:
    scores = {
        "a": {"x": 3.0, "y": 2.0, "z": 1.0, "extra": 4.0, "rare": 9.0},
        "b": {"x": 3.0, "y": 1.0, "z": 2.0, "extra": 4.0},
        "c": {"x": 1.0, "y": 2.0, "extra": 0.0},  # z was not run
    }
    found = rank_methods(scores, ["x", "y", "z", "never"], ["extra", "rare"])
    assert found is not None
    assert found.cells == 2
    assert found.methods == ("extra", "x", "y", "z")
    assert found.mean_ranks == (1.0, 2.0, 3.5, 3.5)
    assert found.left_out == ("never", "rare")
    assert found.mean_rank("y") == 3.5
    assert found.mean_rank("never") is None


def test_too_little_gives_no_summary() -> None:
    assert rank_methods({"a": {"x": 1.0, "y": 2.0, "z": 3.0}}, ["x", "y", "z"]) is None
    assert rank_methods({"a": {"x": 1.0, "y": 2.0}, "b": {"x": 1.0, "y": 2.0}}, ["x", "y", "z"]) is None
    assert rank_methods({}, ["x", "y", "z"]) is None


def test_a_method_of_two_cells_does_not_shrink_a_comparison_over_six() -> None:
    scores = {cell: {"a": 3.0, "b": 2.0, "c": 1.0} for cell in range(6)}
    scores[0]["rare"] = scores[1]["rare"] = 4.0
    scores[0]["common"] = 0.0
    for cell in range(1, 6):
        scores[cell]["common"] = 0.0
    del scores[5]["common"]  # five cells of four methods are more than six of three
    found = rank_methods(scores, ["a", "rare", "b", "common", "c"])
    assert found is not None
    assert (found.methods, found.cells, found.left_out) == (("a", "b", "c", "common"), 5, ("rare",))
