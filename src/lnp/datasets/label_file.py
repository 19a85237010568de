"""Label files: what people said of some nodes, as CSV with the header ``node,label,trusted``.

``node`` is the user's id, ``label`` the name of a class (empty: the node's label is taken away), ``trusted`` 1 or 0;
without that column every label of the file is trusted, for somebody wrote it down. Other columns play no part. What a
review exports is such a file.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from lnp.datasets.files.ids import find_ids, read_ids
from lnp.datasets.files.label_column import read_trusted, without_zeros
from lnp.datasets.files.read_tables import read_table
from lnp.datasets.files.roles import find_role
from lnp.datasets.files.table import MISSING, Table, name_list, shown, tidy_strings
from lnp.datasets.own_graph import OwnGraph
from lnp.errors import DataError
from lnp.graph.labels import UNKNOWN

__all__ = ["HEADER", "read_label_file", "write_label_file"]

HEADER = ("node", "label", "trusted")


def read_label_file(path: Path, own: OwnGraph) -> OwnGraph:
    """The graph with the labels of the file in the place of its own; whatever is wrong is named by row and column.

    Args:
        path: The file.
        own: The graph. Nodes that the file does not name keep what they have.
    """
    table = read_table(path, (*HEADER, "id"))
    id_column, label_column = _column(table, "id", "node"), _column(table, "label", "label")
    ids = read_ids(table, id_column)
    nodes = find_ids(pl.Series(own.node_ids, dtype=pl.String), ids)
    _check_nodes(table, id_column, nodes)
    missing = tuple(word for word in (*MISSING, "NaN", "nan") if word not in own.class_names)
    names = tidy_strings(table.frame[label_column], missing)
    unknown = names.is_not_null() & ~names.is_in(list(own.class_names))
    names = names.zip_with(~unknown.fill_null(value=False), without_zeros(names))  # 3.0 where the class is called 3
    order = list(range(len(own.class_names)))
    found = names.replace_strict(list(own.class_names), order, default=None, return_dtype=pl.Int64)
    other = (found.is_null() & names.is_not_null()).arg_true()
    if len(other):
        index = int(other[0])
        raise DataError(
            f"Expected a class of the graph in {table.place(index, label_column)}, but got {shown(names[index])}. "
            f"Classes: {name_list(own.class_names, 20)}."
        )
    numbers = found.fill_null(UNKNOWN).to_numpy()
    trusted_column = find_role(table, "trusted", None)
    mask = numbers != UNKNOWN if trusted_column is None else read_trusted(table, trusted_column, numbers)
    return replace(own, labels=own.labels.checked(nodes, numbers, mask))


def write_label_file(path: Path, rows: Iterable[tuple[str, str, bool]]) -> None:
    """Writes rows of node id, name of the class and whether it is trusted; whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEADER)
            writer.writerows((node, label, int(trusted)) for node, label, trusted in rows)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _column(table: Table, role: str, name: str) -> str:
    found = find_role(table, role, None)
    if found is None:
        raise DataError(
            f"Expected {table.name} to have a column {name!r}, but it has only {table.names()}. A label file has the "
            f"header {','.join(HEADER)}."
        )
    return found


def _check_nodes(table: Table, column: str, nodes: np.ndarray) -> None:
    unknown = np.flatnonzero(nodes < 0)
    if unknown.size:
        index = int(unknown[0])
        raise DataError(
            f"Expected the id of a node in {table.place(index, column)}, but the graph has no "
            f"{shown(table.frame[column][index])} ({unknown.size:,} such rows). Is it a label file of another graph?"
        )
    _, first, inverse = np.unique(nodes, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[inverse] != np.arange(nodes.size))
    if again.size:
        index = int(again[0])
        raise DataError(
            f"Expected every node once, but {table.place(index, column)}, has {shown(table.frame[column][index])} "
            f"again, which is in row {int(first[inverse[index]]) + table.first_row:,} already. Keep one of the two."
        )
