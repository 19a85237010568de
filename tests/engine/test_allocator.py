from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from lnp.engine import allocator
from lnp.engine.allocator import LARGE_PAGES, ask_for_large_pages, give_back, has_room, keep_freed_memory
from lnp.engine.available import LIMIT

SCRIPT = """
import resource, sys
from lnp.engine.allocator import keep_freed_memory
import torch

def faults(times):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        torch.ones(2**24)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def held():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

torch.set_num_threads(1)
said = []
after = keep_freed_memory(0, lambda *args: said.append(args)) if sys.argv[1] == "keep" else None
faults(3)
print(faults(10))
if after is not None:
    before = held()
    after("record", 7)  # more is held than nothing: what is free goes back
    print(before - held())
    assert said == [("record", 7)]
"""

gnu = pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or not Path("/proc/self/statm").exists(), reason="only the GNU library on Linux"
)


def counts(way: str) -> list[int]:
    environment = os.environ | {LARGE_PAGES: "1" if way == "keep" else "0", "OMP_NUM_THREADS": "1"}
    script = [sys.executable, "-c", SCRIPT, way]
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=True)
    return [int(line) for line in done.stdout.split()]


@gnu
def test_what_is_freed_is_used_again_and_goes_back_when_it_is_too_much() -> None:
    pages = 10 * 2**24 * 4 // os.sysconf("SC_PAGE_SIZE")
    assert counts("return")[0] >= pages  # every page anew, ten times
    again, given_back = counts("keep")
    assert again <= pages / 20
    assert given_back >= 0.9 * 2**24 * 4


TAKES_BEFOREHAND = """
import resource
from lnp.engine.allocator import keep_freed_memory
from lnp.engine.available import resident_bytes
import torch

torch.set_num_threads(1)
torch.ones(8).sum()
before = resident_bytes()
keep_freed_memory(before, beforehand=True)
print(resident_bytes() - before)
faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
torch.ones(before // 16)  # a quarter of what was held, half of what was taken
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults)
print(before)
"""


@gnu
def test_room_taken_beforehand_is_there_when_it_is_asked_for() -> None:
    environment = os.environ | {LARGE_PAGES: "0", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", TAKES_BEFOREHAND], env=environment, capture_output=True, text=True, check=True
    )
    taken, faults, before = map(int, done.stdout.split())
    assert taken == pytest.approx(before / 2, rel=0.1)  # ROOM is 1.5
    assert faults <= before / 4 / os.sysconf("SC_PAGE_SIZE") / 20


def test_there_is_room_for_three_times_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, "12GiB")
    assert has_room(4 * 2**30)
    assert not has_room(4 * 2**30 + 1)
    assert has_room(2 * 2**30, processes=2)
    assert not has_room(2 * 2**30 + 1, processes=2)
    monkeypatch.setenv(LIMIT, "none")
    assert has_room(2**60)


def test_other_libraries_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allocator.platform, "libc_ver", lambda: ("", ""))
    monkeypatch.setattr(allocator.ctypes, "CDLL", None)  # would fail if it were asked for
    assert keep_freed_memory(1, print) is print
    give_back()


def test_what_the_user_says_about_large_pages_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LARGE_PAGES, "0")
    ask_for_large_pages()
    assert os.environ[LARGE_PAGES] == "0"
    monkeypatch.delenv(LARGE_PAGES)
    ask_for_large_pages()
    assert os.environ[LARGE_PAGES] == "1"
    monkeypatch.delenv(LARGE_PAGES)
