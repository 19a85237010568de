"""Ids to node numbers, against a dictionary."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnp.datasets.files.ids import find_ids, read_ids, unique_ids
from lnp.datasets.files.table import Table
from lnp.errors import DataError


def table(values: object, **options: object) -> Table:
    return Table("nodes.csv", pl.DataFrame({"id": pl.Series(values, **options)}), first_row=2)  # type: ignore[arg-type]


@given(st.lists(st.text(max_size=3), unique=True, min_size=1), st.lists(st.text(max_size=3)))
def test_positions_are_those_of_a_dictionary(ids: list[str], wanted: list[str]) -> None:
    position = {name: i for i, name in enumerate(ids)}
    found = find_ids(pl.Series(ids, dtype=pl.String), pl.Series(wanted, dtype=pl.String))
    assert found.tolist() == [position.get(name, -1) for name in wanted]


def test_numbers_and_text_meet_as_text() -> None:
    assert find_ids(pl.Series([10, 7]), pl.Series(["7", "07", "10"])).tolist() == [1, -1, 0]
    assert find_ids(pl.Series(["7"]), pl.Series([7, 8])).tolist() == [0, -1]


def test_ids_are_text_or_whole_numbers() -> None:
    assert read_ids(table([" a", "b "]), "id").to_list() == ["a", "b"]
    assert read_ids(table([1.0, 2.0]), "id").to_list() == [1, 2]  # whole numbers that became floats on the way
    assert read_ids(table([2**64 - 1], dtype=pl.UInt64), "id").to_list() == [str(2**64 - 1)]
    for values, message in [
        (["a", " "], "an id in nodes.csv, row 3, column 'id', but the cell is empty"),
        (["a", None], "row 3, column 'id', but the cell is empty"),
        ([1.0, float("nan")], "row 3, column 'id', but the cell is empty"),
        ([1.0, 2.5], "row 3, column 'id', but got 2.5"),
        ([float("inf")], "row 2, column 'id', but got inf"),
        ([[1], [2]], r"but got List\(Int64\)"),
    ]:
        with pytest.raises(DataError, match=message):
            read_ids(table(values), "id")


def test_a_second_row_for_a_node_is_named_with_the_first() -> None:
    with pytest.raises(DataError, match=r"row 5, column 'id', has 'b' again, which is in row 3 already \(2 such rows"):
        unique_ids(table(["a", "b", "c", "b ", "b"]), "id")
