"""Seeds that are trained together, in groups: each in lock-step, and all groups but the first in a process of its own.

In lock-step (:mod:`lnp.engine.lockstep`) seeds share the overhead of short operations. Their work they do not share,
and an operation on a small graph is too short for a second thread to be of use. Groups of seeds are as long as a whole
run, so with several cores each takes one.

The processes are forked, and so begin at once with everything that is loaded. That is safe where this process has no
other thread and the system is Linux; elsewhere all seeds are one group.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from multiprocessing.connection import Connection
from typing import Any

import torch

from lnp.errors import WorkerError
from lnp.experiments.jobs import describe_error
from lnp.experiments.processes import dismiss
from lnp.experiments.worker import obituary

__all__ = ["Records", "cut", "train_in_groups"]

Records = dict[int, dict[str, Any]]
"""Seed → its record."""

TrainGroup = Callable[[Sequence[int]], Records]


def cut(seeds: Sequence[int], most: int) -> list[list[int]]:
    """At most so many groups of two seeds or more, as equal as can be, the largest first.

    >>> cut([0, 1, 2, 3, 4], 2), cut([0, 1, 2], 2)
    ([[0, 1, 2], [3, 4]], [[0, 1, 2]])
    """
    count = max(1, min(most, len(seeds) // 2))
    size, larger = divmod(len(seeds), count)
    ends = [number * size + min(number, larger) for number in range(count + 1)]
    return [list(seeds[start:end]) for start, end in pairwise(ends)]


def train_in_groups(here: TrainGroup, elsewhere: TrainGroup, seeds: Sequence[int]) -> Records:
    """The records of all seeds.

    Args:
        here: Trains the first group, in this process, and may show progress.
        elsewhere: Trains another one, in a process that ends afterwards.
        seeds: Two or more. There are as many groups as this process may use cores, each with one thread.

    Raises:
        WorkerError: A process has failed or was ended. What it had finished is kept where ``elsewhere`` keeps it.
    """
    threads = torch.get_num_threads()
    groups = cut(seeds, _cores())
    if len(groups) == 1:
        return here(groups[0])
    torch.set_num_threads(1)
    helpers = [_Helper(elsewhere, group) for group in groups[1:]]
    try:
        records = here(groups[0])
        for helper in helpers:
            records |= helper.wait()
        return records
    finally:
        dismiss((helper.process, helper.pipe, helper.busy) for helper in helpers)
        torch.set_num_threads(threads)


def _cores() -> int:
    """How many cores can have a process each."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return 1
    return len(os.sched_getaffinity(0))


class _Helper:
    """A process with a group of seeds."""

    def __init__(self, train: TrainGroup, seeds: Sequence[int]) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("fork")
        self.process = context.Process(target=_serve, args=(theirs, train, seeds), daemon=True)
        self.process.start()
        theirs.close()
        self.seeds, self.busy = seeds, True

    def wait(self) -> Records:
        """What it found."""
        try:
            records, reason = self.pipe.recv()
        except EOFError:
            self.process.join()
            records, reason = {}, obituary(self.process.exitcode)
        self.busy = False
        if reason:
            raise WorkerError(
                f"Seeds {', '.join(map(str, self.seeds))} were not finished: {reason.rstrip('.')}. The same command "
                "goes on with what is left, if it has a folder to keep seeds in."
            )
        found: Records = records
        return found


def _serve(pipe: Connection, train: TrainGroup, seeds: Sequence[int]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's to deal with
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # and what the command line makes of this, as well
    torch.set_num_threads(1)
    try:
        answer: tuple[Records, str] = train(seeds), ""
    except Exception as error:  # the parent says it
        answer = {}, describe_error(error)
    with suppress(BrokenPipeError):
        pipe.send(answer)
