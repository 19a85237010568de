"""What people said of labels: every verdict with its reviewer and time, kept for good.

======  ============================================================================
accept  the label is right
take    the proposal is right instead
choose  another label is right
skip    no opinion
undo    takes an earlier verdict of the same reviewer back; both rows stay
======  ============================================================================

Of several verdicts on one node that nobody took back, the last counts. A skip never outweighs a label.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lnp.web.verdict_file import open_verdict_file

__all__ = ["KINDS", "LOOK_SECONDS", "Verdict", "VerdictStore"]

KINDS = ("accept", "take", "choose", "skip")
"""What a reviewer can say of a node; to undo is a word about a verdict."""

LOOK_SECONDS = 20.0
"""So long somebody counts as looking at a node after the last sign of life."""

COLUMNS = "number, node, kind, label, given, reviewer, time, undoes"


@dataclass(frozen=True)
class Verdict:
    """One row.

    Args:
        number: Its place in the order of all verdicts.
        node: The user's id of the node.
        kind: See above.
        label: The name of the label that is right; ``None`` for skip and undo.
        given: The name of the label that the graph's files gave; ``None`` where there was none.
        reviewer: Who.
        time: When, UTC.
        undoes: The number of the verdict taken back.
    """

    number: int
    node: str
    kind: str
    label: str | None
    given: str | None
    reviewer: str
    time: str
    undoes: int | None = None


class VerdictStore:
    """An open file of verdicts, for all threads of a process; other processes may have it open too.

    Args:
        path: The file; made where there is none.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = open_verdict_file(path)
        self._presence = open_verdict_file(path, durable=False)
        self._lock, self._presence_lock = threading.Lock(), threading.Lock()

    def close(self) -> None:
        """Closes the file."""
        with self._lock, self._presence_lock:
            self._connection.close()
            self._presence.close()

    def add(self, node: str, kind: str, reviewer: str, *, label: str | None = None, given: str | None = None) -> int:
        """Keeps a verdict and returns its number. When this returns, the verdict is on the disk."""
        assert kind in KINDS, kind
        with self._writing() as connection:
            return _insert(connection, node, kind, label, given, reviewer, None)

    def undo(self, reviewer: str) -> Verdict | None:
        """Takes back the last verdict of a reviewer that is not taken back yet, and returns it."""
        with self._writing() as connection:
            row = connection.execute(
                f"SELECT {COLUMNS} FROM verdicts AS said WHERE reviewer = ? AND kind != 'undo' AND NOT EXISTS "
                "(SELECT 1 FROM verdicts WHERE undoes = said.number) ORDER BY number DESC LIMIT 1",
                (reviewer,),
            ).fetchone()
            if row is None:
                return None
            last = Verdict(*row)
            _insert(connection, last.node, "undo", None, last.given, reviewer, last.number)
            return last

    def since(self, number: int) -> list[Verdict]:
        """All verdicts after the one with this number, in order."""
        with self._lock:
            rows = self._connection.execute(
                f"SELECT {COLUMNS} FROM verdicts WHERE number > ? ORDER BY number", (number,)
            ).fetchall()
        return [Verdict(*row) for row in rows]

    def look(self, reviewer: str, node: str | None) -> None:
        """Notes that somebody looks at a node, or (``None``) no longer looks at one."""
        with self._presence_lock:
            if node is None:
                self._presence.execute("DELETE FROM looking WHERE reviewer = ?", (reviewer,))
            else:
                row = (reviewer, node, time.time() + LOOK_SECONDS)
                self._presence.execute("INSERT OR REPLACE INTO looking VALUES (?, ?, ?)", row)

    def looking(self, besides: str = "") -> dict[str, list[str]]:
        """Node → who looks at it now, ``besides`` left out."""
        with self._presence_lock:
            rows = self._presence.execute(
                "SELECT node, reviewer FROM looking WHERE until > ? AND reviewer != ? ORDER BY reviewer",
                (time.time(), besides),
            ).fetchall()
        found: dict[str, list[str]] = {}
        for node, reviewer in rows:
            found.setdefault(node, []).append(reviewer)
        return found

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


def _insert(connection: sqlite3.Connection, *row: str | int | None) -> int:
    node, kind, label, given, reviewer, undoes = row
    values = (node, kind, label, given, reviewer, datetime.now(UTC).isoformat(timespec="milliseconds"), undoes)
    cursor = connection.execute(
        "INSERT INTO verdicts (node, kind, label, given, reviewer, time, undoes) VALUES (?, ?, ?, ?, ?, ?, ?)", values
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid
