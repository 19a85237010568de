from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lnp.web import verdicts
from lnp.web.verdicts import VerdictStore

WRITER = Path(__file__).parent / "killed_writer.py"


def start_writer(path: Path, first: int, count: int, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITER), str(path), str(first), str(count), name]
    writer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    return writer


def go(writer: subprocess.Popen[str]) -> None:
    assert writer.stdin is not None
    writer.stdin.write("go\n")
    writer.stdin.flush()


def test_a_verdict_comes_back_as_it_was_said(tmp_path: Path) -> None:
    store = VerdictStore(tmp_path / "v.sqlite")
    before = datetime.now(UTC)
    number = store.add("n\n1", "take", "Ada", label="<b>", given="c")
    (said,) = store.since(0)
    assert (said.number, said.node, said.kind, said.label, said.given, said.reviewer) == (
        number, "n\n1", "take", "<b>", "c", "Ada",
    )  # fmt: skip
    when = datetime.fromisoformat(said.time)
    assert when.utcoffset() is not None
    assert when.utcoffset().total_seconds() == 0  # type: ignore[union-attr]
    assert abs((when - before).total_seconds()) < 10
    assert store.since(number) == []
    store.close()


def test_undo_takes_back_ones_own_last_verdict_and_deletes_nothing(tmp_path: Path) -> None:
    store = VerdictStore(tmp_path / "v.sqlite")
    first = store.add("n1", "accept", "Ada", label="a")
    store.add("n2", "accept", "Bob", label="a")
    second = store.add("n3", "skip", "Ada")
    taken = [store.undo("Ada") for _ in range(3)]
    assert [None if one is None else one.number for one in taken] == [second, first, None]
    rows = store.since(0)
    assert [row.kind for row in rows] == ["accept", "accept", "skip", "undo", "undo"]
    assert [row.undoes for row in rows] == [None, None, None, second, first]
    store.close()


def test_threads_share_one_store(tmp_path: Path) -> None:
    store = VerdictStore(tmp_path / "v.sqlite")

    def save(name: str) -> None:
        for k in range(40):
            store.add(f"n{k}", "accept", name, label="a")
            store.look(name, f"n{k}")
            store.since(0)

    threads = [threading.Thread(target=save, args=(name,)) for name in ("Ada", "Bob", "Cy")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = store.since(0)
    assert len(rows) == 120
    assert [row.number for row in rows] == list(range(1, 121))
    store.close()


def test_two_processes_saving_500_verdicts_each_lose_none(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"  # made by whichever comes first
    writers = [start_writer(path, 1000 * k, 500, name) for k, name in enumerate(("Ada", "Bob"))]
    for writer in writers:
        go(writer)
    for writer in writers:
        out, _ = writer.communicate(timeout=120)
        assert writer.returncode == 0
        assert len(out.split()) == 500
    store = VerdictStore(path)
    rows = store.since(0)
    assert {row.node for row in rows if row.reviewer == "Ada"} == {f"n{k}" for k in range(500)}
    assert {row.node for row in rows if row.reviewer == "Bob"} == {f"n{k}" for k in range(1000, 1500)}
    assert len(rows) == 1000
    store.close()


@pytest.mark.parametrize("after", [1, 7, 60])
def test_a_kill_between_two_verdicts_loses_none_that_was_acknowledged(tmp_path: Path, after: int) -> None:
    path = tmp_path / "v.sqlite"
    writer = start_writer(path, 0, 100_000, "Ada")
    go(writer)
    assert writer.stdin is not None
    assert writer.stdout is not None
    acknowledged = [int(writer.stdout.readline()) for _ in range(after)]
    os.kill(writer.pid, signal.SIGKILL)
    acknowledged += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
    writer.wait(20)
    writer.stdout.close()
    writer.stdin.close()
    store = VerdictStore(path)
    kept = [int(row.node[1:]) for row in store.since(0)]
    assert len(acknowledged) >= after
    assert kept[: len(acknowledged)] == acknowledged  # all, in order
    assert len(kept) <= len(acknowledged) + 1  # and at most the one whose word was cut off
    store.close()


def test_who_looks_is_known_until_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, elsewhere = VerdictStore(tmp_path / "v.sqlite"), VerdictStore(tmp_path / "v.sqlite")
    store.look("Ada", "n1")
    store.look("Bob", "n1")
    elsewhere.look("Cy", "n2")  # another process
    assert store.looking() == {"n1": ["Ada", "Bob"], "n2": ["Cy"]}
    assert store.looking(besides="Ada") == {"n1": ["Bob"], "n2": ["Cy"]}
    store.look("Bob", "n2")
    store.look("Ada", None)
    assert elsewhere.looking() == {"n2": ["Bob", "Cy"]}
    now = verdicts.time.time()
    monkeypatch.setattr(verdicts.time, "time", lambda: now + verdicts.LOOK_SECONDS + 1)
    assert store.looking() == {}
    store.close()
    elsewhere.close()
