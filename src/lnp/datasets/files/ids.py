"""The users' ids as node numbers, without a loop over nodes.

Ids are text, or whole numbers; spaces around them do not count. Where one table has text and the other numbers, both
are compared as text.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lnp.datasets.files.table import Table, shown
from lnp.errors import DataError

__all__ = ["find_ids", "read_ids", "unique_ids"]


def read_ids(table: Table, column: str) -> pl.Series:
    """The ids of a column, as text or ``Int64``; every row must have one."""
    series = table.frame[column]
    if series.dtype == pl.String:
        ids = series.str.strip_chars()
        empty = ids.is_null() | (ids == "")
    elif series.dtype.is_integer():
        ids = series.cast(pl.Int64 if series.dtype != pl.UInt64 else pl.String)
        empty = ids.is_null()
    elif series.dtype.is_float():
        empty = series.is_null() | series.is_nan()
        broken = (~empty & ((series != series.floor()) | (series.abs() > 2.0**53))).fill_null(value=False)
        if broken.any():
            index = int(broken.arg_true()[0])
            raise DataError(
                f"Expected an id, text or a whole number, in {table.place(index, column)}, but got {series[index]}. "
                "Write ids as text."
            )
        ids = series.fill_nan(None).cast(pl.Int64)
    else:
        raise DataError(
            f"Expected ids, text or whole numbers, in {table.column} {column!r} of {table.name}, but got "
            f"{series.dtype}. Write ids as text."
        )
    if empty.any():
        raise DataError(
            f"Expected an id in {table.place(int(empty.arg_true()[0]), column)}, but the cell is empty. Fill it in, or "
            "remove the row."
        )
    return ids


def unique_ids(table: Table, column: str) -> pl.Series:
    """The ids of the node table; no two rows may have the same."""
    ids = read_ids(table, column)
    again = (~ids.is_first_distinct()).arg_true()
    if len(again):
        index = int(again[0])
        first = int((ids == ids[index]).arg_true()[0])
        raise DataError(
            f"Expected every node once, but {table.place(index, column)}, has {shown(ids[index])} again, which is in "
            f"{table.row} {first + table.first_row:,} already ({len(again):,} such rows in all). Remove one of them."
        )
    return ids


def find_ids(ids: pl.Series, wanted: pl.Series) -> NDArray[np.int64]:
    """The position of each wanted id among ``ids``, −1 where it is not there.

    >>> find_ids(pl.Series(["a", "b", "c"]), pl.Series(["c", "a", "x"])).tolist()
    [2, 0, -1]
    """
    if ids.dtype != wanted.dtype:
        ids, wanted = ids.cast(pl.String), wanted.cast(pl.String)
    positions = pl.int_range(len(ids), dtype=pl.Int64, eager=True)
    known = pl.DataFrame({"id": ids, "position": positions})
    found = pl.DataFrame({"id": wanted}).join(known, on="id", how="left", maintain_order="left")["position"]
    return found.fill_null(-1).to_numpy()
