"""The same records from a store of runs, with the memory that the files do not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lnp.errors import DataError
from lnp.experiments.grid import PROTOCOL_NAMES, Choice
from lnp.experiments.records import StoredRun
from lnp.experiments.reproduce import PlannedRun, make_plan, tables_of
from lnp.experiments.store import Store
from lnp.experiments.tables import Table
from lnp.report.records import Place, ResultRow, Results

__all__ = ["merge", "stored_results"]


def stored_results(store: Store, tables: Sequence[Table] | None = None, *, any_code: bool = False) -> Results:
    """What the store has of every table and figure under every protocol.

    Args:
        store: Finished runs.
        tables: Only these.
        any_code: Count runs, too, that another version of the code has done.
    """
    rows: dict[Place, ResultRow] = {}
    unavailable: dict[str, str] = {}
    for protocol in PROTOCOL_NAMES:
        plan = make_plan(tables or tables_of("all"), Choice(protocol=protocol), store, any_code=any_code)
        unavailable |= plan.unavailable
        stored = {run.key: run for run in store.runs({run.done_as for run in plan.runs if run.done_as is not None})}
        for planned in plan.runs:
            if planned.done_as in stored:
                row = _row(planned, stored[planned.done_as])
                rows[row.place] = row
    notes = [f"{dataset} is not at hand, so its runs were not looked up in the store." for dataset in unavailable]
    return Results(tuple(rows[place] for place in sorted(rows)), tuple(notes))


def merge(files: Results, stored: Results) -> Results:
    """Both together; where both have a run, the store's counts."""
    rows: Mapping[Place, ResultRow] = {row.place: row for row in (*files.rows, *stored.rows)}
    return Results(tuple(rows[place] for place in sorted(rows)), (*files.notes, *stored.notes))


def _row(planned: PlannedRun, run: StoredRun) -> ResultRow:
    grid_run, record = planned.grid_run, run.record
    table, _, part = grid_run.label.partition("/")
    if table != grid_run.table:
        raise DataError(f"Expected the label {grid_run.label!r} to begin with {grid_run.table!r}, but it does not.")
    values: dict[str, Any] = {name: record[name] for name in ("test_accuracy", "detection_ap", "detection_auroc")}
    return ResultRow(
        table=table,
        part=part,
        protocol=grid_run.protocol,
        dataset=grid_run.spec.dataset,
        noise=run.spec["noise"],
        rate=grid_run.spec.rate,
        backbone=run.config["backbone"],
        method=grid_run.spec.method,
        seed=grid_run.spec.seed,
        epochs=record["epochs"],
        seconds=record["seconds"],
        config_hash=run.config_hash,
        code_version=run.code_version,
        peak_mib=run.peak_mib,
        **values,
    )
