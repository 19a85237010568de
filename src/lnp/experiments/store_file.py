"""The file behind the store: its schema, and how it is opened.

The file is in WAL mode, so readers never wait for writers. ``synchronous`` is FULL: NORMAL would already survive the
death of any process, but a power cut could take the last commits with it, and one ``fsync`` per run, which takes
milliseconds, is nothing beside a run. WAL needs all its users on one machine; a cluster writes through its driver.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from lnp.errors import DataError

__all__ = ["open_store_file"]

SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    key TEXT PRIMARY KEY, settings TEXT NOT NULL, dataset TEXT NOT NULL, method TEXT NOT NULL, noise TEXT NOT NULL,
    rate REAL NOT NULL, protocol TEXT NOT NULL, seed INTEGER NOT NULL, backbone TEXT NOT NULL, seconds REAL NOT NULL,
    record TEXT NOT NULL, history BLOB NOT NULL, code_version TEXT NOT NULL, config_hash TEXT NOT NULL,
    peak_mib REAL NOT NULL, finished_at TEXT NOT NULL, lnp_version TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS runs_settings ON runs (settings);
CREATE TABLE IF NOT EXISTS failures (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL, spec TEXT NOT NULL, reason TEXT NOT NULL, failed_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS claims (
    key TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, started INTEGER NOT NULL, expires REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS datasets (stamp TEXT PRIMARY KEY, checksum TEXT NOT NULL, scaling TEXT NOT NULL);
CREATE TRIGGER IF NOT EXISTS runs_stay BEFORE DELETE ON runs BEGIN SELECT RAISE(ABORT, 'runs are append-only'); END;
CREATE TRIGGER IF NOT EXISTS runs_last BEFORE UPDATE ON runs BEGIN SELECT RAISE(ABORT, 'runs are append-only'); END;
PRAGMA user_version = 1;
"""
VERSION = 1
PATIENCE = 60.0
"""Seconds to wait for another writer."""


def open_store_file(path: Path) -> sqlite3.Connection:
    """Opens the file, or makes it. Transactions are begun and ended by hand."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise DataError(f"Expected {path} to be a store of version {VERSION}, but got {version}. Update lnp.")
        _use_wal(connection)
        connection.execute("PRAGMA synchronous = FULL")
        if version < VERSION:
            connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} COMMIT;")
    except sqlite3.DatabaseError as error:
        raise DataError(f"Expected {path} to be a store of runs, but got: {error}.") from error
    return connection


def _use_wal(connection: sqlite3.Connection) -> None:
    """Turns WAL on once in the life of a file; that needs it alone, and SQLite does not wait for this by itself."""
    deadline = time.monotonic() + PATIENCE
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
