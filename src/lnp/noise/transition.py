r"""Transition matrices: :math:`T_{ij} = P(\text{given } j \mid \text{true } i)`, one row for each true class.

Two kinds of noise go by the name *uniform*, and they differ most where it matters:

- :func:`uniform_matrix` is the text of the paper: a label is wrong with probability p. At p = (c-1)/c it says nothing
  at all about the truth (five classes at p = 0.8: 0.2 for every class), and beyond that the truth is the least likely
  label (three classes at p = 0.8: 0.2 true against 0.4 + 0.4).
- :func:`uniform_mix_matrix` is what the released code draws: with probability p a new label from all classes, the true
  one among them. A label is then wrong with probability p (1 - 1/c) only: at p = 0.8 that is 0.533 for three classes,
  0.64 for five, 0.667 for six, 0.686 for seven. The published tables can only have been made with this one.

Flip noise whose class map swaps a pair (i to j and j to i) has a singular matrix at p = 0.5.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnp.errors import ConfigError, check_range
from lnp.seeds import Generator

__all__ = [
    "check_matrix",
    "draw_class_map",
    "flip_matrix",
    "pair_matrix",
    "read_matrix",
    "uniform_matrix",
    "uniform_mix_matrix",
]

TOLERANCE = 1e-6
"""How far from 1 a row of a given matrix may sum."""


def uniform_matrix(class_count: int, rate: float) -> NDArray[np.float64]:
    """Every other class with the same probability: 1 - p on the diagonal, p / (c - 1) elsewhere.

    >>> uniform_matrix(5, 0.8).round(3)[0].tolist()
    [0.2, 0.2, 0.2, 0.2, 0.2]
    """
    _check(class_count, rate)
    matrix = np.full((class_count, class_count), rate / (class_count - 1))
    np.fill_diagonal(matrix, 1.0 - rate)
    return matrix


def uniform_mix_matrix(class_count: int, rate: float) -> NDArray[np.float64]:
    """Mixed with a uniform draw from all classes: (1 - p) I + p / c.

    >>> uniform_mix_matrix(5, 0.8).round(3)[0].tolist()
    [0.36, 0.16, 0.16, 0.16, 0.16]
    """
    _check(class_count, rate)
    return (1.0 - rate) * np.eye(class_count) + rate / class_count


def draw_class_map(class_count: int, generator: Generator) -> NDArray[np.int64]:
    """One other class for each class, all equally likely. The map need not be one-to-one."""
    _check(class_count, 0.0)
    drawn = generator.integers(class_count - 1, size=class_count)
    return np.asarray(drawn + (drawn >= np.arange(class_count)), np.int64)  # steps over the class itself


def flip_matrix(class_count: int, rate: float, class_map: ArrayLike) -> NDArray[np.float64]:
    """One wrong class for each class: 1 - p on the diagonal, p in column ``class_map[i]`` of row i.

    >>> flip_matrix(3, 0.25, [2, 0, 0]).tolist()
    [[0.75, 0.0, 0.25], [0.25, 0.75, 0.0], [0.25, 0.0, 0.75]]
    """
    _check(class_count, rate)
    classes, targets = np.arange(class_count), np.asarray(class_map)
    if targets.shape != classes.shape or not np.isin(targets, classes).all() or (targets == classes).any():
        raise ConfigError(
            f"Expected `class_map` to name another of the {class_count} classes for each class, but got "
            f"{targets.tolist()}."
        )
    matrix = (1.0 - rate) * np.eye(class_count)
    matrix[classes, targets.astype(np.int64)] = rate
    return matrix


def pair_matrix(class_count: int, rate: float) -> NDArray[np.float64]:
    """Flip noise that sends each class to the next one, the last to the first.

    >>> pair_matrix(3, 0.25).tolist()
    [[0.75, 0.25, 0.0], [0.0, 0.75, 0.25], [0.25, 0.0, 0.75]]
    """
    _check(class_count, rate)
    return flip_matrix(class_count, rate, (np.arange(class_count) + 1) % class_count)


def check_matrix(matrix: ArrayLike, class_count: int, name: str = "`matrix`") -> NDArray[np.float64]:
    """The matrix as float64 with rows that sum to exactly 1, or an error that says where it is wrong.

    Messages count rows and columns from 1, as an editor does, and name the classes, which count from 0.
    """
    table = np.asarray(matrix)
    if table.shape != (class_count, class_count) or not np.issubdtype(table.dtype, np.number):
        raise ConfigError(
            f"Expected {name} to hold {class_count} rows of {class_count} numbers, one row for each true class, but "
            f"got shape {table.shape} of {table.dtype}."
        )
    if np.iscomplexobj(table):
        raise ConfigError(f"Expected {name} to hold real numbers, but got {table.dtype}.")
    table = np.asarray(table, np.float64)
    outside = np.argwhere(~((table >= 0) & (table <= 1)))  # not-a-number is outside too
    if outside.size:
        i, j = (int(index) for index in outside[0])
        raise ConfigError(
            f"Expected {name}, row {i + 1}, column {j + 1} (true class {i}, given class {j}) to be in [0, 1], but got "
            f"{table[i, j]}."
        )
    sums = table.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1.0) > TOLERANCE)
    if wrong.size:
        i = int(wrong[0])
        raise ConfigError(
            f"Expected {name}, row {i + 1} (true class {i}) to sum to 1, but it sums to {sums[i]:.7g}. "
            "Rows are true classes, columns are given ones."
        )
    return np.asarray(table / sums[:, None])


def read_matrix(path: str | Path, class_count: int) -> NDArray[np.float64]:
    """A transition matrix from a file: CSV without a header, JSON (a list of rows) or npy.

    Entries must be in [0, 1] and rows sum to 1 within 1e-6; what is left of the difference is divided out.
    """
    path = Path(path)
    readers = {".csv": _read_csv, ".json": _read_json, ".npy": _read_npy}
    if path.suffix.lower() not in readers:
        raise ConfigError(
            f"Expected the file of a transition matrix to end in {', '.join(readers)}, but got {str(path)!r}."
        )
    if not path.is_file():
        raise ConfigError(f"Expected a transition matrix at {path}, but there is no such file.")
    try:
        table = readers[path.suffix.lower()](path, class_count)
    except ConfigError:
        raise
    except (OSError, ValueError, EOFError, RecursionError) as error:
        raise ConfigError(f"{path} is not a readable transition matrix ({error}).") from error
    return check_matrix(table, class_count, str(path))


def _read_csv(path: Path, class_count: int) -> NDArray[np.float64]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.reader(file))
    while rows and not rows[-1]:
        rows.pop()  # blank lines at the end
    return _as_table(path, rows, class_count)


def _read_json(path: Path, class_count: int) -> NDArray[np.float64]:
    rows = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(rows, list):
        raise ConfigError(f"Expected {path} to hold a list of rows, but got {type(rows).__name__}.")
    return _as_table(path, rows, class_count)


def _read_npy(path: Path, class_count: int) -> NDArray[np.float64]:
    with path.open("rb") as file:
        table: NDArray[np.float64] = np.lib.format.read_array(file, allow_pickle=False)
    return table


def _as_table(path: Path, rows: Sequence[object], class_count: int) -> NDArray[np.float64]:
    if len(rows) != class_count:
        raise ConfigError(f"Expected {path} to hold {class_count} rows, one for each true class, but got {len(rows)}.")
    table = np.empty((class_count, class_count))
    for i, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != class_count:
            count = f"{len(row)} of them" if isinstance(row, list) else repr(row)
            raise ConfigError(f"Expected {path}, row {i + 1} to hold {class_count} numbers, but got {count}.")
        for j, cell in enumerate(row):
            try:
                table[i, j] = float(cell)
            except (TypeError, ValueError, OverflowError):  # null, text, more than a float holds
                raise ConfigError(
                    f"Expected {path}, row {i + 1}, column {j + 1} to be a number, but got {cell!r}."
                ) from None
    return table


def _check(class_count: int, rate: float) -> None:
    if class_count < 2:
        raise ConfigError(f"Expected `class_count` to be at least 2, but got {class_count}.")
    check_range("rate", rate, 0, 1)
