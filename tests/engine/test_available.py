from __future__ import annotations

import os
import resource
from pathlib import Path

import numpy as np
import pytest

from lnp.engine.available import LIMIT, format_bytes, memory_limit, parse_bytes, resident_bytes
from lnp.errors import ConfigError

PAGE = resource.getpagesize()
GIB = 1024**3


@pytest.fixture(autouse=True)
def no_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(LIMIT, raising=False)


def machine(root: Path, files: dict[str, str]) -> Path:
    """A made-up ``proc`` and ``sys``: 100 pages are held, 8 GiB are left."""
    start = {
        "proc/self/statm": "900 100 50 1 0 80 0",
        "proc/meminfo": f"MemTotal: 1 kB\nMemAvailable:  {8 * 1024**2} kB\n",
    }
    for name, text in (start | files).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_without_a_container_it_is_what_the_machine_has_left(tmp_path: Path) -> None:
    assert memory_limit(machine(tmp_path, {})) == 100 * PAGE + 8 * GIB


@pytest.mark.parametrize("place", ["a/b/", "a/", ""])
def test_the_tightest_control_group_counts_and_its_cache_does_not(tmp_path: Path, place: str) -> None:
    files = {
        "proc/self/cgroup": "0::/a/b\n",
        "sys/fs/cgroup/a/memory.max": "max",
        "sys/fs/cgroup/a/memory.current": "5",
        f"sys/fs/cgroup/{place}memory.max": str(4 * GIB),
        f"sys/fs/cgroup/{place}memory.current": str(3 * GIB),
        f"sys/fs/cgroup/{place}memory.stat": f"anon 7\ninactive_file {GIB}\nactive_file 9\n",
    }
    assert memory_limit(machine(tmp_path, files)) == 100 * PAGE + 2 * GIB


def test_control_groups_of_version_1(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "9:cpu,cpuacct:/x\n4:memory:/docker/1\n",
        "sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes": str(3 * GIB),
        "sys/fs/cgroup/memory/docker/1/memory.usage_in_bytes": str(GIB),
        "sys/fs/cgroup/memory/docker/1/memory.stat": "total_inactive_file 4096\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": str(2 * GIB),
    }
    assert memory_limit(machine(tmp_path, files)) == 100 * PAGE + 2 * GIB + 4096


def test_a_group_that_is_full_leaves_what_the_process_holds(tmp_path: Path) -> None:
    files = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "10", "sys/fs/cgroup/memory.current": "99"}
    assert memory_limit(machine(tmp_path, files)) == 100 * PAGE


def test_without_proc_it_asks_the_system(tmp_path: Path) -> None:
    limit = memory_limit(tmp_path)
    assert limit is not None
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < limit <= total + resident_bytes(tmp_path)


def test_resident_memory_grows_with_an_array() -> None:
    before = resident_bytes()
    array = np.ones(2**23)  # 64 MiB, touched
    assert 60 * 2**20 < resident_bytes() - before < 80 * 2**20
    assert array[0] == 1


def test_the_user_has_the_last_word(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for wish, expected in (("12GiB", 12 * GIB), ("none", None), (" 500 mb ", 500_000_000)):
        monkeypatch.setenv(LIMIT, wish)
        assert memory_limit(machine(tmp_path, {})) == expected


@pytest.mark.parametrize("text", ["much", "12 apples", "-3GB", ""])
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="LNP_MEMORY_LIMIT"):
        parse_bytes(text)


def test_words() -> None:
    assert format_bytes(1024**3 - 1) == "1024 MiB"
    assert format_bytes(parse_bytes("2.5TiB")) == "2560.0 GiB"
