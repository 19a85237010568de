"""The other end of an executor's pipe: a process that claims runs, carries them out and writes them.

Writing here and not in the parent means that a run which is finished is kept, whoever is killed next.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path

from lnp.engine.allocator import LARGE_PAGES, ask_for_large_pages
from lnp.experiments.claims import Claimed, claim, release, renew
from lnp.experiments.jobs import Job, describe_error, perform
from lnp.experiments.store import Store

__all__ = ["POLL", "attempt", "environment", "obituary", "serve"]

POLL = 0.5
"""Seconds between looks at whether the parent lives, or another runner has finished a run."""

THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def serve(pipe: Connection, path: Path, threads: int, parent: int, crew: int = 1) -> None:
    """A worker, one of ``crew``: takes jobs until it is let go or the parent is gone."""
    with Store(path) as store, suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while os.getppid() == parent:
            if not pipe.poll(POLL):
                continue
            job: Job | None = pipe.recv()
            if job is None:
                return
            pipe.send(attempt(job, store, threads, keepers=crew))


def attempt(job: Job, store: Store, threads: int, *, keepers: int = 0) -> tuple[str, str]:
    """Claims a run and carries it out: what became of it, and why."""
    key = job.identity.key
    answer = claim(store, key)
    if answer is not Claimed.YES:
        return ("elsewhere" if answer is Claimed.DONE else answer.value), ""
    try:
        done = perform(job, threads=threads, keepers=keepers, beat=lambda: renew(store, [key]))
    except Exception as error:  # whatever it is, it would be so again: the others must go on
        store.add_failure(key, asdict(job.spec), describe_error(error))
        return "failed", describe_error(error)
    except BaseException:
        release(store, key)
        raise
    store.add(done)
    return "finished", ""


def obituary(exit_code: int | None) -> str:
    """How a worker ended, in words."""
    if exit_code is not None and exit_code < 0:
        name = signal.Signals(-exit_code).name
        return f"the worker was ended by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
    return f"the worker ended with code {exit_code}"


@contextmanager
def environment(threads: int) -> Iterator[None]:
    """What a process must be born with, put back at once.

    Its number of threads and the wish for large pages, which torch reads when it is imported, and deafness to an
    interrupt, which is the parent's to deal with.
    """
    before = {name: os.environ.get(name) for name in (*THREAD_VARIABLES, LARGE_PAGES)}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    ask_for_large_pages()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
