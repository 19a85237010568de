"""Timing of contestants that take turns, and the rows of a table."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Step = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One line of a table: what was timed, how long it took, and the ratio to the reference with its target."""

    graph: str
    what: str
    milliseconds: float
    ratio: float | None = None
    target: float | None = None
    at_most: bool = False

    @property
    def mark(self) -> str:
        """Whether the target is met; empty without one."""
        if self.ratio is None or self.target is None:
            return ""
        met = self.ratio <= self.target if self.at_most else self.ratio >= self.target
        return "met" if met else "MISSED"


def measure(contestants: dict[str, Step], *, seconds: float = 6.0, warm_up: int = 3) -> dict[str, float]:
    """Median milliseconds of each contestant; they take turns until the time is up (at least seven rounds)."""
    for step in contestants.values():
        for _ in range(warm_up):
            step()
    times: dict[str, list[float]] = {name: [] for name in contestants}
    started = time.perf_counter()
    while time.perf_counter() - started < seconds or len(times[next(iter(times))]) < 7:
        for name, step in contestants.items():
            before = time.perf_counter()
            step()
            times[name].append(time.perf_counter() - before)
    return {name: 1000 * float(np.median(taken)) for name, taken in times.items()}
