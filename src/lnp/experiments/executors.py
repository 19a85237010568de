"""Runs on one machine, each in a process of its own kind, several at a time.

A worker claims a run, carries it out and writes the result itself, in one transaction. So when the parent is killed
without warning nothing is lost: an orphan finishes its run, writes it, finds the parent gone and ends. When a worker is
killed its claim is void, and the parent gives the run to a fresh worker, once.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import deque
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from lnp.errors import check_choice, check_range
from lnp.experiments.claims import Claimed
from lnp.experiments.jobs import Event, Job, OnEvent
from lnp.experiments.next_job import take_next
from lnp.experiments.processes import dismiss
from lnp.experiments.store import Store
from lnp.experiments.worker import POLL, environment, obituary, serve

__all__ = ["ProcessExecutor"]

ATTEMPTS = 2
"""How often a run whose worker dies is begun."""


@dataclass(frozen=True)
class ProcessExecutor:
    """Worker processes, kept for many runs.

    Args:
        workers: How many.
        threads: Threads of torch in each.
        start: How they are started: "spawn", from nothing, or "fork", at once, where this process has no other thread.
    """

    workers: int = 1
    threads: int = 1
    start: str = "spawn"

    def __post_init__(self) -> None:
        check_range("workers", self.workers, 1, 1024)
        check_range("threads", self.threads, 1, 1024)
        check_choice("start", self.start, ("spawn", "fork"))

    def run(self, jobs: list[Job], store: Store, on_event: OnEvent) -> None:
        """Returns when every job is finished or has failed; an interrupt ends the workers at once."""
        crew = _Crew(self, store, on_event, deque(jobs))
        try:
            crew.work(min(self.workers, len(jobs)))
        finally:
            crew.dismiss()


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    pipe: Connection
    job: Job | None = None
    last: Job | None = None


@dataclass(eq=False)
class _Crew:
    """The workers of one call, and what is left for them."""

    settings: ProcessExecutor
    store: Store
    on_event: OnEvent
    waiting: deque[Job]
    busy_elsewhere: list[Job] = field(default_factory=list)
    workers: list[_Worker] = field(default_factory=list)
    attempts: dict[str, int] = field(default_factory=dict)
    looked: float = 0.0

    def work(self, count: int) -> None:
        while self.waiting or self.busy_elsewhere or any(worker.job for worker in self.workers):
            self._look_again()
            while self.waiting and len(self.workers) < count:
                self.workers.append(self._hire())
            for worker in self.workers:
                if worker.job is None and self.waiting:
                    others = [other.job for other in self.workers if other.job is not None]
                    self._give(worker, take_next(self.waiting, worker.last, others))
            for worker in self._ready():
                self._hear(worker)

    def dismiss(self) -> None:
        """Lets idle workers go and ends those at work, whose claims are void with them."""
        dismiss((worker.process, worker.pipe, worker.job is not None) for worker in self.workers)
        self.workers.clear()

    def _hire(self) -> _Worker:
        ours, theirs = multiprocessing.Pipe()
        threads, context = self.settings.threads, multiprocessing.get_context(self.settings.start)
        # mypy knows one context only by its general name, which has no Process.
        process = context.Process(  # type: ignore[attr-defined]
            target=serve,
            args=(theirs, self.store.path, threads, os.getpid(), self.settings.workers),
            daemon=True,
        )
        with environment(threads):
            process.start()
        theirs.close()
        return _Worker(process, ours)

    def _give(self, worker: _Worker, job: Job) -> None:
        worker.job = worker.last = job
        with suppress(BrokenPipeError):  # it died while idle; that is heard next
            worker.pipe.send(job)

    def _ready(self) -> list[_Worker]:
        if not self.workers:
            time.sleep(POLL)
            return []
        readable = wait([worker.pipe for worker in self.workers], POLL if self.busy_elsewhere else None)
        return [worker for worker in self.workers if worker.pipe in readable]

    def _hear(self, worker: _Worker) -> None:
        try:
            kind, reason = worker.pipe.recv()
        except (EOFError, ConnectionResetError):
            self._bury(worker)
            return
        job, worker.job = worker.job, None
        assert job is not None
        if kind == Claimed.BUSY.value:
            self.busy_elsewhere.append(job)
        else:
            self.on_event(Event(kind, job, reason))

    def _bury(self, worker: _Worker) -> None:
        worker.process.join()
        worker.pipe.close()
        self.workers.remove(worker)
        job = worker.job
        if job is None or job.identity.key in self.store:  # it died after its run was written
            if job is not None:
                self.on_event(Event("finished", job))
            return
        key, reason = job.identity.key, obituary(worker.process.exitcode)
        self.attempts[key] = self.attempts.get(key, 0) + 1
        if self.attempts[key] < ATTEMPTS:
            self.waiting.append(job)
            self.on_event(Event("retried", job, reason))
        else:
            self.store.add_failure(key, asdict(job.spec), f"{reason}, {ATTEMPTS} times")
            self.on_event(Event("failed", job, reason))

    def _look_again(self) -> None:
        if self.busy_elsewhere and not self.waiting and time.monotonic() - self.looked > POLL:
            self.looked = time.monotonic()
            self.waiting.extend(self.busy_elsewhere)
            self.busy_elsewhere.clear()
