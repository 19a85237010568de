"""Runs in processes: the same numbers as here, deaths that block nobody, and kills that lose nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from lnp.errors import ConfigError
from lnp.experiments.executors import ProcessExecutor
from lnp.experiments.jobs import Event, perform
from lnp.experiments.store import Store

KILLS = Path(__file__).with_name("killed_at_random.py")


def accuracies(store: Store) -> dict[str, float]:
    return {run.key: run.record["test_accuracy"] for run in store.runs()}


def test_processes_give_the_numbers_of_this_process_and_a_failure_stops_nobody(jobs, store: Store) -> None:
    work = jobs()
    broken = replace(work[1], spec=replace(work[1].spec, trusted_size=10_000))
    events: list[Event] = []
    ProcessExecutor(workers=2).run([work[0], broken, *work[2:]], store, events.append)
    assert Counter(event.kind for event in events) == {"finished": 3, "failed": 1}
    good = [work[0], *work[2:]]
    assert accuracies(store) == {job.identity.key: perform(job).record["test_accuracy"] for job in good}
    (failure,) = store.failures()
    assert failure.key == broken.identity.key
    assert failure.reason.startswith("LabelError: Expected")


def test_at_least_one_worker() -> None:
    with pytest.raises(ConfigError, match="`workers`"):
        ProcessExecutor(workers=0)


def run_script(*arguments: object, timeout: float) -> str:
    done = subprocess.run(
        [sys.executable, str(KILLS), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_killed_at_random_moments_every_run_is_there_once(tmp_path: Path) -> None:
    said = run_script("random", tmp_path / "runs.sqlite", 24, 6, timeout=120)
    assert said.split() == ["24", "of", "24,", "6", "kills,", "integrity", "ok"]


@pytest.mark.slow
def test_fifty_kills_in_two_hundred_runs(tmp_path: Path) -> None:
    said = run_script("random", tmp_path / "runs.sqlite", 200, 50, timeout=900)
    assert said.split() == ["200", "of", "200,", "50", "kills,", "integrity", "ok"]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return run_script("others", tmp_path_factory.mktemp("others"), timeout=120).splitlines()


def test_an_interrupt_stops_quickly_and_leaves_no_claim_behind(said: list[str]) -> None:
    assert said[0] == "interrupted free"


def test_a_run_of_another_runner_is_waited_for(said: list[str]) -> None:
    assert said[1] == "finished elsewhere"


def test_a_worker_that_dies_twice_fails_its_run_and_no_other(said: list[str]) -> None:
    assert said[2] == "retried failed 3 finished SIGKILL"
