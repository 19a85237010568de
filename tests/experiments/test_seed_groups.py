"""Seeds in groups, some of them in processes of their own."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lnp.errors import ConfigError, WorkerError
from lnp.experiments import seed_groups
from lnp.experiments.seed_groups import Records, cut, train_in_groups

linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As where there are two cores and this process has no thread of its test runner."""
    monkeypatch.setattr(seed_groups.threading, "active_count", lambda: 1)
    monkeypatch.setattr(seed_groups.os, "sched_getaffinity", lambda process: {3, 5}, raising=False)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def who(seeds: Sequence[int]) -> Records:
    return {seed: {"process": os.getpid(), "threads": torch.get_num_threads(), "square": seed**2} for seed in seeds}


@given(st.integers(2, 40), st.integers(1, 9))
def test_every_seed_is_in_one_group_and_groups_are_as_equal_as_can_be(count: int, most: int) -> None:
    groups = cut(list(range(count)), most)
    assert [seed for group in groups for seed in group] == list(range(count))
    sizes = [len(group) for group in groups]
    assert len(groups) <= most
    assert min(sizes) >= 2
    assert max(sizes) - min(sizes) <= 1
    assert len(groups) == most or len(groups) == count // 2


@linux
def test_a_group_is_trained_here_and_the_others_elsewhere_each_with_one_thread(two_cores: None) -> None:
    records = train_in_groups(who, who, [3, 4, 5, 6, 7])
    assert [(seed, record["square"]) for seed, record in records.items()] == [(s, s**2) for s in (3, 4, 5, 6, 7)]
    processes = [record["process"] for record in records.values()]
    assert processes[:3] == [os.getpid()] * 3
    assert processes[3] == processes[4] != os.getpid()
    assert {record["threads"] for record in records.values()} == {1}
    assert torch.get_num_threads() == 2  # as before


def test_with_one_core_or_beside_other_threads_nothing_is_forked(
    two_cores: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seed_groups.threading, "active_count", lambda: 2)
    assert {record["process"] for record in train_in_groups(who, who, range(5)).values()} == {os.getpid()}
    monkeypatch.setattr(seed_groups.threading, "active_count", lambda: 1)
    monkeypatch.setattr(seed_groups.os, "sched_getaffinity", lambda process: {3}, raising=False)
    assert {record["process"] for record in train_in_groups(who, who, range(5)).values()} == {os.getpid()}


def fails(seeds: Sequence[int]) -> Records:
    raise ConfigError(f"nothing of {list(seeds)}")


def dies(seeds: Sequence[int]) -> Records:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def waits(seeds: Sequence[int]) -> Records:
    threading.Event().wait(60)
    return {}


@linux
def test_what_goes_wrong_elsewhere_is_told_with_its_seeds(two_cores: None) -> None:
    with pytest.raises(WorkerError, match=r"Seeds 2, 3 were not finished: .*nothing of \[2, 3\]"):
        train_in_groups(who, fails, range(4))
    with pytest.raises(WorkerError, match="Seeds 2, 3 were not finished: the worker was ended by SIGKILL"):
        train_in_groups(who, dies, range(4))


@linux
def test_what_goes_wrong_here_ends_the_others_at_once(two_cores: None) -> None:
    begun = time.monotonic()
    with pytest.raises(ConfigError, match="nothing of"):
        train_in_groups(fails, waits, range(4))
    assert time.monotonic() - begun < 30  # they would have gone on for a minute
    assert torch.get_num_threads() == 2
