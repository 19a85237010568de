"""Bars over whole runs or trials, on standard error, gone when they are done."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["run_progress", "step_progress"]


@contextmanager
def run_progress(label: str, total: int) -> Iterator[Callable[[str, int], None] | None]:
    """Gives a callback that takes the method and seed of a finished run; ``None`` where there is no terminal."""
    if not sys.stderr.isatty():
        yield None
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
def step_progress(label: str, total: int) -> Iterator[Callable[[str, int], None] | None]:
    """Gives a callback that takes what has just been done and how many steps it was, and shows the time that is left.

    ``None`` where there is no terminal.
    """
    if not sys.stderr.isatty() or total == 0:
        yield None
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
