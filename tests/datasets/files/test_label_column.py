"""Labels and marks as people write them."""

from __future__ import annotations

import polars as pl
import pytest

import lnp.datasets.files.label_column as module
from lnp.datasets.files.label_column import encode_labels, read_trusted
from lnp.datasets.files.table import Table
from lnp.errors import DataError


def table(values: object) -> Table:
    return Table("nodes.csv", pl.DataFrame({"c": pl.Series(values, strict=False)}), first_row=2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("values", "given", "classes"),
    [
        (["b", " a", None, "", "NA", "b "], [1, 0, -1, -1, -1, 1], ("a", "b")),
        (["10", "9", "-1", "9"], [1, 0, -1, 0], ("9", "10")),  # numbers in their order, −1 unknown
        (["10", "9", "-1", "x"], [1, 2, 0, 3], ("-1", "10", "9", "x")),  # names, in alphabetical order
        ([3, 1, None, -1], [1, 0, -1, -1], ("1", "3")),
        ([2.0, 0.0, float("nan")], [1, 0, -1], ("0", "2")),
        ([True, False, None], [1, 0, -1], ("false", "true")),
        (["10.0", "9.0", "-1.0", None], [1, 0, -1, -1], ("9", "10")),  # a column of floats, written as text
        (["1.0", "1", "2"], [0, 0, 1], ("1", "2")),
        (["1.0", "1.5", "2"], [0, 1, 2], ("1.0", "1.5", "2")),  # versions are names
        (["007", "7", "07"], [0, 2, 1], ("007", "07", "7")),
    ],
)
def test_labels_become_class_numbers(values: list[object], given: list[int], classes: tuple[str, ...]) -> None:
    found, names = encode_labels(table(values), "c")
    assert (found.tolist(), names) == (given, classes)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.5, 1.0], "nodes.csv, row 2, column 'c', but got 0.5. Cut measurements"),
        ([1.0, float("inf")], "row 3, column 'c', but got inf"),
        (["a", "a", None], "at least two classes in column 'c' of nodes.csv, but got only 'a'"),
        ([None, ""], "but got none"),
        ([["a"], ["b"]], r"but got List\(String\)"),
    ],
)
def test_no_classes_are_named(values: list[object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        encode_labels(table(values), "c")


def test_too_many_classes_are_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CLASSES", 3)
    with pytest.raises(DataError, match=r"it has 5 different ones. Name the right column with --label"):
        encode_labels(table(list("abcde")), "c")


def test_marks_in_every_spelling() -> None:
    for values in (["1", "0", "", None], ["YES", "no", "NA", None], [True, False, None, None], [1.0, 0.0, None, None]):
        assert read_trusted(table(values), "c").tolist() == [True, False, False, False]


def test_other_marks_and_trust_without_a_label_are_named() -> None:
    import numpy as np

    with pytest.raises(DataError, match=r"row 3, column 'c', but got '2'"):
        read_trusted(table(["1", "2"]), "c")
    with pytest.raises(DataError, match=r"row 3, column 'c', is trusted and has none"):
        read_trusted(table([1, 1]), "c", np.array([0, -1]))
