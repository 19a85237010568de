"""The edge table as node numbers and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lnp.datasets.files.ids import find_ids, read_ids
from lnp.datasets.files.import_options import ImportOptions
from lnp.datasets.files.numbers import read_numbers
from lnp.datasets.files.roles import find_role, require_role
from lnp.datasets.files.table import Table, shown
from lnp.errors import DataError

__all__ = ["EdgeList", "read_edges"]


@dataclass(frozen=True, eq=False)
class EdgeList:
    """Edges as they were listed.

    Args:
        ends: ``(2, m)`` node numbers, sources first.
        weights: ``(m,)`` or ``None``.
        dropped: Edges to unknown nodes that were left out.
        unused: Columns that play no part.
    """

    ends: NDArray[np.int64]
    weights: NDArray[np.float32] | None = None
    dropped: int = 0
    unused: tuple[str, ...] = ()


def read_edges(table: Table, ids: pl.Series, options: ImportOptions) -> EdgeList:
    """Looks both ends of every edge up among the ids of the node table.

    Args:
        table: The edge table.
        ids: The ids, in node order.
        options: Which columns are source, target and weight.
    """
    roles = {role: require_role(table, role, getattr(options, role)) for role in ("source", "target")}
    if roles["source"] == roles["target"]:
        raise DataError(f"Expected two ends of an edge, but column {roles['source']!r} is named for both.")
    weight = find_role(table, "weight", options.weight)
    ends = np.stack([find_ids(ids, read_ids(table, column)) for column in roles.values()])
    weights = None if weight is None else _weights(table, weight)
    unused = tuple(name for name in table.frame.columns if name not in (*roles.values(), weight))
    unknown = (ends < 0).any(axis=0)
    dropped = int(unknown.sum())
    if dropped and not options.drop_unknown:
        _complain(table, ids, ends, tuple(roles.values()), dropped)
    if dropped:
        ends = ends[:, ~unknown]
        weights = None if weights is None else weights[~unknown]
    return EdgeList(ends, weights, dropped, unused)


def _complain(table: Table, ids: pl.Series, ends: NDArray[np.int64], columns: tuple[str, ...], count: int) -> NoReturn:
    index = int(np.flatnonzero((ends < 0).any(axis=0))[0])
    column = columns[0] if ends[0, index] < 0 else columns[1]
    cell = str(table.frame[column][index]).strip()
    other = cell.removesuffix(".0") if cell.endswith(".0") else f"{cell}.0"  # as floats, once a cell was empty
    advice = (
        f"It has {shown(other)}: write the ids of both tables alike."
        if other in ids.cast(pl.String)
        else "Add the node, remove the edge, or leave all such edges out with --drop-unknown."
    )
    raise DataError(
        f"Expected the id of a node in {table.place(index, column)}, but the node table has no {shown(cell)} "
        f"({count:,} such edges in all). {advice}"
    )


def _weights(table: Table, column: str) -> NDArray[np.float32]:
    values = read_numbers(table, column)
    bad = ~(values > 0)  # missing ones are not a number
    if bad.any():
        index = int(np.flatnonzero(bad)[0])
        cell = table.frame[column][index]
        raise DataError(
            f"Expected a positive weight in {table.place(index, column)}, but got "
            f"{'nothing' if cell is None else shown(cell)} ({int(bad.sum()):,} such edges). Remove those edges, or "
            f"rename the column if it is no weight."
        )
    return values
