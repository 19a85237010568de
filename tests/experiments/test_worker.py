"""What a worker is born with, what it answers, and how its end is told."""

from __future__ import annotations

import os
import signal

import pytest

from lnp.engine.allocator import LARGE_PAGES
from lnp.experiments.claims import claim
from lnp.experiments.processes import Owner
from lnp.experiments.store import Store
from lnp.experiments.worker import attempt, environment, obituary


def test_a_run_is_finished_once_and_left_to_whoever_has_it(jobs, store: Store) -> None:
    first, second, *_ = jobs()
    assert attempt(first, store, 1) == ("finished", "")
    assert attempt(first, store, 1) == ("elsewhere", "")
    claim(store, second.identity.key, Owner("another machine", 1, 1))
    assert attempt(second, store, 1) == ("busy", "")
    assert store.finished_keys() == {first.identity.key}


def test_freed_memory_is_kept_where_there_is_room_for_all_workers(
    jobs, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []
    kept: list[int] = []

    def has_room(needed: int, processes: int = 1) -> bool:
        asked.append((needed, processes))
        return processes < 3

    monkeypatch.setattr("lnp.experiments.run.has_room", has_room)
    monkeypatch.setattr("lnp.experiments.run.keep_freed_memory", lambda needed, after: kept.append(needed) or after)
    for number, (job, keepers) in enumerate(zip(jobs(), (0, 2, 3), strict=False)):
        assert attempt(job, store, 1, keepers=keepers) == ("finished", ""), number
    assert [processes for _, processes in asked] == [2, 3]
    assert kept == [asked[0][0]]
    assert kept[0] > 0


def test_an_interrupt_gives_the_claim_back(jobs, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    (job, *_) = jobs()
    monkeypatch.setattr("lnp.experiments.worker.perform", interrupt)
    with pytest.raises(KeyboardInterrupt):
        attempt(job, store, 1)
    monkeypatch.undo()
    monkeypatch.setattr("lnp.experiments.processes.Owner.is_gone", lambda self: False)
    assert attempt(job, store, 1) == ("finished", "")


def test_threads_are_set_before_torch_is_imported_and_interrupts_kept_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    monkeypatch.delenv(LARGE_PAGES, raising=False)
    with environment(3):
        assert os.environ[LARGE_PAGES] == "1"
        assert os.environ["OMP_NUM_THREADS"] == os.environ["MKL_NUM_THREADS"] == "3"
        assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert os.environ["OMP_NUM_THREADS"] == "5"
    assert "MKL_NUM_THREADS" not in os.environ
    assert LARGE_PAGES not in os.environ


def test_reasons_are_words() -> None:
    assert obituary(-signal.SIGKILL) == "the worker was ended by SIGKILL (out of memory?)"
    assert obituary(-signal.SIGSEGV) == "the worker was ended by SIGSEGV"
    assert obituary(3) == "the worker ended with code 3"
