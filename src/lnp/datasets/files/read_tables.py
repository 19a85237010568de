"""CSV, TSV and Parquet files as tables; text may be packed with gzip.

Text is checked by :mod:`~lnp.datasets.files.text_check` and then parsed by polars, every column as text, except those
that look like numbers in the first :data:`SAMPLE` rows; those are parsed as numbers straight away where all of their
cells are, which saves most of the memory.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import polars as pl

from lnp.datasets.files.gzipped import kind_of
from lnp.datasets.files.table import Table, decoded, tidy_strings
from lnp.datasets.files.text_check import TextShape, check_text
from lnp.errors import DataError, UnknownNameError

__all__ = ["SAMPLE", "TABLE_SUFFIXES", "looks_numeric", "read_table"]

SAMPLE = 10_000
"""Rows that decide what a column is."""

TEXT_SUFFIXES = (".csv", ".tsv", ".tab", ".txt")
PARQUET_SUFFIXES = (".parquet", ".pq")
TABLE_SUFFIXES = (*TEXT_SUFFIXES, *PARQUET_SUFFIXES)
"""How the name of a table ends."""

BROKEN = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, MemoryError)
"""What polars raises for files that it cannot read; its panics are no ``Exception``."""


def read_table(path: Path, as_written: Collection[str] = ()) -> Table:
    """The table in a file; its format is told by the end of its name.

    Args:
        path: The file.
        as_written: Columns (capital letters or not) that stay text even where they look like numbers: ids and labels,
            of which 007 is one and 7 another.
    """
    suffix = kind_of(path)
    if suffix not in TABLE_SUFFIXES:
        raise UnknownNameError(f"kind of table {path.name!r}, ending in", suffix, TABLE_SUFFIXES)
    return _read_parquet(path) if suffix in PARQUET_SUFFIXES else _read_text(path, as_written)


def looks_numeric(series: pl.Series) -> bool:
    """Whether at least half of the cells that say something are numbers, by the first :data:`SAMPLE` rows."""
    cells = tidy_strings(series.head(SAMPLE)).drop_nulls()
    return len(cells) > 0 and 2 * cells.cast(pl.Float64, strict=False).count() >= len(cells)


def _read_text(path: Path, as_written: Collection[str]) -> Table:
    shape = check_text(path)
    labels = [name or f"unnamed {i + 1}" for i, name in enumerate(shape.names)]
    if len(set(labels)) < len(labels):
        raise DataError(f"Expected different names in row 1 of {path}, but they repeat. Name every column.")
    schema: dict[str, pl.DataType] = {name: pl.String() for name in labels}
    sample = _parse(path, shape, schema, rows=SAMPLE)
    text = {name.lower() for name in as_written}
    numbers = {name: pl.Float64() for name in labels if name.lower() not in text and looks_numeric(sample[name])}
    frame = _parse(path, shape, schema | numbers, lenient=True)
    # A null is an empty cell or one that is no number: as text it can be found and named.
    holes = [name for name in numbers if frame[name].null_count()]
    if holes:
        frame = frame.with_columns(_parse(path, shape, schema, columns=[labels.index(name) for name in holes]))
    unnamed = [label for label, name in zip(labels, shape.names, strict=True) if not name]
    reasons = dict.fromkeys(unnamed, "it has no name")  # what some programs write for row numbers
    return Table(str(path), frame.drop(unnamed), first_row=2, left_out=reasons)


def _parse(
    path: Path,
    shape: TextShape,
    schema: dict[str, pl.DataType],
    *,
    rows: int | None = None,
    columns: list[int] | None = None,
    lenient: bool = False,
) -> pl.DataFrame:
    wanted = shape.rows if rows is None else min(rows, shape.rows)
    try:
        frame = pl.read_csv(
            path,
            has_header=False,
            skip_rows=1,
            separator=shape.separator,
            schema=schema,
            columns=columns,
            n_rows=wanted,
            ignore_errors=lenient,
            glob=False,
        )
    except BROKEN as error:
        raise DataError(f"Expected {path} to be a table, but got: {_first_line(error)}") from error
    if frame.height != wanted:
        raise DataError(
            f"Expected {wanted:,} rows below the header of {path}, but only {frame.height:,} could be parsed. Check "
            "the quotation marks in it."
        )
    return frame


def _read_parquet(path: Path) -> Table:
    if not path.is_file():
        raise DataError(f"Expected a table at {path}, but there is no such file.")
    if path.stat().st_size == 0:
        raise DataError(f"Expected a table in {path}, but the file is empty.")
    try:
        frame = pl.read_parquet(path, glob=False, hive_partitioning=False)
    except BROKEN as error:
        raise DataError(
            f"Expected {path} to be a Parquet file, but got: {_first_line(error)} Write it again."
        ) from error
    if frame.height == 0:
        raise DataError(f"Expected rows in {path}, but there is none.")
    return Table(str(path), decoded(frame))


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0][:200] if lines else type(error).__name__
    return text if text.endswith((".", "!")) else f"{text}."
