"""Nodes or edges with attributes, collected one by one, as a table: for XML files and networkx graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from lnp.datasets.files.table import Table

__all__ = ["AttributeTable"]


class AttributeTable:
    """Grows by records, each of which has a few attributes.

    Args:
        keys: The columns that every record has, for instance "id".
    """

    def __init__(self, *keys: str) -> None:
        self.columns: dict[str, list[object]] = {key: [] for key in keys}
        self.keys = keys
        self.numbers: set[str] = set()
        self.rows = 0

    def add(self, *values: object) -> None:
        """Begins a record with the values of its keys."""
        for key, value in zip(self.keys, values, strict=True):
            self.columns[key].append(value)
        self.rows += 1

    def put(self, name: str, value: object, *, number: bool = False) -> None:
        """Sets an attribute of the last record; one that is called like a key is told apart from it."""
        name = f"attribute {name}" if name in self.keys else name
        column = self.columns.setdefault(name, [])
        column.extend([None] * (self.rows - 1 - len(column)))
        if len(column) == self.rows:
            column[-1] = value
        else:
            column.append(value)
        if number:
            self.numbers.add(name)

    def fill(self, name: str, default: object) -> None:
        """Gives an attribute to all records that have none."""
        name = f"attribute {name}" if name in self.keys else name
        column = self.columns.setdefault(name, [])
        column.extend([None] * (self.rows - len(column)))
        self.columns[name] = [default if value is None else value for value in column]

    def complete(self, name: str, default: object) -> None:
        """As :meth:`fill`, where at least one record has the attribute."""
        if name in self.columns:
            self.fill(name, default)

    def rename(self, old: str, new: str) -> None:
        """Gives a column another name."""
        self.columns = {new if name == old else name: column for name, column in self.columns.items()}

    def table(self, name: str, row: str) -> Table:
        """The records as columns, those that are declared as numbers marked as such."""
        columns = [
            _series(label, [*column, *([None] * (self.rows - len(column)))]) for label, column in self.columns.items()
        ]
        declared = {label: "numbers" for label in self.columns if label in self.numbers}
        return Table(name, pl.DataFrame(columns), row=row, column="attribute", declared=declared)


def _series(label: str, values: list[object]) -> pl.Series:
    """A column of marks, of numbers or of vectors where all values are that, else of text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds and all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return pl.Series(label, [None if value is None else bool(value) for value in values], dtype=pl.Boolean)
    if kinds and all(issubclass(kind, bool | int | float | np.number | np.bool_) for kind in kinds):
        whole = all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds)
        convert: Callable[[Any], float] = int if whole else float
        numbers = [None if value is None else convert(value) for value in values]
        return pl.Series(label, numbers, dtype=pl.Int64 if whole else pl.Float64)
    if kinds and all(issubclass(kind, list | tuple | np.ndarray) for kind in kinds):
        try:
            vectors = [None if value is None else np.asarray(value, np.float64).tolist() for value in values]
            return pl.Series(label, vectors, dtype=pl.List(pl.Float64))
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            pass  # lists of something else
    return pl.Series(label, [None if value is None else str(value) for value in values], dtype=pl.String)
