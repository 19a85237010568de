"""Columns of categories: one feature for each value, 1 where a node has it (one-hot)."""

from __future__ import annotations

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.preprocessing import OneHotEncoder

__all__ = ["MOST_VALUES", "category_features"]

MOST_VALUES = 1000
"""Of a column with more values the rarest share one feature."""


def category_features(values: pl.Series, most: int = MOST_VALUES) -> tuple[sp.csr_array, tuple[str, ...]]:
    """One column per value in alphabetical order; a node without a value has zeros everywhere.

    Args:
        values: One value per node as text, null where there is none.
        most: The largest number of columns; beyond it the rarest values share the last one.

    >>> matrix, names = category_features(pl.Series(["b", "a", None, "b"]))
    >>> names, matrix.toarray().tolist()
    (('a', 'b'), [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    """
    distinct = values.drop_nulls().unique().sort().to_list()
    if not distinct:
        return sp.csr_array((len(values), 0), dtype=np.float32), ()
    codes = values.replace_strict(distinct, list(range(len(distinct))), default=None, return_dtype=pl.Int64)
    known = codes.is_not_null().arg_true().to_numpy()
    encoder = OneHotEncoder(dtype=np.float32, max_categories=most)
    part = encoder.fit_transform(codes.drop_nulls().to_numpy().reshape(-1, 1))
    shape = (len(values), part.shape[1])
    whole = sp.csr_array((part.data, part.indices, _spread(part.indptr, known, len(values))), shape)
    infrequent = encoder.infrequent_categories_[0]
    rare = set() if infrequent is None else set(infrequent.tolist())
    kept = [name for code, name in enumerate(distinct) if code not in rare]
    return whole, (*kept, *([f"one of {len(rare):,} others"] if rare else []))


def _spread(pointers: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """Row pointers of a matrix with ``count`` rows, of which ``rows`` are those of the given pointers."""
    lengths = np.zeros(count, pointers.dtype)
    lengths[rows] = np.diff(pointers)
    return np.concatenate([np.zeros(1, pointers.dtype), np.cumsum(lengths, dtype=pointers.dtype)])
