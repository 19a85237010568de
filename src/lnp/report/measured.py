"""Means of a few runs with their standard errors, and when two of them differ."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from lnp.report.statistics import mean_and_sd

__all__ = ["ERRORS", "Difference", "Measured", "difference", "measured"]

ERRORS = 2.0
"""Two means differ where they are more than so many standard errors apart."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Measured:
    """The mean of some runs.

    Args:
        mean: In per cent, mostly.
        sd: The standard deviation of a sample; one run has none.
        runs: How many there are.
    """

    mean: float
    sd: float | None
    runs: int

    @property
    def error(self) -> float | None:
        """The standard error of the mean, sd / √n."""
        return None if self.sd is None else self.sd / math.sqrt(self.runs)


@dataclass(frozen=True)
class Difference:
    """A difference of two means with its standard error; ``None`` where it is not known."""

    value: float
    error: float | None

    @property
    def side(self) -> str:
        """Where it lies: "within" two standard errors of zero, "above", "below", or "unknown" without an error."""
        if self.error is None:
            return "unknown"
        if abs(self.value) <= ERRORS * self.error + ROUNDING:
            return "within"
        return "above" if self.value > 0 else "below"


def measured(shares: Iterable[float]) -> Measured | None:
    """Shares as a mean in per cent; ``None`` where there are none.

    >>> measured([0.5, 0.7]), measured([0.5]), measured([])
    (Measured(mean=60.0, sd=14.142135623730951, runs=2), Measured(mean=50.0, sd=None, runs=1), None)
    """
    values = [100 * share for share in shares]
    return Measured(*mean_and_sd(values), len(values)) if values else None


def difference(first: Measured, second: Measured) -> Difference:
    """``first`` − ``second``, both errors combined: √(e₁² + e₂²)."""
    errors = (first.error, second.error)
    known = [error for error in errors if error is not None]
    return Difference(first.mean - second.mean, math.hypot(*known) if len(known) == 2 else None)
