"""What becomes of every column of a node table that is neither id nor label: features, something to show, or nothing.

The rule, in this order; ``--text``, ``--category``, ``--show`` and ``--ignore`` overrule it:

1. no cell says anything: left out;
2. numbers or booleans, or text of which at least half are numbers: one feature; any other cell is an error;
3. vectors of numbers: one feature per place;
4. text with three words or more on average: TF-IDF of its words;
5. text with at most 100 values, each for two nodes or more on average: one feature per value;
6. other text (names, addresses, titles of two words): shown to people, no feature;
7. anything else (dates, records): left out.

What decides is the first 10,000 rows (2, 4) or all (5).
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from lnp.datasets.files.import_options import ImportOptions
from lnp.datasets.files.read_tables import SAMPLE, looks_numeric
from lnp.datasets.files.table import MISSING, Table, tidy_strings
from lnp.datasets.files.vectors import is_vector

__all__ = ["EMPTY", "FEW_VALUES", "ON_REQUEST", "WORDS_OF_TEXT", "ColumnUse", "choose_uses"]

EMPTY, ON_REQUEST = "it is empty", "as you said"
"""Two notes."""

FEW_VALUES = 100
"""The most values of a column that counts as categories by itself."""

WORDS_OF_TEXT = 3
"""The mean number of words from which on a column counts as text by itself."""


@dataclass(frozen=True)
class ColumnUse:
    """A column, what it is used as (a word of :class:`~lnp.datasets.import_summary.ColumnRow`), and why."""

    name: str
    used_as: str
    note: str = ""


def choose_uses(table: Table, columns: list[str], options: ImportOptions) -> list[ColumnUse]:
    """The use of each of the columns."""
    forced: dict[str, str] = {}
    for flag, use in (("text", "words"), ("category", "categories"), ("show", "shown"), ("ignore", "left out")):
        for column in getattr(options, flag):
            if column not in table.left_out:
                table.series(column, f"--{flag}")
            forced[column] = use
    return [_choose(table, column, forced.get(column)) for column in columns]


def _choose(table: Table, column: str, forced: str | None) -> ColumnUse:
    series = table.frame[column]
    if forced is not None:
        return ColumnUse(column, forced, ON_REQUEST)
    if series.null_count() == len(series) or _is_blank(series):
        return ColumnUse(column, "left out", EMPTY)
    declared = table.declared.get(column)
    kind = series.dtype
    if declared == "numbers" or kind.is_numeric() or kind == pl.Boolean:
        return ColumnUse(column, "numbers")
    if is_vector(kind):
        return ColumnUse(column, "vector")
    if kind != pl.String:
        return ColumnUse(column, "left out", f"{kind} is no kind of feature")
    if declared != "words" and looks_numeric(series):
        return ColumnUse(column, "numbers")
    return _choose_text(column, series)


def _choose_text(column: str, series: pl.Series) -> ColumnUse:
    cells = tidy_strings(series).drop_nulls()
    words = cells.head(SAMPLE).str.count_matches(r"\S+").mean()
    assert isinstance(words, float)
    if words >= WORDS_OF_TEXT:
        return ColumnUse(column, "words", f"{words:.1f} words a node on average")
    values = cells.n_unique()
    if values <= FEW_VALUES and 2 * values <= len(cells):
        return ColumnUse(column, "categories", f"{values} values")
    return ColumnUse(column, "shown", f"{values:,} different short texts; a feature only with --text or --category")


def _is_blank(series: pl.Series) -> bool:
    return series.dtype == pl.String and bool(series.str.strip_chars().is_in(MISSING).fill_null(value=True).all())
