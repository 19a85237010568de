"""Columns of numbers: every cell a finite number, or missing."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lnp.datasets.files.table import Table, shown, tidy_strings
from lnp.errors import DataError

__all__ = ["fill_missing", "read_numbers"]

LARGEST = float(np.finfo(np.float32).max)


def read_numbers(table: Table, column: str, *, nan_as_missing: bool = False, advice: str = "") -> NDArray[np.float32]:
    """The numbers of a column, not a number where a cell is missing.

    Args:
        table: The table.
        column: The column.
        nan_as_missing: Whether "not a number" counts as missing; else it is an error, as infinity always is.
        advice: What else a user may do with a column that is no column of numbers.
    """
    series = table.frame[column]
    if series.dtype == pl.String:
        series = _parse(table, column, series, advice)
    values = series.cast(pl.Float64)
    if nan_as_missing:
        values = values.fill_nan(None)
    # NaN compares as larger than every number here, so one comparison finds NaN, infinities and overflows.
    odd = (values.abs() > LARGEST).fill_null(value=False)
    if odd.any():
        index = int(odd.arg_true()[0])
        value = values[index]
        kind = "not a number" if value != value else ("infinite" if abs(value) == float("inf") else "too large")
        hint = " Leave the cell empty if the value is missing, or pass --nan-as-missing." if value != value else ""
        raise DataError(
            f"Expected a finite number in {table.place(index, column)}, but got {value}, which is {kind} "
            f"({int(odd.sum()):,} such cells in this column).{hint or ' Mend the cell.'}"
        )
    return values.cast(pl.Float32).fill_null(float("nan")).to_numpy()


def fill_missing(values: NDArray[np.float32]) -> tuple[NDArray[np.float32], int, float]:
    """The values with missing ones replaced by the median of the others, how many those were, and the median.

    >>> fill_missing(np.array([1, np.nan, 2, 9], np.float32))[0].tolist()
    [1.0, 2.0, 2.0, 9.0]
    """
    missing = np.isnan(values)
    count = int(missing.sum())
    if count == 0:
        return values, 0, 0.0
    median = float(np.median(values[~missing])) if count < values.size else 0.0
    return np.where(missing, np.float32(median), values), count, median


def _parse(table: Table, column: str, series: pl.Series, advice: str) -> pl.Series:
    cells = tidy_strings(series)
    values = cells.cast(pl.Float64, strict=False)
    odd = (values.is_null() & cells.is_not_null()).arg_true()
    if len(odd):
        index = int(odd[0])
        cell = cells[index]
        comma = " Write decimals with a point." if cell.replace(",", ".", 1).replace(".", "", 1).isdigit() else ""
        raise DataError(
            f"Expected a number in {table.place(index, column)}, but got {shown(cell)} ({len(odd):,} such cells in "
            f"this column).{comma} Mend the cell{advice}."
        )
    return values
