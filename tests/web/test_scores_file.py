from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lnp.audit.table import AuditTable
from lnp.errors import DataError
from lnp.web.scores_file import read_scores, read_scores_of, write_scores


def test_an_audit_comes_back_bit_by_bit(table: Callable[..., AuditTable], tmp_path: Path) -> None:
    made = table([4, 9, 2], [0, 1, 2], [0.1, 0.8, np.pi / 4], [2, 1, 0])
    similarity = np.array([[np.nan, 1, -1]] * 3)
    made = dataclasses.replace(made, prototype_similarity=similarity, class_names=("ä", "<b>", "c"))
    write_scores(tmp_path / "s.npz", made)
    read = read_scores(tmp_path / "s.npz")
    for field in dataclasses.fields(AuditTable):
        before, after = getattr(made, field.name), getattr(read, field.name)
        if isinstance(before, np.ndarray):
            assert after.dtype == before.dtype
            np.testing.assert_array_equal(after, before)
        else:
            assert after == before
            assert type(after) is type(before)


def test_scores_of_something_else_are_not_taken(table: Callable[..., AuditTable], tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    assert read_scores_of(path, "a") is None
    write_scores(path, table([0], [0], [0.5], [1]), "a")
    assert read_scores_of(path, "a") is not None
    assert read_scores_of(path, "b") is None
    path.write_bytes(path.read_bytes()[:100])
    assert read_scores_of(path, "a") is None
    with pytest.raises(DataError, match=r"s\.npz"):
        read_scores(path)
