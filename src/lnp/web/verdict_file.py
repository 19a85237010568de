"""The file behind the verdicts: its schema, and how it is opened.

Nothing in it is ever changed or deleted, which the file itself enforces. It is in WAL mode, so that readers never wait
for writers. With ``synchronous`` FULL a verdict is on the disk when its transaction ends: whatever is killed right
after that, or loses its power, it stays. Who looks at what is no such treasure and is written without that wait.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from lnp.errors import DataError

__all__ = ["PATIENCE", "open_verdict_file"]

SCHEMA = """
CREATE TABLE IF NOT EXISTS verdicts (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    node TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('accept', 'take', 'choose', 'skip', 'undo')),
    label TEXT CHECK ((label IS NULL) = (kind IN ('skip', 'undo'))),
    given TEXT,
    reviewer TEXT NOT NULL CHECK (reviewer != ''),
    time TEXT NOT NULL,
    undoes INTEGER UNIQUE REFERENCES verdicts CHECK ((undoes IS NOT NULL) = (kind = 'undo'))
);
CREATE INDEX IF NOT EXISTS verdicts_reviewer ON verdicts (reviewer, number);
CREATE INDEX IF NOT EXISTS verdicts_node ON verdicts (node, number);
CREATE TRIGGER IF NOT EXISTS verdicts_stay BEFORE DELETE ON verdicts
    BEGIN SELECT RAISE(ABORT, 'verdicts are append-only'); END;
CREATE TRIGGER IF NOT EXISTS verdicts_last BEFORE UPDATE ON verdicts
    BEGIN SELECT RAISE(ABORT, 'verdicts are append-only'); END;
CREATE TABLE IF NOT EXISTS looking (reviewer TEXT PRIMARY KEY, node TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 1;
"""
VERSION = 1
PATIENCE = 30.0
"""Seconds to wait for another writer."""


def open_verdict_file(path: Path, *, durable: bool = True) -> sqlite3.Connection:
    """Opens the file, or makes it. Transactions are begun and ended by hand; lock before you share it among threads.

    Args:
        path: Where it is.
        durable: Whether the end of a transaction waits for the disk.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise DataError(
                f"Expected {path} to be a file of verdicts of version {VERSION}, but got {version}. Update lnp."
            )
        _use_wal(connection)
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        connection.execute("PRAGMA foreign_keys = ON")
        if version < VERSION:
            connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")
    except sqlite3.Error as error:
        raise DataError(
            f"Expected {path} to be a file of verdicts that can be written, but got: {error}. Move it away, or give "
            "another folder."
        ) from error
    return connection


def _use_wal(connection: sqlite3.Connection) -> None:
    """Turns WAL on once in the life of a file; that needs it alone, and SQLite does not wait for this by itself."""
    deadline = time.monotonic() + PATIENCE
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "readonly" in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
