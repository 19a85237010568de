"""What the store keeps of a run."""

from __future__ import annotations

import json
import math
import zlib
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from lnp import __version__
from lnp.engine.history import History
from lnp.experiments.identity import Identity
from lnp.experiments.run import RunRecord
from lnp.experiments.spec import RunSpec

__all__ = ["Finished", "StoredRun", "finished", "pack_history", "unpack_history"]

DIGITS = 5
"""Significant digits of losses and scores in a kept history."""


@dataclass(frozen=True)
class Finished:
    """A finished run on its way to the store: plain values, fit to travel between processes and machines."""

    identity: Identity
    record: dict[str, Any]
    history: bytes
    peak_mib: float
    lnp_version: str = __version__


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """A row of the store.

    Args:
        key: The run's identity with its code version.
        settings: The run's identity without it.
        spec: What was asked for.
        config: The method's whole configuration.
        record: What :class:`~lnp.experiments.run.RunRecord` holds.
        code_version: Of the method.
        config_hash: Of the configuration.
        peak_mib: Peak memory of the process that ran it.
        finished_at: When, UTC.
        lnp_version: Of the package.
    """

    key: str
    settings: str
    spec: dict[str, Any]
    config: dict[str, Any]
    record: dict[str, Any]
    code_version: str
    config_hash: str
    peak_mib: float
    finished_at: str
    lnp_version: str


def finished(identity: Identity, spec: RunSpec, record: RunRecord, history: History, peak_mib: float) -> Finished:
    """Packs what a run gave."""
    plain = record.to_json() | {"spec": asdict(spec)}
    return Finished(identity, plain, pack_history(history), peak_mib)


def pack_history(history: History) -> bytes:
    """Every epoch as columns, rounded and compressed: some kilobytes for some hundred epochs.

    The columns are the loss terms and the score; ``stages`` has (name, epochs) in order, ``selected`` the number,
    counted over all stages, of the epoch that each stage ended with (nothing where it kept its start).
    """
    columns = {
        name: [None if value is None else _round(value) for value in values]
        for name, values in history.columns().items()
    }
    stages = [(name, list(rows)) for name, rows in groupby(enumerate(history), key=lambda row: row[1].stage)]
    content = {
        "stages": [(name, len(rows)) for name, rows in stages],
        "selected": [max((number for number, row in rows if row.selected), default=None) for _, rows in stages],
        "columns": columns,
    }
    return zlib.compress(json.dumps(content, separators=(",", ":"), allow_nan=False).encode(), 9)


def unpack_history(packed: bytes) -> dict[str, Any]:
    """The reverse of :func:`pack_history`."""
    content: dict[str, Any] = json.loads(zlib.decompress(packed))
    return content


def _round(value: float) -> float | None:
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
