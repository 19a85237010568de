"""Records by hand, as rows and as files."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest

from lnp.experiments.export import COLUMNS
from lnp.report.records import ResultRow

Runs = Callable[..., list[ResultRow]]
WriteRecords = Callable[[Path, Iterable[ResultRow]], None]


@pytest.fixture
def runs() -> Runs:
    """Makes the runs of a cell from accuracies in per cent, one for each seed."""

    def make(table: str, dataset: str, rate: float, method: str, accuracies: Sequence[float], **changes: object):
        values: dict[str, object] = {
            "part": "",
            "protocol": "paper",
            "noise": "flip",
            "backbone": "gcn",
            "detection_ap": 0.5,
            "detection_auroc": 0.75,
            "epochs": 100,
            "seconds": 2.0,
            "config_hash": "c",
            "code_version": "v",
        }
        values |= {"table": table, "dataset": dataset, "rate": rate, "method": method, **changes}
        return [ResultRow(seed=seed, test_accuracy=a / 100, **values) for seed, a in enumerate(accuracies)]

    return make


@pytest.fixture
def write_records() -> WriteRecords:
    """Writes rows to a folder, one file for each table and protocol, as ``lnp reproduce --results`` does."""

    def write(folder: Path, rows: Iterable[ResultRow]) -> None:
        files: dict[str, list[ResultRow]] = {}
        for row in rows:
            files.setdefault(f"{row.table}.{row.protocol}.csv", []).append(row)
        folder.mkdir(parents=True, exist_ok=True)
        for name, group in files.items():
            with (folder / name).open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(COLUMNS)
                for row in group:
                    label = row.table + (f"/{row.part}" if row.part else "")
                    values = {column: getattr(row, column) for column in COLUMNS} | {"table": label}
                    writer.writerow(["" if value is None else value for value in values.values()])

    return write
