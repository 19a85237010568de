"""A progress bar over the epochs of one fit.

::

    with epoch_progress("lnp-v2 on digits") as on_epoch:
        fit(method, batch, selection, randomness, FitOptions(on_epoch=on_epoch))

The bar goes to standard error and vanishes at the end, so that what a program prints stays clean. Where standard
error is not a terminal it gets a line a minute instead. An interrupt (Ctrl-C) leaves the ``with`` block, which
restores the terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lnp.engine.history import EpochRecord
from lnp.engine.log_lines import LogLines

__all__ = ["OnEpoch", "describe_epoch", "epoch_progress", "say"]

OnEpoch = Callable[[EpochRecord, int], None]
"""Called with every epoch's record and the number of epochs of its stage."""


def say(line: str) -> None:
    """A line on standard error."""
    sys.stderr.write(f"{line}\n")


@contextmanager
def epoch_progress(label: str, *, enabled: bool = True) -> Iterator[OnEpoch | None]:
    """Gives a callback for :class:`~lnp.engine.fit.FitOptions` that draws one bar per stage, or logs a line a minute.

    Args:
        label: What is being trained, shown before the stage's name.
        enabled: ``False`` shows nothing.

    Yields:
        The callback, or ``None`` when nothing is to be shown.
    """
    if not enabled:
        yield None
        return
    if not sys.stderr.isatty():
        yield _log_lines(label)
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
    from rich.table import Column

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        # What is left of the line: in a narrow terminal the terms are cut, not the bar.
        TextColumn("{task.fields[status]}", style="dim", markup=False, table_column=Column(ratio=1, no_wrap=True)),
        console=Console(stderr=True),
        transient=True,
        expand=True,
    )
    rows: dict[str, TaskID] = {}

    def on_epoch(record: EpochRecord, epochs: int) -> None:
        if record.stage not in rows:
            rows[record.stage] = bar.add_task(f"{escape(label)} · {escape(record.stage)}", total=epochs, status="")
        bar.update(rows[record.stage], completed=record.epoch + 1, status=describe_epoch(record))

    with bar:
        yield on_epoch


def _log_lines(label: str) -> OnEpoch:
    stages: dict[str, LogLines] = {}

    def on_epoch(record: EpochRecord, epochs: int) -> None:
        if record.stage not in stages:
            stages[record.stage] = LogLines(f"{label} · {record.stage}", epochs)
        stages[record.stage].at(record.epoch + 1, describe_epoch(record))

    return on_epoch


def describe_epoch(record: EpochRecord) -> str:
    """The terms and, where the rule has one, the score.

    >>> describe_epoch(EpochRecord("train", 0, {"kl": 0.25, "prior_ce": 1.5}, 0.75, True))
    'kl 0.25  prior_ce 1.5  score 0.75'
    """
    parts = [f"{name} {value:.3g}" for name, value in record.terms.items()]
    if record.score == record.score:
        parts.append(f"score {record.score:.3g}")
    return "  ".join(parts)
