"""Bars over whole runs or trials, on standard error, gone when they are done; in a log, a line a minute."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lnp.engine.log_lines import LogLines

__all__ = ["run_progress", "step_progress"]


@contextmanager
def run_progress(label: str, total: int) -> Iterator[Callable[[str, int], None]]:
    """Gives a callback that takes the method and seed of a finished run."""
    if not sys.stderr.isatty():
        advance = _log_lines(label, total)
        yield lambda method, seed: advance(f"{method}, seed {seed} done", 1)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)

        def on_run(method: str, seed: int) -> None:
            bar.update(task, advance=1, description=f"{label}: {method}, seed {seed} done")

        yield on_run


@contextmanager
def step_progress(label: str, total: int) -> Iterator[Callable[[str, int], None]]:
    """Gives a callback that takes what has just been done and how many steps it was, and shows the time that is left.

    No steps, no bar.
    """
    if not sys.stderr.isatty() or total == 0:
        yield _log_lines(label, total)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn())
    left = (TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, *left, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)

        def advance(what: str, steps: int) -> None:
            bar.update(task, advance=steps, description=f"{label}: {what}")

        yield advance


def _log_lines(label: str, total: int) -> Callable[[str, int], None]:
    lines = LogLines(label, total)
    done = 0

    def advance(what: str, steps: int) -> None:
        nonlocal done
        done += steps
        lines.at(done, what)

    return advance
