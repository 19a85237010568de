"""A node table and an edge table as one graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from lnp.datasets.files.build import Parts, build
from lnp.datasets.files.edge_table import read_edges
from lnp.datasets.files.gzipped import name_of
from lnp.datasets.files.ids import unique_ids
from lnp.datasets.files.import_options import ImportOptions
from lnp.datasets.files.label_column import encode_labels, read_trusted
from lnp.datasets.files.node_features import read_features
from lnp.datasets.files.read_tables import read_table
from lnp.datasets.files.roles import USUAL_NAMES, find_role, require_role
from lnp.datasets.files.table import Table
from lnp.datasets.import_summary import ColumnRow
from lnp.datasets.own_graph import OwnGraph

__all__ = ["OnStep", "from_tables", "read_pair"]

OnStep = Callable[[str], None]
"""Called with what is done next, for a progress display."""


def read_pair(nodes: Path, edges: Path, options: ImportOptions, on_step: OnStep | None = None) -> OwnGraph:
    """The graph of two files."""
    step = on_step or (lambda what: None)
    named = (options.id, options.label, options.trusted, options.source, options.target)
    words = (*options.text, *options.category, *options.show, *(name for name in named if name is not None))
    usual = [name for role, names in USUAL_NAMES.items() if role != "weight" for name in names]
    step(f"reading {nodes.name}")
    node_table = read_table(nodes, (*usual, *words))
    step(f"reading {edges.name}")
    edge_table = read_table(edges, (*usual, *words))
    called = name_of(nodes)
    name = options.name or (nodes.resolve().parent.name if called in ("nodes", "node") else called) or "graph"
    return from_tables(node_table, edge_table, options, name=name, source=f"{nodes} and {edges}", on_step=on_step)


def from_tables(
    nodes: Table,
    edges: Table,
    options: ImportOptions,
    *,
    name: str = "graph",
    source: str = "tables",
    on_step: OnStep | None = None,
) -> OwnGraph:
    """The graph of two tables.

    Args:
        nodes: One row per node.
        edges: One row per edge.
        options: Which column is what.
        name: What to call the graph.
        source: What it was read from, one line.
        on_step: Told what is done next.
    """
    step = on_step or (lambda what: None)
    id_column = require_role(nodes, "id", options.id)
    label_column = require_role(nodes, "label", options.label)
    trusted_column = find_role(nodes, "trusted", options.trusted)
    roles = {id_column: "id", label_column: "label"}
    if trusted_column is not None:
        roles[trusted_column] = "trusted"
    ids = unique_ids(nodes, id_column)
    given, class_names = encode_labels(nodes, label_column)
    trusted = np.zeros(given.size, bool) if trusted_column is None else read_trusted(nodes, trusted_column, given)
    step("turning columns into features")
    columns = [column for column in nodes.frame.columns if column not in roles]
    features = read_features(nodes, columns, options)
    step("joining the edges")
    edge_list = read_edges(edges, ids, options)
    step("building the graph")
    return build(
        Parts(
            name=options.name or name,
            source=source,
            node_ids=tuple(ids.cast(pl.String).to_list()),
            edges=edge_list,
            features=features.matrix,
            feature_names=features.names,
            given=given,
            trusted=trusted,
            class_names=class_names,
            texts=features.texts,
            columns=(*(ColumnRow(column, role) for column, role in roles.items()), *features.rows),
            findings=features.findings,
            picture=options.picture,
        )
    )
