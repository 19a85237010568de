"""Places and values as messages show them."""

from __future__ import annotations

import polars as pl
import pytest

from lnp.datasets.files.table import Table, shown, tidy_strings
from lnp.errors import DataError


def test_a_place_counts_as_a_spreadsheet_does() -> None:
    table = Table("nodes.csv", pl.DataFrame({"x": [1, 2]}), first_row=2)
    assert table.place(0) == "nodes.csv, row 2"
    assert table.place(1998, "x") == "nodes.csv, row 2,000, column 'x'"
    assert len(table) == 2


def test_a_missing_column_is_named_with_those_that_are_there() -> None:
    table = Table("nodes.csv", pl.DataFrame({f"c{i}": [1] for i in range(25)}))
    with pytest.raises(DataError, match=r"to have a column 'z', but it has only 'c0', .* and 5 more. Name .* --label"):
        table.series("z", "--label")


def test_values_stay_short_and_on_one_line() -> None:
    assert shown("a\nb") == "'a\\nb'"
    assert len(shown("x" * 1000)) <= 44


def test_spaces_and_missing_words_go() -> None:
    found = tidy_strings(pl.Series([" a ", "", "NA", None, "null", "nan", "\tb\n", "None", "#N/A"]))
    assert found.to_list() == ["a", None, None, None, None, "nan", "b", None, None]
