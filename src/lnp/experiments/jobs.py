"""What executors do: jobs in, events out. Every executor takes the same jobs and tells the same story."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch

from lnp.engine.allocator import give_back
from lnp.engine.fit import FitOptions
from lnp.engine.history import EpochRecord
from lnp.experiments.identity import Identity
from lnp.experiments.processes import peak_mib, reset_peak
from lnp.experiments.records import Finished, finished
from lnp.experiments.run import run
from lnp.experiments.spec import RunSpec
from lnp.experiments.store import Store

__all__ = ["Event", "Executor", "Job", "OnEvent", "describe_error", "perform"]

BEAT = 30.0
"""Seconds between signs of life."""


@dataclass(frozen=True)
class Job:
    """A run to be done."""

    identity: Identity
    spec: RunSpec


@dataclass(frozen=True)
class Event:
    """Something happened to a job.

    Args:
        kind: "finished"; "elsewhere" (another runner finished it); "retried" (its worker died, it will be run again);
            "failed".
        job: Which.
        reason: Why, for the last two.
    """

    kind: str
    job: Job
    reason: str = ""


OnEvent = Callable[[Event], None]


class Executor(Protocol):
    """Runs jobs and puts what they give into the store."""

    def run(self, jobs: list[Job], store: Store, on_event: OnEvent) -> None:
        """Returns when every job is finished or has failed; an interrupt stops at once and loses nothing finished."""


def perform(job: Job, *, threads: int = 1, keepers: int = 0, beat: Callable[[], None] | None = None) -> Finished:
    """Carries out a run in this process.

    Args:
        job: What to run.
        threads: Threads of torch.
        keepers: As for :func:`~lnp.experiments.run.run`.
        beat: Called now and then while the run goes on.
    """
    torch.set_num_threads(threads)
    last = time.monotonic()

    def on_epoch(record: EpochRecord, epochs: int) -> None:
        nonlocal last
        if beat is not None and time.monotonic() - last > BEAT:
            last = time.monotonic()
            beat()

    give_back()
    reset_peak()
    outcome = run(job.spec, options=FitOptions(on_epoch=on_epoch), keepers=keepers)
    return finished(job.identity, job.spec, outcome.record, outcome.result.history, peak_mib())


def describe_error(error: BaseException) -> str:
    """One line about an exception."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]
