"""Columns whose cells are vectors, for instance embeddings in a Parquet file: one feature per place."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lnp.datasets.files.table import Table
from lnp.errors import DataError

__all__ = ["is_vector", "read_vectors"]


def is_vector(kind: pl.DataType) -> bool:
    """Whether cells of this type are vectors of numbers."""
    return isinstance(kind, pl.List | pl.Array) and kind.inner.is_numeric()


def read_vectors(table: Table, column: str) -> tuple[NDArray[np.float32], int]:
    """One row per node, and how many nodes had no vector; those get the mean of the others.

    Args:
        table: The table.
        column: The column; all vectors in it must have one length, and every number must be finite.
    """
    series = table.frame[column]
    cells = series.arr.to_list() if isinstance(series.dtype, pl.Array) else series
    lengths = cells.list.len()
    known = lengths.drop_nulls()
    size = int(known[0]) if len(known) else 0
    other = ((lengths != size) & lengths.is_not_null()).arg_true()
    if len(other):
        index = int(other[0])
        raise DataError(
            f"Expected vectors of one length, {size}, in {table.column} {column!r}, but {table.place(index)}, has "
            f"{lengths[index]} numbers. Mend it, or pass --ignore {column}."
        )
    flat = cells.drop_nulls().explode().cast(pl.Float64, strict=False)
    rows = lengths.is_not_null().arg_true().to_numpy()
    values = flat.fill_null(float("nan")).to_numpy().reshape(rows.size, size).astype(np.float32)
    bad = ~np.isfinite(values).all(axis=1)
    if bad.any():
        index = int(rows[np.flatnonzero(bad)[0]])
        raise DataError(
            f"Expected finite numbers in {table.place(index, column)}, but one is missing, not a number, infinite or "
            f"too large ({int(bad.sum()):,} such cells in this column). Mend the cell."
        )
    if rows.size == len(table):
        return values, 0
    whole = np.empty((len(table), size), np.float32)
    whole[:] = values.mean(axis=0, dtype=np.float64) if rows.size else 0.0
    whole[rows] = values
    return whole, len(table) - rows.size
