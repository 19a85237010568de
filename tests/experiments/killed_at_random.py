"""Runners that are killed. Run by ``test_executors.py`` in a process of its own, which forks and so has no threads.

``random PATH RUNS KILLS``: a runner with two workers is started again and again and killed at a random moment, alone,
or with its workers, or one of its workers alone, until so many kills are done; a last one is left to finish.
``others FOLDER``: one run kills its worker; a runner gets SIGINT; another machine has claimed a run.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from lnp.experiments import worker
from lnp.experiments.claims import Claimed, claim
from lnp.experiments.executors import ProcessExecutor
from lnp.experiments.grid import Choice
from lnp.experiments.jobs import Event, Job, perform
from lnp.experiments.processes import Owner
from lnp.experiments.reproduce import make_plan, reproduce
from lnp.experiments.store import Store
from lnp.experiments.tables import Table, parse_table

TABLE = """
title = "tiny"
source = "a test"
seeds = {runs}
[protocols]
paper = {{ protocol = "random" }}
[[panel]]
noise = "flip"
datasets = ["synthetic:nodes=60,classes=3,features=8,mean_degree=6"]
rates = [0.4]
methods = ["clean-only"]
trusted_sizes = [9]
[panel.variants]
short = {{ epochs = {epochs}, hidden = 4 }}
"""


def make_table(runs: int, epochs: int) -> Table:
    return parse_table("tiny", TABLE.format(runs=runs, epochs=epochs))


def start_runner(path: Path, table: Table) -> int:
    """Forks a runner in a process group of its own."""
    pid = os.fork()
    if pid:
        with suppress(PermissionError, ProcessLookupError):
            os.setpgid(pid, pid)
        return pid
    code = 1
    try:
        os.setpgid(0, 0)
        with Store(path) as store:
            reproduce(make_plan([table], Choice(), store), ProcessExecutor(2, start="fork"), store)
        code = 0
    except KeyboardInterrupt:
        code = 130
    finally:
        os._exit(code)


def children(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def kill_once(pid: int, way: str, generator: np.random.Generator) -> bool:
    """Whether there was something to kill."""
    with suppress(ProcessLookupError):
        if way == "one worker":
            workers = children(pid)
            if not workers:
                return False
            os.kill(int(generator.choice(workers)), signal.SIGKILL)
        elif way == "runner":
            os.kill(pid, signal.SIGKILL)
        else:
            os.killpg(pid, signal.SIGKILL)
        return True
    return False


def at_random(path: Path, runs: int, kills: int) -> None:
    generator, table = np.random.default_rng(0), make_table(runs, epochs=60)
    with Store(path) as store:
        make_plan([table], Choice(), store)  # checksums and code versions are known from here on
    done = 0
    while done < kills:
        pid = start_runner(path, table)
        time.sleep(generator.uniform(0.02, 0.5))
        way = str(generator.choice(["runner", "all", "one worker"]))
        if os.waitpid(pid, os.WNOHANG) != (0, 0):
            raise SystemExit(f"all runs were finished after {done} kills; make them longer")
        done += kill_once(pid, way, generator)
        if way == "one worker":
            time.sleep(0.1)
            os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    pid = start_runner(path, table)
    assert os.waitpid(pid, 0)[1] == 0
    with Store(path) as store:
        plan = make_plan([table], Choice(), store)
        assert not plan.jobs
        assert not store.failures()
        seeds = sorted(run.spec["seed"] for run in store.runs())
        assert seeds == list(range(runs)), seeds
        again = perform(Job(plan.runs[3].identity, plan.runs[3].grid_run.spec))
        (kept,) = store.runs({again.identity.key})
        assert kept.record["test_accuracy"] == again.record["test_accuracy"]
    state = sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone()[0]
    sys.stdout.write(f"{len(seeds)} of {runs}, {done} kills, integrity {state}\n")


def deadly(path: Path) -> None:
    events: list[Event] = []
    with Store(path) as store:
        jobs = make_plan([make_table(4, epochs=2)], Choice(), store).jobs

        def perform_or_die(job: Job, **options: object) -> object:
            if job.spec.seed == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            return perform(job)

        worker.perform = perform_or_die  # type: ignore[assignment]
        ProcessExecutor(2, start="fork").run(jobs, store, events.append)
        bad = [event.kind for event in events if event.job.spec.seed == 1]
        (failure,) = store.failures()
        finished = sum(event.kind == "finished" for event in events)
        assert len(store) == finished
        assert failure.spec["seed"] == 1
        sys.stdout.write(f"{' '.join(bad)} {finished} finished {failure.reason.split()[5]}\n")


def interrupted(path: Path) -> None:
    table = make_table(2, epochs=100_000)
    pid = start_runner(path, table)
    with Store(path) as store:
        keys = [job.identity.key for job in make_plan([table], Choice(), store).jobs]
        with store.transaction() as connection:  # opened, so that the loop below only reads
            pass
        while connection.execute("SELECT count(*) FROM claims").fetchone()[0] < 2:
            time.sleep(0.05)
        began = time.monotonic()
        os.killpg(pid, signal.SIGINT)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert code == 130, code
        assert time.monotonic() - began < 10
        free = [claim(store, key) for key in keys] == [Claimed.YES] * 2
        sys.stdout.write(f"interrupted {'free' if free else 'claimed'}\n")


def elsewhere(path: Path) -> None:
    """The first claim is of a machine far away, which finishes its run when the second is done."""
    events: list[Event] = []
    with Store(path) as store:
        jobs = make_plan([make_table(2, epochs=2)], Choice(), store).jobs
        assert claim(store, jobs[0].identity.key, Owner("another machine", 1, 1)) is Claimed.YES
        pid = os.fork()
        if not pid:
            with Store(path) as own:
                while len(own) < 1:
                    time.sleep(0.05)
                own.add(perform(jobs[0]))
            os._exit(0)
        ProcessExecutor(1, start="fork").run(jobs, store, events.append)
        assert os.waitpid(pid, 0)[1] == 0
        assert [event.job for event in events] == [jobs[1], jobs[0]]
        sys.stdout.write(" ".join(event.kind for event in events) + "\n")


def others(folder: Path) -> None:
    for act in (interrupted, elsewhere, deadly):
        act(folder / f"{act.__name__}.sqlite")


if __name__ == "__main__":
    # Whoever starts the tests in the background may have told them to ignore this one.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    what, where, *numbers = sys.argv[1:]
    {"random": at_random, "others": others}[what](Path(where), *map(int, numbers))
