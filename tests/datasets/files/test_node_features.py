"""Features side by side, with nothing lost and nothing mended in silence."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from lnp.datasets.files.import_options import ImportOptions
from lnp.datasets.files.node_features import MOST_NUMBERS, NodeFeatures, read_features
from lnp.datasets.files.table import Table
from lnp.errors import DataError


def read(columns: dict[str, object], **options: object) -> NodeFeatures:
    frame = pl.DataFrame(columns, strict=False)
    return read_features(Table("nodes.csv", frame, first_row=2), frame.columns, ImportOptions(**options))


def test_numbers_alone_stay_as_they_are() -> None:
    found = read({"a": [2000, 2010, None], "v": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "b": [0.1, 0.2, 0.3]})
    np.testing.assert_array_equal(
        found.matrix, np.array([[2000, 1, 2, 0.1], [2010, 3, 4, 0.2], [2005, 5, 6, 0.3]], "f4")
    )
    assert found.names == ("a", "v[0]", "v[1]", "b")
    assert [(row.used_as, row.features) for row in found.rows] == [("numbers", 1), ("vector", 2), ("numbers", 1)]
    assert [finding.what for finding in found.findings] == ["missing values"]
    assert found.rows[0].note == "1 missing, filled with the median 2005"


def test_beside_words_numbers_go_from_zero_to_one() -> None:
    texts = ["red green blue", "red green blue", "red red red", None]
    found = read({"year": [2000, 2010, 2005, 2010], "text": texts, "same": [3, 3, 3, 3]})
    assert found.names == ("year", "text:blue", "text:green", "text:red", "same")
    dense = found.matrix.toarray() if sp.issparse(found.matrix) else found.matrix
    np.testing.assert_allclose(dense[:, 0], [0, 1, 0.5, 1])
    np.testing.assert_allclose(dense[:, 4], 0)
    np.testing.assert_allclose(np.linalg.norm(dense[:3, 1:4], axis=1), 1, rtol=1e-6)
    assert {finding.what: finding.count for finding in found.findings} == {
        "constant columns": 1,
        "missing values": 1,
        "scaled columns": 2,
    }
    assert found.texts == {
        "text": ("red green blue", "red green blue", "red red red", ""),
        "year": ("2000", "2010", "2005", "2010"),  # as it was, for people
        "same": ("3", "3", "3", "3"),
    }
    assert list(found.texts) == ["text", "year", "same"]  # lists show the first


def test_many_numbers_are_not_shown_beside_texts() -> None:
    columns = {f"x{i}": [1.5, 2.5] for i in range(MOST_NUMBERS)}
    assert list(read({"name": ["a b c", "d e f"], **columns}).texts) == ["name", *columns]
    assert list(read({"name": ["a b c", "d e f"], **columns, "one more": [1, 2]}).texts) == ["name"]
    assert read(columns).texts == {}


def test_mostly_zeros_stay_sparse() -> None:
    kinds = [f"kind {i % 30}" for i in range(90)]
    found = read({"kind": kinds})
    assert sp.issparse(found.matrix)
    assert found.matrix.nnz == 90
    assert found.names[0] == "kind=kind 0"
    assert isinstance(read({"kind": ["a", "b", "a", "b"]}).matrix, np.ndarray)


def test_every_column_is_accounted_for() -> None:
    found = read({"x": [1, 2], "none": [None, None], "name": ["p", "q"], "skip": [5, 6]}, ignore=("skip",))
    assert [(row.name, row.used_as) for row in found.rows] == [
        ("x", "numbers"),
        ("none", "left out"),
        ("name", "shown"),
        ("skip", "left out"),
    ]
    assert {finding.what: finding.count for finding in found.findings} == {
        "empty columns": 1,
        "columns without features": 1,
    }
    assert found.texts == {"name": ("p", "q"), "x": ("1", "2")}


def test_no_features_are_none() -> None:
    found = read({"name": ["p", "q"], "text": ["! ?", "? !"]}, text=("text",))
    assert found.matrix is None
    assert [finding.what for finding in found.findings] == ["columns without words", "columns without features"]


def test_numbers_by_force_are_categories_as_written() -> None:
    assert read({"code": [3.0, 7.0, 3.0]}, category=("code",)).names == ("code=3", "code=7")
    assert read({"code": [3.5, 7.0, 3.0]}, category=("code",)).names == ("code=3.0", "code=3.5", "code=7.0")


def test_a_word_among_numbers_is_named_with_what_to_do() -> None:
    with pytest.raises(
        DataError, match=r"nodes.csv, row 4, column 'x', but got 'oops' .*--category x, --text x or --ignore x"
    ):
        read({"x": ["1", "2", "oops"]})
