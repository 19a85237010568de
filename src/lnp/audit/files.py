"""Audits as files: one row per label, the most suspect first, as CSV or Parquet.

Columns: node, given, quality, proposed, confidence, trusted, and for every class ``p_<class>`` (the model's
probability), ``similarity_<class>`` (empty where the class has no prototype) and ``neighbours_<class>``. Nodes and
classes are written by name. Parquet keeps the channel, the noise rates, what checked labels had been and the scorer
too, as metadata of the file; CSV has no place for them.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lnp.audit.table import AuditTable
from lnp.engine.files import atomic_path
from lnp.errors import ConfigError, DataError

__all__ = ["FORMATS", "audit_columns", "read_audit", "require_audit_path", "write_audit"]

FORMATS = (".csv", ".parquet")
"""What the name of the file ends in."""

DECIMALS = 6
"""Of numbers in CSV."""

FIXED = ("node", "given", "quality", "proposed", "confidence", "trusted")
BLOCKS = ("p", "similarity", "neighbours")
ABOUT = "lnp.audit"
"""The key of the metadata."""


def require_audit_path(path: Path) -> None:
    """Raises where an audit cannot be written."""
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(f"Expected the file of an audit to end in {' or '.join(FORMATS)}, but got {str(path)!r}.")
    if path.is_dir():
        raise ConfigError(f"Expected a file to write to, but {path} is a folder.")
    if path.suffix.lower() == ".parquet":
        _polars()


def write_audit(path: Path, table: AuditTable, node_ids: Sequence[str] | None = None) -> None:
    """Writes the whole table, or nothing.

    Args:
        path: A file that ends in .csv or .parquet.
        table: The audit.
        node_ids: One name per node of the graph; ``None`` writes node numbers.
    """
    require_audit_path(path)
    columns = audit_columns(table, node_ids)
    with atomic_path(path) as temporary:
        if path.suffix.lower() == ".csv":
            with temporary.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(columns)
                writer.writerows(zip(*map(_written, columns.values()), strict=True))
        else:
            about = json.dumps(_about(table))
            _polars().DataFrame(columns).write_parquet(temporary, metadata={ABOUT: about})


def audit_columns(table: AuditTable, node_ids: Sequence[str] | None = None) -> dict[str, list[Any]]:
    """The columns by name, nodes and classes as text; ``None`` where there is no number."""
    names, nodes = table.class_names, table.nodes.tolist()
    columns: dict[str, list[Any]] = {
        "node": [str(node) if node_ids is None else node_ids[node] for node in nodes],
        "given": [names[k] for k in table.given.tolist()],
        "quality": table.quality.tolist(),
        "proposed": [names[k] for k in table.proposed.tolist()],
        "confidence": table.confidence.tolist(),
        "trusted": table.trusted.astype(int).tolist(),
    }
    arrays = (table.probabilities, table.prototype_similarity, table.neighbour_labels)
    for block, values in zip(BLOCKS, arrays, strict=True):
        for name, column in zip(names, values.T.tolist(), strict=True):
            columns[f"{block}_{name}"] = [None if value != value else value for value in column]
    return columns


def read_audit(path: Path, node_ids: Sequence[str] | None = None) -> AuditTable:
    """Reads what :func:`write_audit` wrote.

    From CSV numbers come back with six decimals, the channel is not a number, the scorer is unknown, so is what
    checked labels had been, and the noise rates are the mean of what the rows say.

    Args:
        path: The file.
        node_ids: The names that were given when it was written.
    """
    if not path.is_file():
        raise DataError(f"Expected an audit at {path}, but there is no such file.")
    columns, about = _read_csv(path) if path.suffix.lower() == ".csv" else _read_parquet(path)
    try:
        return _table(columns, about, node_ids)
    except (ValueError, KeyError) as error:
        raise DataError(f"Expected {path} to be an audit, but: {error}. Make it again with `lnp audit`.") from error


def _about(table: AuditTable) -> dict[str, object]:
    rates = [None if rate != rate else rate for rate in table.noise_rate.tolist()]
    arrays = {"transition": table.transition.tolist(), "checks": table.checks.tolist()}
    return {"scorer": table.scorer, "noise_rate": rates} | arrays


def _written(column: list[Any]) -> list[Any]:
    return [round(value, DECIMALS) if isinstance(value, float) else value for value in column]


def _read_csv(path: Path) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        columns: dict[str, list[Any]] = {name: [row[place] for row in rows] for place, name in enumerate(head)}
    except (ValueError, IndexError, csv.Error) as error:
        raise DataError(f"Expected {path} to be an audit, but: {error}. Make it again with `lnp audit`.") from error
    return columns, {}


def _read_parquet(path: Path) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    polars = _polars()
    try:
        columns = polars.read_parquet(path).to_dict(as_series=False)
        return columns, json.loads(polars.read_parquet_metadata(path).get(ABOUT, "{}"))
    except (polars.exceptions.PolarsError, ValueError) as error:
        raise DataError(f"Expected {path} to be an audit, but: {error}. Make it again with `lnp audit`.") from error


def _table(columns: Mapping[str, list[Any]], about: Mapping[str, Any], node_ids: Sequence[str] | None) -> AuditTable:
    missing = [name for name in FIXED if name not in columns]
    if missing:
        raise ValueError(f"it has no column {missing[0]!r}")
    head = list(columns)[len(FIXED) :]
    count = len(head) // len(BLOCKS)
    names = tuple(name.removeprefix("p_") for name in head[:count])
    place = {name: number for number, name in enumerate(names)}
    numbers = None if node_ids is None else {name: number for number, name in enumerate(node_ids)}
    blocks = [np.array([_floats(columns[f"{block}_{name}"]) for name in names]).T for block in BLOCKS]
    given = np.array([place[name] for name in columns["given"]], np.int64)
    quality, trusted = _floats(columns["quality"]), np.array([int(value) == 1 for value in columns["trusted"]], bool)
    counts = np.bincount(given[~trusted], minlength=count)
    wrong = np.bincount(given[~trusted], weights=1 - quality[~trusted], minlength=count)
    rates = np.divide(wrong, counts, out=np.full(count, np.nan), where=counts > 0)
    return AuditTable(
        nodes=np.array([int(node) if numbers is None else numbers[node] for node in columns["node"]], np.int64),
        given=given,
        quality=quality,
        proposed=np.array([place[name] for name in columns["proposed"]], np.int64),
        confidence=_floats(columns["confidence"]),
        probabilities=blocks[0],
        prototype_similarity=blocks[1],
        neighbour_labels=blocks[2].astype(np.int64),
        trusted=trusted,
        noise_rate=_floats(about["noise_rate"]) if "noise_rate" in about else rates,
        transition=np.array(about.get("transition", np.full((count, count), np.nan)), np.float64),
        checks=np.array(about.get("checks", np.zeros((count, count))), np.int64),
        class_names=names,
        scorer=str(about.get("scorer", "unknown")),
    )


def _floats(values: Sequence[Any]) -> np.ndarray:
    return np.array([np.nan if value is None or value == "" else float(value) for value in values], np.float64)


def _polars() -> Any:
    import polars  # slow to import, and a CSV needs none of it

    return polars
