"""Records as text: ``results/<table>.<protocol>.csv``, and any list of runs.

What a file holds beyond the runs of plan and store stays in it, since records come from several stores; but lines of
the same cell with another configuration go, because a mean over both would be of neither.

The column ``table`` says which part of a figure a run belongs to: "figure-ablation/nl",
"figure-sensitivity/lambda_1=0.5", "figure-clean-size/a/trusted=20". The column ``protocol`` is what was asked for
(paper, random, strict); Tables 5 and 6 have their own splits under each.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lnp.engine.files import alone_in, atomic_path, write_text
from lnp.errors import ConfigError, DataError
from lnp.experiments.grid import GridRun
from lnp.experiments.records import StoredRun
from lnp.experiments.reproduce import Plan
from lnp.experiments.store import Store

__all__ = [
    "COLUMNS",
    "CONFIGURATION",
    "KEY",
    "RUN_COLUMNS",
    "export_results",
    "file_name",
    "key_of",
    "read_lines",
    "run_rows",
    "write_runs",
]

COLUMNS = (
    *("table", "protocol", "dataset", "noise", "rate", "backbone", "method", "seed"),
    *("test_accuracy", "detection_ap", "detection_auroc", "epochs", "seconds", "config_hash", "code_version"),
)

KEY = COLUMNS[:8]
"""What a run is of, the seed last; each has one line."""

CONFIGURATION = COLUMNS.index("config_hash")
"""Where a line says with which configuration."""

RUN_COLUMNS = (
    *("key", "dataset", "noise", "rate", "realised_rate", "protocol", "selection", "trusted_size", "backbone"),
    *("method", "seed", "test_accuracy", "test_macro_f1", "test_calibration_error", "detection_ap"),
    *("detection_auroc", "epochs", "seconds", "peak_mib", "config_hash", "code_version", "finished_at"),
)

Row = dict[str, Any]


def export_results(plan: Plan, store: Store, folder: Path) -> list[Path]:
    """Writes one file for each table and protocol of the plan with the runs that are finished; whole files, sorted.

    A line for the same run (:data:`KEY`) is replaced, one for another seed of it stays if it has the same
    configuration, and every line of other cells stays. The same records give the same bytes. A table without a finished
    run gets no file.
    """
    stored = {run.key: run for run in store.runs({run.done_as for run in plan.runs if run.done_as is not None})}
    groups: dict[str, list[Row]] = {}
    for planned in plan.runs:
        if planned.done_as in stored:
            row = _row(stored[planned.done_as])
            spec = planned.grid_run.spec
            row |= {"table": planned.grid_run.label, "protocol": planned.grid_run.protocol, "dataset": spec.dataset}
            groups.setdefault(file_name(planned.grid_run), []).append({column: row[column] for column in COLUMNS})
    for name, rows in groups.items():
        with alone_in(folder):
            _add(folder / name, [_line(COLUMNS, row) for row in rows])
    return [folder / name for name in sorted(groups)]


def file_name(run: GridRun) -> str:
    """In which file of the folder the record of a run is."""
    return f"{run.table}.{run.protocol}.csv"


def _add(path: Path, new: list[list[str]]) -> None:
    configurations = {key_of(line)[:-1]: line[CONFIGURATION] for line in new}
    old = [
        line
        for line in read_lines(path)
        if configurations.get(key_of(line)[:-1], line[CONFIGURATION]) == line[CONFIGURATION]
    ]
    lines = {key_of(line): line for line in (*old, *new)}
    write_text(path, _csv(COLUMNS, [lines[key] for key in sorted(lines)]))


def read_lines(path: Path) -> list[list[str]]:
    """What is in the file, if it is there."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = list(csv.reader(file)) or [[]]
    if tuple(header) != COLUMNS:
        raise DataError(f"Expected {path} to have the columns {', '.join(COLUMNS)}, but got {', '.join(header)}.")
    return lines


def key_of(line: Sequence[str]) -> tuple[object, ...]:
    """Which run a line is of, in the order of the file: rates and seeds as numbers."""
    words = dict(zip(COLUMNS, line, strict=True))
    return tuple(float(words[name]) if name in ("rate", "seed") else words[name] for name in KEY)


def run_rows(runs: Iterable[StoredRun]) -> list[Row]:
    """Runs as rows of :data:`RUN_COLUMNS`."""
    return [{column: row[column] for column in RUN_COLUMNS} for row in map(_row, runs)]


def write_runs(runs: Sequence[StoredRun], path: Path) -> None:
    """Writes runs as .csv, or as .parquet where polars is installed."""
    rows = run_rows(runs)
    if path.suffix == ".csv":
        write_text(path, _csv(RUN_COLUMNS, [_line(RUN_COLUMNS, row) for row in rows]))
    elif path.suffix == ".parquet":
        _write_parquet(rows, path)
    else:
        raise ConfigError(f"Expected `--export` to name a .csv or .parquet file, but got {path.name!r}.")


def _row(run: StoredRun) -> Row:
    values = {**run.spec, **run.record, "backbone": run.config["backbone"], "noise": run.spec["noise"]}
    values |= {"key": run.key, "peak_mib": run.peak_mib, "config_hash": run.config_hash}
    values |= {"code_version": run.code_version, "finished_at": run.finished_at}
    return values


def _csv(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(lines)
    return text.getvalue()


def _line(columns: Sequence[str], row: Row) -> list[str]:
    return [_cell(column, row[column]) for column in columns]


def _cell(column: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:g}" if column == "rate" else f"{round(value, 3 if column in ('seconds', 'peak_mib') else 6)}"
    return str(value)


def _write_parquet(rows: list[Row], path: Path) -> None:
    try:
        import polars
    except ImportError as error:
        raise ConfigError(
            "Expected the package polars for a .parquet file, but it is not installed. Run pip install polars, or "
            "export to .csv."
        ) from error
    with atomic_path(path) as temporary:
        polars.DataFrame(rows, schema=list(RUN_COLUMNS), infer_schema_length=None).write_parquet(temporary)
