"""Finished runs in one SQLite file: append-only, safe against a kill at any moment, open to many processes.

=============  ============================================================================================
``runs``       one row per finished run, keyed by :class:`~lnp.experiments.identity.Identity`; never changed
``failures``   runs that could not be finished, with the reason
``claims``     who is at work on what (:mod:`lnp.experiments.claims`)
``datasets``   checksums of datasets, so that nothing is loaded to find out what is left to do
``grids``      grids that were found complete (:mod:`lnp.experiments.complete`)
=============  ============================================================================================
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from lnp.errors import DataError
from lnp.experiments.identity import DatasetFacts
from lnp.experiments.records import Finished, StoredRun, unpack_history
from lnp.experiments.store_file import open_store_file

__all__ = ["Failure", "Store"]

COLUMNS = "key, settings, record, code_version, config_hash, peak_mib, finished_at, lnp_version"
FILTERS = ("method", "dataset", "noise", "rate", "protocol")


@dataclass(frozen=True)
class Failure:
    """A run that could not be finished."""

    key: str
    spec: dict[str, Any]
    reason: str
    failed_at: str


class Store:
    """An open file of runs. Use it in one thread, and as a context manager.

    Args:
        path: The file; made where there is none.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._connection = open_store_file(self.path)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: all of it happens, or nothing."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def add(self, run: Finished) -> bool:
        """Writes a finished run and frees its claim; whether it was new. A second one with the same key is ignored."""
        record, identity = run.record, run.identity
        spec = record["spec"]
        row = (
            *(identity.key, identity.settings, spec["dataset"], spec["method"], spec["noise"], spec["rate"]),
            *(spec["protocol"], spec["seed"], record["config"]["backbone"], record["seconds"]),
            *(json.dumps(record, allow_nan=False), run.history, identity.code_version, record["config_hash"]),
            *(run.peak_mib, _now(), run.lnp_version),
        )
        with self.transaction() as connection:
            added = connection.execute(f"INSERT OR IGNORE INTO runs VALUES ({', '.join('?' * len(row))})", row).rowcount
            connection.execute("DELETE FROM claims WHERE key = ?", (identity.key,))
        return added == 1

    def add_failure(self, key: str, spec: dict[str, Any], reason: str) -> None:
        """Notes that a run could not be finished, and frees its claim."""
        with self.transaction() as connection:
            connection.execute(
                "INSERT INTO failures (key, spec, reason, failed_at) VALUES (?, ?, ?, ?)",
                (key, json.dumps(spec), reason, _now()),
            )
            connection.execute("DELETE FROM claims WHERE key = ?", (key,))

    def finished_keys(self) -> set[str]:
        """The keys of all finished runs."""
        return {key for (key,) in self._connection.execute("SELECT key FROM runs")}

    def settings(self) -> dict[str, str]:
        """Identity without the code version → key of the latest such run."""
        return dict(self._connection.execute("SELECT settings, key FROM runs ORDER BY finished_at"))

    def __contains__(self, key: str) -> bool:
        return self._connection.execute("SELECT 1 FROM runs WHERE key = ?", (key,)).fetchone() is not None

    def __len__(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM runs").fetchone()[0])

    def runs(self, keys: set[str] | None = None, **filters: object) -> list[StoredRun]:
        """Finished runs in the order of their keys' settings; filter by method, dataset, noise, rate or protocol."""
        where, values = _where(filters)
        rows = self._connection.execute(
            f"SELECT {COLUMNS} FROM runs{where} ORDER BY dataset, noise, rate, protocol, method, seed, key", values
        )
        return [_stored(row) for row in rows if keys is None or row[0] in keys]

    def history(self, key: str) -> dict[str, Any]:
        """The epochs of a run."""
        row = self._connection.execute("SELECT history FROM runs WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise DataError(f"Expected {self.path} to have the run {key}, but it has not.")
        return unpack_history(row[0])

    def failures(self) -> list[Failure]:
        """The last failure of every run that has not been finished since."""
        rows = self._connection.execute(
            "SELECT key, spec, reason, failed_at FROM failures WHERE key NOT IN (SELECT key FROM runs) AND number IN "
            "(SELECT max(number) FROM failures GROUP BY key) ORDER BY number"
        )
        return [Failure(key, json.loads(spec), reason, when) for key, spec, reason, when in rows]

    def seconds(self) -> dict[tuple[str, str, str], float]:
        """(dataset, method, backbone) → mean seconds of a run."""
        rows = self._connection.execute(
            "SELECT dataset, method, backbone, avg(seconds) FROM runs GROUP BY dataset, method, backbone"
        )
        return {(dataset, method, backbone): mean for dataset, method, backbone, mean in rows}

    def facts_cache(self) -> MutableMapping[str, DatasetFacts]:
        """Checksums of datasets, kept in the file."""
        return _FactsCache(self._connection)


class _FactsCache(MutableMapping[str, DatasetFacts]):
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known = {
            stamp: DatasetFacts(checksum, scaling)
            for stamp, checksum, scaling in connection.execute("SELECT stamp, checksum, scaling FROM datasets")
        }

    def __getitem__(self, stamp: str) -> DatasetFacts:
        return self._known[stamp]

    def __setitem__(self, stamp: str, facts: DatasetFacts) -> None:
        self._known[stamp] = facts
        self._connection.execute(
            "INSERT OR REPLACE INTO datasets VALUES (?, ?, ?)", (stamp, facts.checksum, facts.scaling)
        )

    def __delitem__(self, stamp: str) -> None:
        del self._known[stamp]
        self._connection.execute("DELETE FROM datasets WHERE stamp = ?", (stamp,))

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


def _where(filters: dict[str, object]) -> tuple[str, list[object]]:
    chosen = {name: value for name, value in filters.items() if value is not None}
    assert chosen.keys() <= set(FILTERS), chosen
    clauses = [f"{name} = ?" for name in chosen]
    return (f" WHERE {' AND '.join(clauses)}" if clauses else ""), list(chosen.values())


def _stored(row: tuple[Any, ...]) -> StoredRun:
    key, settings, record, code_version, config_hash, peak_mib, finished_at, lnp_version = row
    content = json.loads(record)
    return StoredRun(
        key=key,
        settings=settings,
        spec=content["spec"],
        config=content["config"],
        record=content,
        code_version=code_version,
        config_hash=config_hash,
        peak_mib=peak_mib,
        finished_at=finished_at,
        lnp_version=lnp_version,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
