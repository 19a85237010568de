"""A table as it was read, with what is needed to say where something is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from lnp.errors import DataError

__all__ = ["MISSING", "Table", "counted", "decoded", "name_list", "shown", "tidy_strings"]

MISSING = ("", "NA", "N/A", "n/a", "#N/A", "null", "NULL", "None")
"""Cells that stand for a missing value. "NaN" is none of them among numbers: there it is a result gone wrong."""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length.

    Args:
        name: What messages call it: the file's path.
        frame: The columns.
        first_row: The number of the first record: 2 below a header, which is row 1, as in a spreadsheet.
        row: What a record is called: "row" or, in XML, "node" or "edge".
        column: What a column is called: "column" or, in XML, "attribute".
        declared: Columns whose type the file itself declares: "numbers" or "words".
        left_out: Columns that were not read, with the reason.
    """

    name: str
    frame: pl.DataFrame
    first_row: int = 1
    row: str = "row"
    column: str = "column"
    declared: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.frame.height

    def place(self, index: int, column: str | None = None) -> str:
        """Where a cell is: "nodes.csv, row 17, column 'x3'"."""
        where = f"{self.name}, {self.row} {index + self.first_row:,}"
        return where if column is None else f"{where}, {self.column} {column!r}"

    @property
    def a_column(self) -> str:
        """What a column is called, with its article."""
        return f"{'an' if self.column[0] in 'aeiou' else 'a'} {self.column}"

    def series(self, column: str, flag: str) -> pl.Series:
        """The column of that name; ``flag`` is how a user names another one."""
        if column not in self.frame.columns:
            raise DataError(
                f"Expected {self.name} to have {self.a_column} {column!r}, but it has only {self.names()}. Name "
                f"another one with {flag}."
            )
        return self.frame[column]

    def names(self) -> str:
        """The names of the columns, for messages."""
        quoted = [shown(name) for name in self.frame.columns]
        return ", ".join(quoted[:20]) + (f" and {len(quoted) - 20} more" if len(quoted) > 20 else "")


def decoded(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with text in the place of categories, which are text kept as numbers.

    >>> decoded(pl.DataFrame({"c": pl.Series(["x"], dtype=pl.Categorical)})).schema["c"]
    String
    """
    encoded = [name for name, kind in frame.schema.items() if isinstance(kind, pl.Categorical | pl.Enum)]
    return frame.with_columns(pl.col(encoded).cast(pl.String))


def shown(value: object, limit: int = 40) -> str:
    """A value for a message: quoted, short, on one line.

    >>> shown("a" * 100, limit=10)
    "'aaaaaaaaa…'"
    """
    text = str(value)
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def name_list(names: Sequence[str], most: int = 8) -> str:
    """Names for a message, not too many.

    >>> name_list(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(name if len(name) <= 40 else name[:39] + "…") for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def counted(count: int, one: str, many: str) -> str:
    """A number with the words that suit it.

    >>> counted(1, "edge is", "edges are"), counted(2000, "edge is", "edges are")
    ('1 edge is', '2,000 edges are')
    """
    return f"{count:,} {one if count == 1 else many}"


def tidy_strings(series: pl.Series, missing: tuple[str, ...] = MISSING) -> pl.Series:
    """Strings without spaces around them; what stands for a missing value becomes null."""
    stripped = series.cast(pl.String).str.strip_chars()
    return stripped.to_frame("text").select(pl.when(~pl.col("text").is_in(missing)).then("text")).to_series()
