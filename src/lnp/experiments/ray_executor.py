"""Runs on a Ray cluster: the same jobs, the same store.

The store is a file on the driver's machine, so the driver claims, and writes what comes home. A run whose node or
worker dies is given to another one. Every node needs this package, at the same version, and the same data; a node
where either differs refuses the run, because the result would not be that of its key.
"""

from __future__ import annotations

import os
import time
from collections import deque
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from lnp.errors import ConfigError
from lnp.experiments.claims import Claimed, claim, release, renew
from lnp.experiments.identity import DatasetFacts, dataset_facts, identify
from lnp.experiments.jobs import BEAT, Event, Job, OnEvent, describe_error, perform
from lnp.experiments.records import Finished
from lnp.experiments.store import Store

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["RayExecutor"]

ATTEMPTS = 4
"""How often a run whose node or worker dies is begun: nodes go for reasons that are not the run's."""

POLL = 0.5


@dataclass(frozen=True)
class RayExecutor:
    """Tasks of one processor each on a cluster.

    Args:
        address: "auto" for the cluster that this machine belongs to, ``HOST:PORT``, ``ray://HOST:PORT``, or "local" to
            start Ray on this machine.
        workers: At most so many runs at a time; as many as the cluster has processors by default.
        threads: Threads of torch, and processors, of each run.
    """

    address: str = "auto"
    workers: int | None = None
    threads: int = 1

    def run(self, jobs: list[Job], store: Store, on_event: OnEvent) -> None:
        """Returns when every job is finished or has failed; an interrupt gives up what is under way."""
        ray = import_ray()
        started = not ray.is_initialized()
        if started:
            _connect(ray, self.address)
        dispatch = _Dispatch(ray, self, store, on_event, deque(jobs))
        try:
            dispatch.work()
        finally:
            dispatch.stop()
            if started:
                ray.shutdown()


def import_ray() -> ModuleType:
    """The module, or an error that says how to get it."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # what Ray will do by itself in future
    try:
        import ray
    except ImportError as error:
        raise ConfigError(
            "Expected the package ray for `--ray`, but it is not installed. Run pip install 'lnp[ray]', or leave "
            "`--ray` out to use processes on this machine."
        ) from error
    module: ModuleType = ray
    return module


def _connect(ray: Any, address: str) -> None:
    try:
        ray.init(address=None if address == "local" else address, log_to_driver=False, logging_level="error")
    except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
        raise ConfigError(
            f"Expected a Ray cluster at {address!r}, but got {describe_error(error)}. Start one with `ray start "
            "--head`, or use `--ray local`."
        ) from error


@dataclass(eq=False)
class _Dispatch:
    """What is under way on the cluster."""

    ray: Any
    settings: RayExecutor
    store: Store
    on_event: OnEvent
    waiting: deque[Job]
    running: dict[Any, Job] = field(default_factory=dict)
    busy_elsewhere: list[Job] = field(default_factory=list)
    attempts: dict[str, int] = field(default_factory=dict)
    renewed: float = field(default_factory=time.monotonic)

    def work(self) -> None:
        threads = self.settings.threads
        task = self.ray.remote(num_cpus=threads, max_retries=0)(_perform_there)
        while self.waiting or self.running or self.busy_elsewhere:
            while self.waiting and len(self.running) < self._slots():
                job = self.waiting.popleft()
                answer = claim(self.store, job.identity.key)
                if answer is Claimed.YES:
                    self.running[task.remote(job, threads, os.environ.get("LNP_DATA"))] = job
                elif answer is Claimed.DONE:
                    self.on_event(Event("elsewhere", job))
                else:
                    self.busy_elsewhere.append(job)
            self._collect()
            self._stay_alive()

    def stop(self) -> None:
        """Gives up what is under way, for others to take."""
        for reference, job in self.running.items():
            self.ray.cancel(reference, force=True)
            release(self.store, job.identity.key)
        self.running.clear()

    def _slots(self) -> int:
        processors = int(self.ray.cluster_resources().get("CPU", 0)) // self.settings.threads  # nodes come and go
        return max(1, processors if self.settings.workers is None else min(processors, self.settings.workers))

    def _collect(self) -> None:
        if not self.running:
            time.sleep(POLL)
            self.waiting.extend(self.busy_elsewhere)
            self.busy_elsewhere.clear()
            return
        ready, _ = self.ray.wait(list(self.running), timeout=POLL)
        for reference in ready:
            job = self.running.pop(reference)
            try:
                done: Finished = self.ray.get(reference)
            except self.ray.exceptions.RayTaskError as error:  # the run itself: it would be so again
                self._fail(job, describe_error(error.cause or error))
            except self.ray.exceptions.RayError as error:  # its node or worker
                self._try_again(job, describe_error(error))
            else:
                self.store.add(done)
                self.on_event(Event("finished", job))

    def _try_again(self, job: Job, reason: str) -> None:
        key = job.identity.key
        self.attempts[key] = self.attempts.get(key, 0) + 1
        if self.attempts[key] >= ATTEMPTS:
            self._fail(job, f"{reason}, {ATTEMPTS} times")
            return
        release(self.store, key)
        self.waiting.append(job)
        self.on_event(Event("retried", job, reason))

    def _fail(self, job: Job, reason: str) -> None:
        self.store.add_failure(job.identity.key, asdict(job.spec), reason)
        self.on_event(Event("failed", job, reason))

    def _stay_alive(self) -> None:
        if time.monotonic() - self.renewed > BEAT:
            self.renewed = time.monotonic()
            renew(self.store, [job.identity.key for job in self.running.values()])


_FACTS: dict[str, DatasetFacts] = {}


def _perform_there(job: Job, threads: int, data: str | None) -> Finished:
    """Carries out a run on a node, if it would be the same run there."""
    if data is not None:
        os.environ.setdefault("LNP_DATA", data)
    here = identify(job.spec, dataset_facts(job.spec.dataset, _FACTS))
    if here != job.identity:
        what = "code" if here.settings == job.identity.settings else "data"
        raise ConfigError(f"Expected the same {what} on every node, but node {os.uname().nodename} has other {what}.")
    return perform(job, threads=threads)
