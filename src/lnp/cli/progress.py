"""A bar over whole runs, on standard error, gone when it is done."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["run_progress"]


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
