"""One-hot against a loop."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from lnp.datasets.files.categories import category_features


@given(st.lists(st.none() | st.sampled_from(["a", "b", "ç", "<d>"]), min_size=1, max_size=12))
def test_ones_are_where_the_values_are(values: list[str | None]) -> None:
    matrix, names = category_features(pl.Series(values, dtype=pl.String))
    assert names == tuple(sorted({value for value in values if value is not None}))
    assert matrix.toarray().tolist() == [[float(value == name) for name in names] for value in values]


def test_the_rarest_share_a_column() -> None:
    values = pl.Series(["a"] * 3 + ["b"] * 2 + ["c", "d", None])
    matrix, names = category_features(values, most=3)
    assert names == ("a", "b", "one of 2 others")
    assert matrix.toarray().sum(axis=0).tolist() == [3, 2, 2]
    assert matrix.toarray()[-1].tolist() == [0, 0, 0]
