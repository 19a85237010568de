"""Which column is what."""

from __future__ import annotations

import polars as pl
import pytest

from lnp.datasets.files.roles import find_role, require_role
from lnp.datasets.files.table import Table
from lnp.errors import DataError

TABLE = Table("nodes.csv", pl.DataFrame({"Node_ID": [1], "Class": ["a"], "y": [2], "LABEL": ["b"]}))


def test_usual_names_in_their_order() -> None:
    assert find_role(TABLE, "id", None) == "Node_ID"
    assert find_role(TABLE, "label", None) == "LABEL"  # before class, before y
    assert find_role(TABLE, "trusted", None) is None


def test_the_user_comes_first() -> None:
    assert require_role(TABLE, "label", "y") == "y"
    with pytest.raises(DataError, match=r"to have a column 'klass', .* Name another one with --label"):
        find_role(TABLE, "label", "klass")


def test_a_missing_column_is_an_error_with_advice() -> None:
    with pytest.raises(DataError, match=r"'source' or 'src' or 'from', but it has only .*'LABEL'. .* with --source"):
        require_role(TABLE, "source", None)
