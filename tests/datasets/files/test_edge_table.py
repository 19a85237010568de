"""Both ends of every edge, or its row."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from lnp.datasets.files.edge_table import EdgeList, read_edges
from lnp.datasets.files.import_options import ImportOptions
from lnp.datasets.files.table import Table
from lnp.errors import DataError

IDS = pl.Series(["a", "b", "c"])


def read(columns: dict[str, object], **options: object) -> EdgeList:
    table = Table("edges.csv", pl.DataFrame(columns, strict=False), first_row=2)
    return read_edges(table, IDS, ImportOptions(**options))


def test_ends_and_weights() -> None:
    edges = read({"from": ["a", "c"], "to": [" b", "a"], "weight": ["2", "0.5"], "when": [1, 2]})
    assert edges.ends.tolist() == [[0, 2], [1, 0]]
    np.testing.assert_array_equal(edges.weights, np.array([2, 0.5], np.float32))
    assert (edges.dropped, edges.unused) == (0, ("when",))


def test_columns_by_name() -> None:
    edges = read({"u": ["a"], "v": ["b"], "strength": [3]}, source="u", target="v", weight="strength")
    assert (edges.ends.tolist(), edges.weights.tolist()) == ([[0], [1]], [3.0])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"source": ["a", "x"], "target": ["b", "a"]},
            r"edges.csv, row 3, column 'source', but the node table has no 'x'",
        ),
        ({"source": ["a"], "target": ["y"]}, r"row 2, column 'target', but the node table has no 'y' \(1 such edges"),
        ({"source": ["a"], "target": [""]}, r"row 2, column 'target', but the cell is empty"),
        ({"source": ["a"]}, r"'target' or 'dst' or 'to', but it has only 'source'"),
        ({"source": ["a"], "target": ["b"], "weight": [0]}, r"positive weight in edges.csv, row 2, .* got '0'"),
        ({"source": ["a"], "target": ["b"], "weight": [None]}, r"positive weight in edges.csv, row 2, .* got nothing"),
        ({"source": ["a"], "target": ["b"], "weight": ["heavy"]}, r"a number in edges.csv, row 2, column 'weight'"),
        ({"source": ["a"], "target": ["b"], "weight": [float("inf")]}, r"finite number in edges.csv, row 2"),
    ],
)
def test_what_is_wrong_is_named(columns: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(columns)


@pytest.mark.parametrize(("node", "end"), [("12", "12.0"), ("12.0", "12")])
def test_numbers_that_one_table_has_as_floats_are_pointed_out(node: str, end: str) -> None:
    table = Table("edges.csv", pl.DataFrame({"source": [node, "7"], "target": [end, node]}), first_row=2)
    with pytest.raises(DataError, match=rf"row 2, .* has no '{end}' .* It has '{node}': write the ids of both tables"):
        read_edges(table, pl.Series([node, "7"]), ImportOptions())


def test_one_column_is_not_two_ends() -> None:
    with pytest.raises(DataError, match=r"column 'source' is named for both"):
        read({"source": ["a"], "target": ["b"]}, target="source")


def test_unknown_ends_go_on_request() -> None:
    edges = read({"source": ["a", "x", "b"], "target": ["b", "a", "c"], "weight": [1, 2, 3]}, drop_unknown=True)
    assert (edges.ends.tolist(), edges.weights.tolist(), edges.dropped) == ([[0, 1], [1, 2]], [1.0, 3.0], 1)
