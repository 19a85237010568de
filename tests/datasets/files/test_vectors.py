"""Vectors in cells."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from lnp.datasets.files.table import Table
from lnp.datasets.files.vectors import is_vector, read_vectors
from lnp.errors import DataError


def table(values: object, kind: pl.DataType) -> Table:
    return Table("nodes.parquet", pl.DataFrame({"v": pl.Series(values, dtype=kind)}))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [pl.List(pl.Float64), pl.Array(pl.Float32, 2), pl.List(pl.Int64)])
def test_rows_are_the_vectors_and_missing_ones_the_mean(kind: pl.DataType) -> None:
    assert is_vector(kind)
    values, missing = read_vectors(table([[1, 2], None, [3, 6]], kind), "v")
    np.testing.assert_array_equal(values, [[1, 2], [2, 4], [3, 6]])
    assert (values.dtype, missing) == (np.float32, 1)


def test_other_kinds_are_none() -> None:
    assert not any(map(is_vector, [pl.Float64(), pl.String(), pl.List(pl.String), pl.Struct({"a": pl.Int64})]))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0], [1.0, 2.0]], "vectors of one length, 1, .* nodes.parquet, row 2, has 2 numbers"),
        ([[1.0], [float("nan")]], "row 2, column 'v', but one is missing, not a number"),
        ([[1.0], None, [None]], "row 3, column 'v', but one is missing"),
        ([[1.0], [1e300]], "row 2, column 'v', but one is .* too large"),
    ],
)
def test_damage_is_named(values: list[object], message: str) -> None:
    with np.errstate(over="ignore"), pytest.raises(DataError, match=message):
        read_vectors(table(values, pl.List(pl.Float64)), "v")
