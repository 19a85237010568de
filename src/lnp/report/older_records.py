"""Records that ``lnp reproduce`` would not make now: a configuration was searched again, an option got a new default.

Such a number is what it was, but who runs the table again will get another. The report says how many there are of
which table and on which graphs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lnp.experiments.grid import Choice, expand
from lnp.experiments.tables import load_table
from lnp.report.records import ResultRow

__all__ = ["older_records"]

Cell = tuple[str, str, float, str]
"""Part of the table, dataset, rate, method."""


def older_records(rows: Sequence[ResultRow]) -> list[str]:
    """A sentence for each table and protocol with records of other configurations than those shipped; what to do."""
    notes = []
    for table, protocol in sorted({(row.table, row.protocol) for row in rows}):
        mine = [row for row in rows if (row.table, row.protocol) == (table, protocol)]
        now = _configurations(table, protocol)
        cells = {row: now.get((row.part, row.dataset, row.rate, row.method)) for row in mine}
        older = Counter(row.dataset for row, wanted in cells.items() if wanted not in (None, row.config_hash))
        if older:
            where = ", ".join(f"{dataset} {count}" for dataset, count in sorted(older.items()))
            notes.append(
                f"{table}, protocol {protocol}: {older.total()} of {len(mine)} records have another configuration than "
                f"the one shipped now ({where})."
            )
    if notes:
        notes.append("What has another configuration is run again by lnp reproduce with --skip-recorded.")
    return notes


def _configurations(table: str, protocol: str) -> dict[Cell, str]:
    """The hash of the configuration that every cell of a table would be run with."""
    runs = expand(load_table(table), Choice(protocol=protocol, seeds=1))
    return {
        (run.label.partition("/")[2], run.spec.dataset, run.spec.rate, run.spec.method): run.spec.config_hash
        for run in runs
    }
