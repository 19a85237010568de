"""The feature matrix of a node table: the features of all its columns side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import scipy.sparse as sp

from lnp.datasets.files.categories import category_features
from lnp.datasets.files.columns import EMPTY, ColumnUse, choose_uses
from lnp.datasets.files.import_options import ImportOptions
from lnp.datasets.files.numbers import fill_missing, read_numbers
from lnp.datasets.files.table import Table, counted, name_list, tidy_strings
from lnp.datasets.files.vectors import read_vectors
from lnp.datasets.files.words import word_features
from lnp.datasets.import_summary import ColumnRow, Finding
from lnp.graph.graph import Features

__all__ = ["NodeFeatures", "read_features"]

DENSE_FROM = 0.25
"""From this share of non-zero entries on a matrix is kept dense."""

MOST_NUMBERS = 8
"""So many columns of numbers are shown beside texts; more are a description for machines."""


@dataclass(frozen=True, eq=False)
class NodeFeatures:
    """What the columns gave.

    Args:
        matrix: ``(n, d)``; ``None`` where no column gives a feature.
        names: One per feature.
        rows: What became of each column.
        texts: Columns to show, one string per node.
        findings: What is odd about the columns.
    """

    matrix: Features | None
    names: tuple[str, ...]
    rows: tuple[ColumnRow, ...]
    texts: dict[str, tuple[str, ...]]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, eq=False)
class _Block:
    matrix: Features
    names: tuple[str, ...]
    row: ColumnRow
    missing: int = 0


def read_features(table: Table, columns: list[str], options: ImportOptions) -> NodeFeatures:
    """Features from the columns of a node table, in their order.

    Numbers stay as they are where there is nothing else. Beside words or categories, whose weights are between 0 and 1,
    every column of numbers is mapped to [0, 1] as well, so that none drowns the others.
    """
    uses = choose_uses(table, columns, options)
    blocks = {use.name: _block(table, use, options) for use in uses if use.used_as not in ("shown", "left out")}
    rows = [
        blocks[use.name].row if use.name in blocks else ColumnRow(use.name, use.used_as, 0, use.note) for use in uses
    ]
    rows += [ColumnRow(name, "left out", 0, reason) for name, reason in table.left_out.items()]
    texts = {name: _as_texts(table.frame[name]) for name in _columns_to_show(uses)}
    full = [block for block in blocks.values() if block.matrix.shape[1]]
    findings = _findings(rows, list(blocks.values()))
    if not full:
        return NodeFeatures(None, (), tuple(rows), texts, tuple(findings))
    mixed = len({block.row.used_as in ("words", "categories") for block in full}) == 2
    if mixed:
        full = [replace(block, matrix=_to_unit(block.matrix)) for block in full]
        scaled = [block.row.name for block in full if block.row.used_as in ("numbers", "vector")]
        message = f"Numbers beside words or categories are mapped to [0, 1]: {name_list(scaled)}."
        findings.append(Finding("scaled columns", len(scaled), message))
    names = tuple(name for block in full for name in block.names)
    return NodeFeatures(_side_by_side(full), names, tuple(rows), texts, tuple(findings))


def _columns_to_show(uses: list[ColumnUse]) -> list[str]:
    """Whatever is no number, then a few numbers: the scaled feature would not say the year of a paper."""
    numbers = [use.name for use in uses if use.used_as == "numbers"]
    kept = [use.name for use in uses if use.used_as in ("words", "categories", "shown")]
    return kept + numbers if kept and len(numbers) <= MOST_NUMBERS else kept


def _block(table: Table, use: ColumnUse, options: ImportOptions) -> _Block:
    name, note = use.name, use.note
    if use.used_as == "numbers":
        advice = f", or use the column otherwise with --category {name}, --text {name} or --ignore {name}"
        values = read_numbers(table, name, nan_as_missing=options.nan_as_missing, advice=advice)
        filled, missing, median = fill_missing(values)
        note = f"{missing:,} missing, filled with the median {median:g}" if missing else note
        row = ColumnRow(name, use.used_as, 1, note)
        return _Block(filled[:, None], (name,), row, missing)
    if use.used_as == "vector":
        vectors, missing = read_vectors(table, name)
        note = f"{missing:,} missing, filled with the mean" if missing else note
        row = ColumnRow(name, use.used_as, vectors.shape[1], note)
        return _Block(vectors, tuple(f"{name}[{i}]" for i in range(vectors.shape[1])), row, missing)
    cells = tidy_strings(_as_strings(table.frame[name]))
    missing = cells.null_count()
    matrix, found = word_features(cells, options.words) if use.used_as == "words" else category_features(cells)
    note = "; ".join(part for part in (note, f"{missing:,} missing, zeros" if missing else "") if part)
    sign = ":" if use.used_as == "words" else "="
    row = ColumnRow(name, use.used_as, matrix.shape[1], note)
    return _Block(matrix, tuple(f"{name}{sign}{word}" for word in found), row, missing)


def _as_strings(series: pl.Series) -> pl.Series:
    if series.dtype == pl.String:
        return series
    if series.dtype.is_float():  # 3.0 was written 3, as like as not
        whole = series.fill_nan(None).drop_nulls()
        if bool(((whole == whole.floor()) & (whole.abs() < 1e15)).all()):
            return series.fill_nan(None).cast(pl.Int64).cast(pl.String)
    if series.dtype.is_nested() or series.dtype == pl.Binary:
        return pl.Series([str(value) for value in series.to_list()], dtype=pl.String)
    return series.cast(pl.String)


def _as_texts(series: pl.Series) -> tuple[str, ...]:
    return tuple(_as_strings(series).fill_null("").to_list())


def _to_unit(matrix: Features) -> Features:
    if not isinstance(matrix, np.ndarray):
        return matrix
    low, high = matrix.min(axis=0), matrix.max(axis=0)
    width = np.where(high > low, high.astype(np.float64) - low, 1.0)
    return ((matrix - low.astype(np.float64)) / width).astype(np.float32)


def _side_by_side(blocks: list[_Block]) -> Features:
    matrices = [block.matrix for block in blocks]
    if all(isinstance(matrix, np.ndarray) for matrix in matrices):
        return matrices[0] if len(matrices) == 1 else np.concatenate(matrices, axis=1)
    filled = sum(np.count_nonzero(matrix) if isinstance(matrix, np.ndarray) else matrix.nnz for matrix in matrices)
    size = sum(matrix.shape[0] * matrix.shape[1] for matrix in matrices)
    if filled > DENSE_FROM * size:
        dense = [matrix if isinstance(matrix, np.ndarray) else matrix.toarray() for matrix in matrices]
        return np.concatenate(dense, axis=1)
    return sp.csr_array(sp.hstack([sp.csr_array(matrix) for matrix in matrices], format="csr", dtype=np.float32))


def _findings(rows: list[ColumnRow], blocks: list[_Block]) -> list[Finding]:
    found = []
    constant = [
        block.row.name
        for block in blocks
        if block.row.used_as == "numbers" and float(block.matrix.min()) == float(block.matrix.max())
    ]
    if constant:
        message = f"The same number for every node, which tells nothing, in column {name_list(constant)}."
        found.append(Finding("constant columns", len(constant), message))
    empty = [row.name for row in rows if row.note == EMPTY]
    if empty:
        found.append(Finding("empty columns", len(empty), f"Nothing in column {name_list(empty)}; left out."))
    without = [block.row.name for block in blocks if not block.matrix.shape[1]]
    if without:
        found.append(Finding("columns without words", len(without), f"No word in column {name_list(without)}."))
    other = [
        row.name for row in rows if row.used_as in ("left out", "shown") and not row.note.startswith(("it is e", "as"))
    ]
    if other:
        message = f"No features from column {name_list(other)}; the list of columns says why."
        found.append(Finding("columns without features", len(other), message))
    holes = [block for block in blocks if block.missing]
    if holes:
        cells = sum(block.missing for block in holes)
        where = name_list([block.row.name for block in holes])
        message = (
            f"{counted(cells, 'missing cell', 'missing cells')} in column {where}: numbers are filled with the median "
            "of their column, vectors with the mean, words and categories with zeros."
        )
        found.append(Finding("missing values", cells, message))
    return found
