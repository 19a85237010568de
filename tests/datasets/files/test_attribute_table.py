"""Records with holes become columns."""

from __future__ import annotations

import numpy as np
import polars as pl

from lnp.datasets.files.attribute_table import AttributeTable


def test_holes_are_nulls_and_types_are_kept() -> None:
    records = AttributeTable("id")
    for i, attributes in enumerate(
        [{"x": 1, "v": (1, 2)}, {}, {"x": 2.5, "s": "t", "id": "own"}, {"v": np.array([3, 4]), "m": "1"}, {"m": 2}]
    ):
        records.add(f"n{i}")
        for name, value in attributes.items():
            records.put(name, value)
    frame = records.table("here", "node").frame
    assert frame.to_dict(as_series=False) == {
        "id": ["n0", "n1", "n2", "n3", "n4"],
        "x": [1.0, None, 2.5, None, None],
        "v": [[1.0, 2.0], None, None, [3.0, 4.0], None],
        "s": [None, None, "t", None, None],
        "attribute id": [None, None, "own", None, None],
        "m": [None, None, None, "1", "2"],
    }
    assert frame.schema["v"] == pl.List(pl.Float64)


def test_the_last_word_counts_and_defaults_fill_the_rest() -> None:
    records = AttributeTable("id")
    records.add("a")
    records.put("x", "1", number=True)
    records.put("x", "2", number=True)
    records.add("b")
    records.fill("x", "9")
    records.fill("y", "z")
    table = records.table("here", "node")
    assert table.frame.rows() == [("a", "2", "z"), ("b", "9", "z")]
    assert (table.declared, table.place(1, "x")) == ({"x": "numbers"}, "here, node 2, attribute 'x'")
