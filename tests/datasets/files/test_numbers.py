"""Every cell a finite number, or missing."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from lnp.datasets.files.numbers import fill_missing, read_numbers
from lnp.datasets.files.table import Table
from lnp.errors import DataError

NAN, INF = float("nan"), float("inf")


def table(values: object, **options: object) -> Table:
    return Table("nodes.csv", pl.DataFrame({"x": pl.Series(values, **options)}), first_row=2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "values", [[1.5, None, -2.0], [" 1.5", "NA", "-2 "], ["1.5", "", "-2e0"], [1.5, NAN, -2.0], ["1.5", "NaN", "-2"]]
)
def test_numbers_are_numbers_however_written(values: list[object]) -> None:
    found = read_numbers(table(values), "x", nan_as_missing=True)
    np.testing.assert_array_equal(found, np.array([1.5, np.nan, -2.0], np.float32))
    assert found.dtype == np.float32


def test_booleans_and_whole_numbers_are_numbers() -> None:
    assert read_numbers(table([True, False]), "x").tolist() == [1, 0]
    assert read_numbers(table([3, 2**40]), "x").tolist() == [3, 2**40]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            [1.0, NAN, NAN],
            r"nodes.csv, row 3, column 'x', but got nan, .* not a number \(2 such .*--nan-as-missing",
        ),
        ([1.0, 2.0, -INF], "row 4, column 'x', but got -inf, which is infinite"),
        (["1", "1e999"], "row 3, column 'x', but got inf, which is infinite"),
        ([1e39], "row 2, column 'x', but got 1e[+]39, which is too large"),
        (["1", "1,5"], r"row 3, column 'x', but got '1,5' \(1 such .* Write decimals with a point. Mend the cell, or"),
        (["1", "abc", "x"], r"row 3, column 'x', but got 'abc' \(2 such cells in this column\). Mend the cell, or"),
    ],
)
def test_what_is_none_is_named(values: list[object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_numbers(table(values), "x", advice=", or else")


def test_missing_ones_get_the_median() -> None:
    filled, count, median = fill_missing(np.array([1, np.nan, 5, 2, np.nan], np.float32))
    assert (filled.tolist(), count, median) == ([1, 2, 5, 2, 2], 2, 2.0)
    same = np.array([1, 2], np.float32)
    assert fill_missing(same)[0] is same
    assert fill_missing(np.array([np.nan], np.float32))[0].tolist() == [0]
