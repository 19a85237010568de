"""The rule that says what becomes of a column."""

from __future__ import annotations

import datetime

import polars as pl
import pytest

from lnp.datasets.files.columns import choose_uses
from lnp.datasets.files.import_options import ImportOptions
from lnp.datasets.files.table import Table
from lnp.errors import DataError

COLUMNS: dict[str, list[object]] = {
    "number": [1, 2, 3, 4],
    "flag": [True, False, None, True],
    "mostly": ["1", "2", "x", "y"],  # half are numbers: a column of numbers with mistakes
    "hardly": ["1", "x", "y", "x"],
    "abstract": ["one two three", "four five six seven", "", "a b"],
    "title": ["one two", "three four", "five six", "seven eight"],
    "kind": ["a", "b", "a", "b"],
    "vector": [[1.0], [2.0], [3.0], [4.0]],
    "empty": [None, None, None, None],
    "blank": ["", " ", "NA", None],
    "day": [datetime.date(2020, 1, 1)] * 4,
}

EXPECTED = {
    "number": "numbers",
    "flag": "numbers",
    "mostly": "numbers",
    "hardly": "shown",  # three values for four nodes
    "abstract": "words",
    "title": "shown",
    "kind": "categories",
    "vector": "vector",
    "empty": "left out",
    "blank": "left out",
    "day": "left out",
}


def uses(options: ImportOptions | None = None) -> dict[str, str]:
    table = Table("nodes.csv", pl.DataFrame(COLUMNS, strict=False))
    return {use.name: use.used_as for use in choose_uses(table, list(COLUMNS), options or ImportOptions())}


def test_the_rule() -> None:
    assert uses() == EXPECTED


def test_the_user_overrules_it() -> None:
    options = ImportOptions(text=("title", "kind"), category=("mostly", "number"), show=("abstract",), ignore=("flag",))
    changed = {"title": "words", "kind": "words", "mostly": "categories", "number": "categories", "abstract": "shown"}
    assert uses(options) == {**EXPECTED, **changed, "flag": "left out"}


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(DataError, match=r"to have a column 'titel', .* Name another one with --text"):
        uses(ImportOptions(text=("titel",)))


def test_a_hundred_values_are_few() -> None:
    for count, expected in ((100, "categories"), (101, "shown")):
        frame = pl.DataFrame({"c": [f"v{i % count}" for i in range(400)]})
        (use,) = choose_uses(Table("nodes.csv", frame), ["c"], ImportOptions())
        assert use.used_as == expected


def test_what_the_file_declares_counts() -> None:
    table = Table("g.graphml", pl.DataFrame({"c": ["a", "b", "c", "1"]}), declared={"c": "numbers"})
    (use,) = choose_uses(table, ["c"], ImportOptions())
    assert use.used_as == "numbers"  # and reading it will say that 'a' is none
