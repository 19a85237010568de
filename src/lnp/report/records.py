"""The compact records in ``results/``: read, checked, and gathered from any number of files.

A file ``<table>.<protocol>.csv`` has one row per finished run, with the columns of
:data:`lnp.experiments.export.COLUMNS`. Files of other names are left alone and named in one note.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from lnp.errors import DataError
from lnp.experiments.export import COLUMNS
from lnp.experiments.grid import PROTOCOL_NAMES
from lnp.experiments.tables import table_names

__all__ = ["Place", "ResultRow", "Results", "mixed_cells", "read_results"]

Place = tuple[str, str, str, str, float, str, int]
"""Where a run stands: table, part, protocol, dataset, rate, method, seed."""


@dataclass(frozen=True, kw_only=True)
class ResultRow:
    """A finished run.

    Args:
        table: "table-1", "figure-ablation", ….
        part: What of it: "", "nl", "lambda_1=0.5", "a/trusted=20".
        protocol: "paper", "random" or "strict".
        dataset: The graph.
        noise: The kind of noise.
        rate: The noise rate.
        backbone: The network inside the method.
        method: The method.
        seed: The seed.
        test_accuracy: A share in [0, 1].
        detection_ap: Average precision of the wrong labels among the suspects; ``None`` where there are none.
        detection_auroc: The area under the curve of the same ranking.
        epochs: How many were trained.
        seconds: How long that took.
        config_hash: A digest of the method's configuration.
        code_version: A digest of the method's code.
        peak_mib: Peak memory; the files do not have it, the store does.
    """

    table: str
    part: str
    protocol: str
    dataset: str
    noise: str
    rate: float
    backbone: str
    method: str
    seed: int
    test_accuracy: float
    detection_ap: float | None
    detection_auroc: float | None
    epochs: int
    seconds: float
    config_hash: str
    code_version: str
    peak_mib: float | None = None

    @property
    def place(self) -> Place:
        """Where it stands; no two runs stand at the same place."""
        return (self.table, self.part, self.protocol, self.dataset, self.rate, self.method, self.seed)


@dataclass(frozen=True)
class Results:
    """Runs in the order of their places, and what a reader should know about where they come from."""

    rows: tuple[ResultRow, ...]
    notes: tuple[str, ...] = ()


def read_results(folder: Path) -> Results:
    """Every file of the folder that belongs to a table or figure of the paper."""
    if not folder.is_dir():
        raise DataError(
            f"Expected a folder of records at {folder}, but there is none. Make one with `lnp reproduce table-2 "
            f"--results {folder}`."
        )
    rows: list[ResultRow] = []
    others = []
    for path in sorted(folder.glob("*.csv")):
        table, _, protocol = path.name.removesuffix(".csv").rpartition(".")
        if table in table_names() and protocol in PROTOCOL_NAMES:
            rows.extend(_read(path, table, protocol))
        else:
            others.append(path.name)
    notes = (f"Left out, since no table or figure of the paper under a known protocol: {', '.join(others)}.",)
    return Results(tuple(sorted(rows, key=lambda row: row.place)), notes if others else ())


def mixed_cells(rows: Iterable[ResultRow]) -> list[str]:
    """Cells whose seeds were not all run with one configuration and one version of the code."""
    kinds: dict[tuple[str, str, str, str, float, str], set[tuple[str, str]]] = {}
    for row in rows:
        cell = (row.table, row.part, row.protocol, row.dataset, row.rate, row.method)
        kinds.setdefault(cell, set()).add((row.config_hash, row.code_version))
    return [
        f"{table}{part and '/' + part} ({protocol}), {dataset} {rate:g}, {method}"
        for (table, part, protocol, dataset, rate, method), found in kinds.items()
        if len(found) > 1
    ]


def _read(path: Path, table: str, protocol: str) -> list[ResultRow]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"Expected {path} to be UTF-8 text, but byte {error.start} is not. Export it again.") from error
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    rows, seen = [], dict[Place, int]()
    try:
        missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
        if missing:
            raise DataError(f"Expected {path}, row 1, to name the columns {', '.join(missing)}, but it does not.")
        for raw in reader:
            row = _row(raw, f"{path}, row {reader.line_num}", table, protocol)
            if row.place in seen:
                raise DataError(
                    f"Expected every run once, but {path}, rows {seen[row.place]} and {reader.line_num}, are the same: "
                    f"{row.dataset}, rate {row.rate:g}, {row.method}, seed {row.seed}. Remove one."
                )
            seen[row.place] = reader.line_num
            rows.append(row)
    except csv.Error as error:
        raise DataError(
            f"Expected {path}, row {reader.reader.line_num}, to be CSV, but: {error}. Export it again."
        ) from error
    return rows


def _row(raw: dict[str, str], where: str, table: str, protocol: str) -> ResultRow:
    if None in raw or None in raw.values():
        raise DataError(f"Expected {where}, to have as many values as there are columns, but it has not.")
    label, _, part = raw["table"].partition("/")
    for column, found, expected in (("table", label, table), ("protocol", raw["protocol"], protocol)):
        if found != expected:
            raise DataError(f"Expected {where}, to have the {column} {expected!r} of its file, but got {found!r}.")
    for piece in part.split("/"):  # "lambda_1=0.5", "trusted=20": what a figure has on its axis
        if "=" in piece:
            _number(_LARGE)(piece.partition("=")[2], f"table: {raw['table']}", where)
    values: dict[str, object] = {"table": label, "part": part}
    for column in COLUMNS[1:]:
        values[column] = _READERS.get(column, _text)(raw[column], column, where)
    return ResultRow(**values)  # type: ignore[arg-type]


def _text(text: str, column: str, where: str) -> object:
    if not text:
        raise DataError(f"Expected {where}, to have a `{column}`, but it is empty.")
    return text


def _number(high: float, *, optional: bool = False) -> Callable[[str, str, str], object]:
    def read(text: str, column: str, where: str) -> object:
        if optional and not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not 0 <= value <= high:
            limits = "at least 0" if high == _LARGE else f"in [0, {high:g}]"
            raise DataError(f"Expected `{column}` in {where}, to be a number {limits}, but got {text!r}.")
        return value

    return read


def _count(text: str, column: str, where: str) -> object:
    if not (text.isascii() and text.isdigit()):
        raise DataError(f"Expected `{column}` in {where}, to be a whole number, but got {text!r}.")
    return int(text)


_LARGE = 1e12
_READERS: dict[str, Callable[[str, str, str], object]] = {
    "rate": _number(1),
    "seed": _count,
    "test_accuracy": _number(1),
    "detection_ap": _number(1, optional=True),
    "detection_auroc": _number(1, optional=True),
    "epochs": _count,
    "seconds": _number(_LARGE),
}

assert {field.name for field in fields(ResultRow)} == {*COLUMNS, "part", "peak_mib"}
