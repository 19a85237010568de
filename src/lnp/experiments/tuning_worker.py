"""A process that scores configurations for ``lnp tune``, kept for many trials; it loads each dataset once."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import torch

from lnp.datasets.catalog import load_dataset
from lnp.datasets.dataset import Dataset
from lnp.experiments.jobs import describe_error
from lnp.experiments.spec import RunSpec
from lnp.experiments.tuning_objective import Hopeless, Report, score
from lnp.experiments.worker import POLL

__all__ = ["Ended", "OnTheWay", "TrialTask", "attempt", "serve"]


@dataclass(frozen=True)
class TrialTask:
    """What to score; see :func:`lnp.experiments.tuning_objective.score`."""

    spec: RunSpec
    seeds: int


@dataclass(frozen=True)
class OnTheWay:
    """A score on the way. The answer is whether to give up."""

    step: int
    value: float


@dataclass(frozen=True)
class Ended:
    """What became of a trial.

    Args:
        kind: "complete", "pruned" or "failed".
        seconds: How long it took.
        value: The score, if complete.
        reason: Why it failed.
    """

    kind: str
    seconds: float
    value: float | None = None
    reason: str = ""


def serve(pipe: Connection, threads: int, parent: int, crew: int = 1) -> None:
    """A worker, one of ``crew``: takes tasks until it is let go or the parent is gone."""
    torch.set_num_threads(threads)
    datasets: dict[str, Dataset] = {}
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            task: TrialTask | None = _receive(pipe, parent)
            if task is None:
                return
            if task.spec.dataset not in datasets:
                datasets[task.spec.dataset] = load_dataset(task.spec.dataset)

            def report(step: int, value: float) -> bool:
                pipe.send(OnTheWay(step, value))
                return bool(_receive(pipe, parent))

            pipe.send(attempt(task, datasets[task.spec.dataset], report, keepers=crew))


def attempt(task: TrialTask, dataset: Dataset, report: Report | None = None, *, keepers: int = 0) -> Ended:
    """Scores a configuration. One that cannot be scored is no error of the search."""
    started = time.perf_counter()

    def ended(kind: str, value: float | None = None, reason: str = "") -> Ended:
        return Ended(kind, time.perf_counter() - started, value, reason)

    try:
        return ended("complete", score(task.spec, dataset, seeds=task.seeds, keepers=keepers, report=report))
    except Hopeless:
        return ended("pruned")
    except (EOFError, BrokenPipeError, ConnectionResetError):  # the parent is gone
        raise
    except Exception as error:
        return ended("failed", reason=describe_error(error))


def _receive(pipe: Connection, parent: int) -> Any:
    while not pipe.poll(POLL):
        if os.getppid() != parent:
            raise EOFError
    return pipe.recv()
