"""Tables of text and of Parquet against Python's own reader and polars' writer."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lnp.datasets.files.read_tables as module
from lnp.datasets.files.read_tables import looks_numeric, read_table
from lnp.errors import DataError, UnknownNameError

cell = st.text(st.sampled_from('ab ,;"\né'), max_size=5)
quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=80)


@quick
@given(rows=st.lists(st.tuples(cell, cell), min_size=1, max_size=6))
def test_text_is_read_as_it_was_written(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    path = tmp_path / "nodes.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "label"])
        writer.writerows(rows)
    table = read_table(path)
    assert [tuple(value or "" for value in row) for row in table.frame.rows()] == rows
    assert table.first_row == 2


def test_numbers_are_parsed_and_ids_stay_as_written(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text("ID,x,code\n007,1.5,007\n7, 2 ,8\n1e3,,9\n")
    table = read_table(path, ("id",))
    assert table.frame["ID"].to_list() == ["007", "7", "1e3"]
    assert table.frame["code"].to_list() == [7.0, 8.0, 9.0]
    assert table.frame["x"].to_list() == ["1.5", " 2 ", None]  # not all are numbers: as written


def test_a_column_that_stops_being_numbers_is_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SAMPLE", 3)
    path = tmp_path / "nodes.csv"
    path.write_text("id,x\n" + "".join(f"{i},{i}\n" for i in range(5)) + "5,oops\n")
    assert read_table(path, ("id",)).frame["x"].to_list() == ["0", "1", "2", "3", "4", "oops"]


def test_a_column_without_a_name_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text(",id\n0,a\n1,b\n")
    table = read_table(path)
    assert table.frame.columns == ["id"]
    assert table.left_out == {"unnamed 1": "it has no name"}


def test_names_with_stars_are_names(tmp_path: Path) -> None:
    for name in ("no*des.csv", "[n].csv", "n?.csv"):
        (tmp_path / name).write_text("id\na\n")
        assert read_table(tmp_path / name).frame["id"].to_list() == ["a"]
    pl.DataFrame({"id": ["b"]}).write_parquet(tmp_path / "n*.parquet")
    assert read_table(tmp_path / "n*.parquet").frame["id"].to_list() == ["b"]


def test_parquet_keeps_types_and_unfolds_categories(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": [1, 2], "kind": pl.Series(["a", None], dtype=pl.Categorical), "v": [[1.0], [2.0]]})
    frame.write_parquet(tmp_path / "nodes.parquet")
    table = read_table(tmp_path / "nodes.parquet")
    assert table.frame.schema == {"id": pl.Int64, "kind": pl.String, "v": pl.List(pl.Float64)}
    assert (table.first_row, table.frame["kind"].to_list()) == (1, ["a", None])


def test_bad_parquet_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nodes.parquet"
    pl.DataFrame({"id": list(range(100))}).write_parquet(path)
    whole = path.read_bytes()
    for content, message in [
        (b"", "the file is empty"),
        (whole[:-20], "to be a Parquet file"),
        (b"id,label\n1,2\n", "to be a Parquet file"),
        (whole[:4] + b"\xff" * 40 + whole[44:], "to be a Parquet file"),
    ]:
        path.write_bytes(content)
        with pytest.raises(DataError, match=message):
            read_table(path)
    pl.DataFrame({"id": []}).write_parquet(path)
    with pytest.raises(DataError, match=r"Expected rows"):
        read_table(path)
    with pytest.raises(DataError, match=r"no such file"):
        read_table(tmp_path / "absent.parquet")
    with pytest.raises(UnknownNameError, match=r"'nodes.xlsx', ending in '.xlsx'. .*Choices: .csv"):
        read_table(tmp_path / "nodes.xlsx")


def test_half_of_the_cells_make_numbers() -> None:
    assert looks_numeric(pl.Series(["1", "2e5", "x", "y", "", "NA"]))
    assert not looks_numeric(pl.Series(["1", "x", "y"]))
    assert not looks_numeric(pl.Series(["", None], dtype=pl.String))
