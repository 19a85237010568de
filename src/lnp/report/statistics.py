"""Mean and spread of a few values, and how they are written."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

__all__ = ["mean_and_sd", "percent"]


def mean_and_sd(values: Sequence[float]) -> tuple[float, float | None]:
    """The mean and the standard deviation of a sample (n − 1 in the denominator); one value has no spread.

    >>> mean_and_sd([1.0, 3.0])
    (2.0, 1.4142135623730951)
    """
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None


def percent(values: Sequence[float]) -> str:
    """Shares as a mean in per cent with its spread.

    >>> percent([0.8, 0.9]), percent([0.875])
    ('85.0 ± 7.1', '87.5')
    """
    mean, sd = mean_and_sd(values)
    return f"{100 * mean:.1f}" if sd is None else f"{100 * mean:.1f} ± {100 * sd:.1f}"
