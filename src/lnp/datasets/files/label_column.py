"""Given labels and the mark "trusted", from columns as people write them.

Labels are names or whole numbers; spaces around them do not count. An empty cell is a node without a label, and so is
−1 where all labels are whole numbers. Whole numbers may be written 3.0, as programs do once a cell of the column is
empty; the class is called 3. Classes are in the order of their numbers, else of their names.
"""

from __future__ import annotations

import re

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lnp.datasets.files.table import MISSING, Table, shown, tidy_strings
from lnp.errors import DataError
from lnp.graph.labels import UNKNOWN

__all__ = ["MAX_CLASSES", "encode_labels", "read_trusted", "without_zeros"]

MAX_CLASSES = 10_000
"""More classes than this are no classes; such a column holds ids or measurements."""

WHOLE = re.compile(r"[+-]?\d{1,18}$")
WHOLE_OR_ZEROS = r"^[+-]?\d{1,18}(\.0+)?$"
ANSWERS = {
    **dict.fromkeys(["1", "1.0", "true", "yes", "y", "t"], True),
    **dict.fromkeys(["0", "0.0", "false", "no", "n", "f"], False),
}
"""How people write that a label was checked, or not."""


def encode_labels(table: Table, column: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Class numbers (−1 unknown) and the names of the classes.

    Args:
        table: The node table.
        column: Where the labels are.
    """
    names = _names(table, column)
    if names.drop_nulls().str.contains(WHOLE_OR_ZEROS).all():
        names = without_zeros(names)
    distinct = names.drop_nulls().unique().to_list()
    if len(distinct) > MAX_CLASSES:
        raise DataError(
            f"Expected a label for many nodes each in {table.column} {column!r} of {table.name}, but it has "
            f"{len(distinct):,} different ones. Name the right {table.column} with --label."
        )
    if all(WHOLE.match(name) for name in distinct):
        classes = sorted((name for name in distinct if int(name) != UNKNOWN), key=lambda name: (int(name), name))
    else:
        classes = sorted(distinct)
    if len(classes) < 2:
        found = f"only {shown(classes[0])}" if classes else "none"
        raise DataError(
            f"Expected labels of at least two classes in {table.column} {column!r} of {table.name}, but got {found}. "
            f"Name the right {table.column} with --label."
        )
    numbers = names.replace_strict(classes, list(range(len(classes))), default=UNKNOWN, return_dtype=pl.Int64)
    return numbers.fill_null(UNKNOWN).to_numpy().copy(), tuple(classes)


def without_zeros(names: pl.Series) -> pl.Series:
    """Whole numbers without a decimal part of zeros; other words stay.

    >>> without_zeros(pl.Series(["3.0", "-1.00", "4", "v1.0"])).to_list()
    ['3', '-1', '4', 'v1.0']
    """
    return names.str.replace(r"^([+-]?\d{1,18})\.0+$", "$1")


def read_trusted(table: Table, column: str, given: NDArray[np.int64] | None = None) -> NDArray[np.bool_]:
    """The mask of a column with 0 and 1, true and false, yes and no; an empty cell is no.

    Args:
        table: The node table.
        column: Where the marks are.
        given: The labels; a trusted node must have one.
    """
    words = tidy_strings(table.frame[column].cast(pl.String), (*MISSING, "NaN", "nan")).str.to_lowercase()
    mask = words.replace_strict(list(ANSWERS), list(ANSWERS.values()), default=None, return_dtype=pl.Boolean)
    odd = (mask.is_null() & words.is_not_null()).arg_true()
    if len(odd):
        index = int(odd[0])
        raise DataError(
            f"Expected 1 or 0, yes or no, in {table.place(index, column)}, but got "
            f"{shown(table.frame[column][index])}. Mend the cell, or name another column with --trusted."
        )
    trusted: NDArray[np.bool_] = mask.fill_null(value=False).to_numpy().copy()
    if given is not None:
        without = np.flatnonzero(trusted & (given == UNKNOWN))
        if without.size:
            raise DataError(
                f"Expected every trusted node to have a label, but {table.place(int(without[0]), column)}, is trusted "
                "and has none. Give the label, or take the mark away."
            )
    return trusted


def _names(table: Table, column: str) -> pl.Series:
    """The labels as text, null where there is none."""
    series = table.frame[column]
    if series.dtype.is_float():
        series = series.fill_nan(None)
        whole = (series == series.floor()) & (series.abs() < 1e15)
        broken = (~whole).fill_null(value=False).arg_true()
        if len(broken):
            index = int(broken[0])
            raise DataError(
                f"Expected a class, a name or a whole number, in {table.place(index, column)}, but got "
                f"{series[index]}. Cut measurements into classes first, or name another column with --label."
            )
        series = series.cast(pl.Int64)
    if not (series.dtype.is_integer() or series.dtype in (pl.String, pl.Boolean, pl.Null)):
        raise DataError(
            f"Expected classes, names or whole numbers, in {table.column} {column!r} of {table.name}, but got "
            f"{series.dtype}. Name the right {table.column} with --label."
        )
    return tidy_strings(series, (*MISSING, "NaN", "nan"))
