"""What a log says of long work: a line a minute, where there is no terminal for a bar.

A grid on a cluster, a night's search, a container: their standard error is a file, in which a bar would be noise and
silence would leave one to guess. Work of less than a minute writes nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

__all__ = ["LogLines"]

EVERY = 60.0
"""Seconds between two lines."""


class LogLines:
    """Writes ``label: done of total, what, time so far, time left`` to standard error, at most once a minute.

    Args:
        label: What the work is.
        total: Steps in all.
        clock: Gives seconds; another one in tests.
    """

    def __init__(self, label: str, total: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._label = label
        self._total = total
        self._clock = clock
        self._begun = self._last = clock()

    def at(self, done: int, what: str) -> None:
        """Says that ``done`` steps are done; what is left takes as long a step as those before."""
        now = self._clock()
        if now - self._last < EVERY:
            return
        self._last = now
        elapsed = now - self._begun
        left = f", about {_clock_time(elapsed / done * (self._total - done))} left" if done else ""
        sys.stderr.write(f"{self._label}: {done} of {self._total}, {what}; {_clock_time(elapsed)} so far{left}\n")
        sys.stderr.flush()


def _clock_time(seconds: float) -> str:
    """Hours, minutes and seconds.

    >>> _clock_time(3725.4), _clock_time(59.6)
    ('1:02:05', '0:01:00')
    """
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}"
