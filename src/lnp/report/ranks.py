"""Which method is best over many cells: mean ranks, the Friedman test and Nemenyi's critical difference.

After Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 2006. With k methods on N cells,
two mean ranks differ where they are at least

    CD = q √(k (k + 1) / (6 N))

apart, with q the upper quantile of the studentised range of k groups at infinitely many degrees of freedom, over √2.
The test takes cells as independent. The rates of one dataset are not, so its p-values are on the small side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["ALPHA", "RankSummary", "critical_difference", "descending_ranks", "friedman", "groups", "rank_methods"]

ALPHA = 0.05
DIGITS = 9
"""Means that agree in so many decimals are tied: they differ by rounding alone."""


@dataclass(frozen=True, kw_only=True)
class RankSummary:
    """Methods over cells.

    Args:
        methods: Best first.
        mean_ranks: Of each, in that order.
        cells: How many cells were ranked: those in which every one of these methods was run.
        statistic: Of Friedman's test.
        p_value: The chance of such a statistic if all methods were alike.
        critical_difference: The least difference of two mean ranks that counts.
        groups: First and last position of methods that the test does not tell apart; longest groups only.
        left_out: Methods that were not run in all of these cells.
    """

    methods: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    cells: int
    statistic: float
    p_value: float
    critical_difference: float
    groups: tuple[tuple[int, int], ...]
    left_out: tuple[str, ...] = ()

    def mean_rank(self, method: str) -> float | None:
        """Of one method; ``None`` where it was left out."""
        return dict(zip(self.methods, self.mean_ranks, strict=True)).get(method)


def rank_methods(
    scores: Mapping[object, Mapping[str, float]], methods: Sequence[str], others: Sequence[str] = ()
) -> RankSummary | None:
    """Ranks methods over the cells that have them all; ``None`` with fewer than three methods or two cells.

    Args:
        scores: Cell → method → score, higher is better.
        methods: Those to be ranked. Of them, those that were run in few cells are left out, and cells that lack one of
            the rest: as many methods times cells as there can be stay (:func:`_widest`).
        others: Taken in where they have a score in all of these cells.
    """
    present = _widest(scores, methods)
    cells = [row for row in scores.values() if all(method in row for method in present)]
    present += [method for method in others if cells and all(method in row for row in cells)]
    if len(present) < 3 or len(cells) < 2:
        return None
    ranks = [descending_ranks([row[method] for method in present]) for row in cells]
    means = [sum(column) / len(cells) for column in zip(*ranks, strict=True)]
    order = sorted(range(len(present)), key=lambda index: (round(means[index], DIGITS), index))
    statistic, p_value = friedman(ranks)
    least = critical_difference(len(present), len(cells))
    ordered = [means[index] for index in order]
    return RankSummary(
        methods=tuple(present[index] for index in order),
        mean_ranks=tuple(ordered),
        cells=len(cells),
        statistic=statistic,
        p_value=p_value,
        critical_difference=least,
        groups=tuple(groups(ordered, least)),
        left_out=tuple(method for method in (*methods, *others) if method not in present),
    )


def _widest(scores: Mapping[object, Mapping[str, float]], methods: Sequence[str]) -> list[str]:
    """The methods, from those with the most cells on, for which methods times common cells is largest.

    One method that was run in two cells only must not shrink a comparison over twenty to those two.
    """
    known = [method for method in methods if any(method in row for row in scores.values())]
    by_cells = sorted(known, key=lambda method: -sum(method in row for row in scores.values()))
    sizes = {
        count: count * sum(all(method in row for method in by_cells[:count]) for row in scores.values())
        for count in range(1, len(by_cells) + 1)
    }
    chosen = by_cells[: max(sizes, key=lambda count: (sizes[count], count), default=0)]
    return [method for method in methods if method in chosen]


def descending_ranks(values: Sequence[float]) -> list[float]:
    """1 for the highest value; equal values share the mean of their ranks.

    >>> descending_ranks([0.5, 0.9, 0.5, 0.1])
    [2.5, 1.0, 2.5, 4.0]
    """
    rounded = [round(value, DIGITS) for value in values]
    return [sum(other > value for other in rounded) + (rounded.count(value) + 1) / 2 for value in rounded]


def friedman(ranks: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Friedman's χ² with its correction for ties, and the chance of one as large; one row of ranks for every cell."""
    from scipy.stats import chi2

    cells, count = len(ranks), len(ranks[0])
    sums = [sum(column) for column in zip(*ranks, strict=True)]
    ties = sum(row.count(rank) ** 2 - 1 for row in map(list, ranks) for rank in row)  # Σ t³ − t over groups of t
    correction = 1 - ties / (cells * count * (count**2 - 1))
    if correction <= 0:  # all are tied everywhere
        return 0.0, 1.0
    spread = sum((total - cells * (count + 1) / 2) ** 2 for total in sums)
    statistic = 12 * spread / (cells * count * (count + 1)) / correction
    return statistic, float(chi2.sf(statistic, count - 1))


def critical_difference(methods: int, cells: int, alpha: float = ALPHA) -> float:
    """Nemenyi's: CD = q √(k (k + 1) / (6 N)).

    >>> round(critical_difference(5, 10), 3)  # 2.728 √(5 · 6 / 60)
    1.929
    """
    from scipy.stats import studentized_range

    quantile = float(studentized_range.ppf(1 - alpha, methods, math.inf)) / math.sqrt(2)
    return quantile * math.sqrt(methods * (methods + 1) / (6 * cells))


def groups(mean_ranks: Sequence[float], least: float) -> list[tuple[int, int]]:
    """The longest runs of neighbours, in ascending order of rank, whose ends are less than ``least`` apart.

    >>> groups([1.0, 1.5, 2.4, 5.0], 1.0)
    [(0, 1), (1, 2)]
    """
    found: list[tuple[int, int]] = []
    for first in range(len(mean_ranks)):
        last = max(i for i in range(first, len(mean_ranks)) if i == first or mean_ranks[i] - mean_ranks[first] < least)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found
