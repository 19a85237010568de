from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from lnp.errors import DataError
from lnp.web.verdict_file import open_verdict_file


def test_a_commit_waits_for_the_disk(tmp_path: Path) -> None:
    connection = open_verdict_file(tmp_path / "deep" / "v.sqlite")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    connection.close()


@pytest.mark.parametrize("statement", ["DELETE FROM verdicts", "UPDATE verdicts SET label = 'b'"])
def test_the_file_itself_refuses_to_forget(tmp_path: Path, statement: str) -> None:
    connection = open_verdict_file(tmp_path / "v.sqlite")
    connection.execute("INSERT INTO verdicts (node, kind, label, reviewer, time) VALUES ('n', 'take', 'a', 'r', 't')")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(statement)
    assert connection.execute("SELECT label FROM verdicts").fetchall() == [("a",)]
    connection.close()


@pytest.mark.parametrize(
    "values",
    [
        "('n', 'guess', 'a', 'r', NULL)",  # no such kind
        "('n', 'take', NULL, 'r', NULL)",  # a label must be named
        "('n', 'skip', 'a', 'r', NULL)",  # a skip names none
        "('n', 'undo', NULL, 'r', NULL)",  # undo what?
        "('n', 'undo', NULL, 'r', 7)",  # there is no 7
        "('n', 'skip', NULL, '', NULL)",  # who?
    ],
)
def test_rows_that_make_no_sense_are_refused(tmp_path: Path, values: str) -> None:
    connection = open_verdict_file(tmp_path / "v.sqlite")
    columns = "(node, kind, label, reviewer, undoes, time)"
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute(f"INSERT INTO verdicts {columns} VALUES {values[:-1]}, 'now')")
    connection.close()


def test_a_file_of_something_else_is_named(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    path.write_bytes(b"not a database at all, " * 100)
    with pytest.raises(DataError, match=r"v\.sqlite to be a file of verdicts"):
        open_verdict_file(path)


def test_a_file_of_the_future_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 9")
    connection.close()
    with pytest.raises(DataError, match="Update lnp"):
        open_verdict_file(path)
