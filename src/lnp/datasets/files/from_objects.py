"""Graphs of other libraries, already in memory: PyTorch Geometric, networkx, scipy, polars; and our own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from lnp.datasets.files.attribute_table import AttributeTable
from lnp.datasets.files.from_arrays import from_arrays
from lnp.datasets.files.from_tables import from_tables
from lnp.datasets.files.import_options import ImportOptions
from lnp.datasets.files.label_column import read_trusted
from lnp.datasets.files.roles import find_role, require_role
from lnp.datasets.files.table import Table, decoded
from lnp.datasets.import_summary import Finding
from lnp.datasets.own_graph import OwnGraph
from lnp.errors import ConfigError, DataError, GraphError
from lnp.graph.convert import MASKS, from_pyg
from lnp.graph.graph import Graph

__all__ = ["Given", "from_object", "is_library_object"]


@dataclass(frozen=True, eq=False)
class Given:
    """What is handed over beside the object; each may be ``None``.

    Args:
        features: ``(n, d)``, dense or sparse.
        labels: One per node.
        trusted: Mask of checked labels.
        node_ids: One per node.
        class_names: Names of whole-number labels.
    """

    features: Any = None
    labels: ArrayLike | None = None
    trusted: ArrayLike | None = None
    node_ids: Sequence[object] | None = None
    class_names: Sequence[str] | None = None


def is_library_object(source: object, library: str) -> bool:
    """Whether the object is of a class of that library, which need not be installed."""
    return any(kind.__module__.partition(".")[0] == library for kind in type(source).__mro__)


def from_object(source: Any, edges: Any, given: Given, options: ImportOptions) -> OwnGraph:
    """The graph of any object that is understood."""
    if isinstance(source, Graph):
        return _from_graph(source, given, options)
    if isinstance(source, sp.sparray | sp.spmatrix):
        return _from_scipy(source, given, options)
    if isinstance(source, pl.DataFrame) and isinstance(edges, pl.DataFrame):
        _refuse_arrays(given, "column")
        tables = Table("the node table", decoded(source)), Table("the edge table", decoded(edges))
        return from_tables(*tables, options, source="two polars tables")
    if is_library_object(source, "networkx"):
        return _from_networkx(source, given, options)
    if is_library_object(source, "torch_geometric"):
        return _from_pyg(source, given, options)
    raise DataError(
        "Expected a path, a pair of polars tables, an lnp.Graph, a scipy matrix, a networkx graph or a PyG Data, but "
        f"got {type(source).__name__}."
    )


def _from_graph(graph: Graph, given: Given, options: ImportOptions) -> OwnGraph:
    options.require_no_columns("an lnp.Graph")
    shape = graph.notes.get("picture_shape")
    picture = options.picture or ((int(shape[0]), int(shape[1])) if isinstance(shape, tuple | list) else None)
    upper = sp.triu(graph.adjacency, 1).tocoo()
    return from_arrays(
        graph.edges,
        _required(given.labels, "lnp.Graph"),
        nodes=graph.node_count,
        features=graph.features if given.features is None else given.features,
        trusted=given.trusted,
        node_ids=graph.node_ids if given.node_ids is None else given.node_ids,
        class_names=graph.class_names if given.class_names is None else given.class_names,
        weights=upper.data,
        picture=picture,
        name=options.name or graph.name,
        source=f"the graph {graph.name!r}",
    )


def _from_scipy(matrix: Any, given: Given, options: ImportOptions) -> OwnGraph:
    options.require_no_columns("a scipy matrix")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"Expected a square matrix of edges, but got shape {matrix.shape}.")
    entries = sp.coo_array(matrix)
    entries.sum_duplicates()
    entries.eliminate_zeros()
    return from_arrays(
        np.stack([entries.row, entries.col]).astype(np.int64),
        _required(given.labels, "matrix"),
        nodes=matrix.shape[0],
        features=given.features,
        trusted=given.trusted,
        node_ids=given.node_ids,
        class_names=given.class_names,
        weights=entries.data.astype(np.float32),
        picture=options.picture,
        name=options.name or "graph",
        source="a scipy matrix",
    )


def _from_pyg(data: Any, given: Given, options: ImportOptions) -> OwnGraph:
    options.require_no_columns("a PyG Data")
    if data.get("edge_index") is None:
        raise GraphError(f"Expected `data` to have `edge_index`, but it has only {', '.join(sorted(data.keys()))}.")
    labels = _required(data.get("y") if given.labels is None else given.labels, "PyG Data, which has no `y`")
    has_features = data.get("x") is not None
    # Without features and `num_nodes` PyG would guess from the edges, and miss isolated nodes at the end.
    known = has_features or "num_nodes" in data.keys()  # noqa: SIM118
    nodes = int(data.num_nodes) if known else np.shape(labels)[0]
    if not has_features or data.get("y") is None:  # what the conversion cannot do without
        data = data.clone()
        data.x = data.x if has_features else data.edge_index.new_zeros((nodes, 1)).float()
        data.y = data.edge_index.new_zeros(nodes) if data.get("y") is None else data.y
    graph, truth, _ = from_pyg(data, None if given.class_names is None else tuple(given.class_names))
    assert truth is not None
    trusted, weights = data.get("trusted"), data.get("edge_weight")
    masks = [key for key in MASKS if data.get(key) is not None]
    message = (
        f"{', '.join(masks)} play no part: every label in `y` counts as given. Where it is unknown, `y` should be −1."
    )
    named = data.get("class_names") if given.class_names is None else given.class_names
    return from_arrays(
        data.edge_index.cpu().numpy(),
        truth.labels if given.labels is None else labels,
        nodes=nodes,
        features=given.features if given.features is not None else (graph.features if has_features else None),
        trusted=given.trusted if given.trusted is not None or trusted is None else trusted.cpu().numpy(),
        node_ids=graph.node_ids if given.node_ids is None else given.node_ids,
        class_names=named,
        weights=None if weights is None else weights.cpu().numpy(),
        picture=options.picture,
        name=options.name or graph.name,
        source="a PyG Data",
        findings=(Finding("masks", len(masks), message),) if masks else (),
    )


def _from_networkx(source: Any, given: Given, options: ImportOptions) -> OwnGraph:
    name = options.name or source.graph.get("name") or "graph"
    features = source.graph.get("features") if given.features is None else given.features
    if features is None and given.labels is None:
        _refuse_arrays(given, "node attribute")
        nodes, edges = _attributes(source)
        return from_tables(nodes, edges, options, name=name, source="a networkx graph")
    options.require_no_columns("a networkx graph with `features` or `labels`", but=("label", "trusted"))
    labels, trusted = given.labels, given.trusted
    if labels is None:
        nodes = _nodes(source).table("the networkx graph", "node")
        labels = nodes.frame[require_role(nodes, "label", options.label)].to_list()
        marks = find_role(nodes, "trusted", options.trusted)
        trusted = read_trusted(nodes, marks) if trusted is None and marks is not None else trusted
    ends, weights = _listed(source)
    return from_arrays(
        ends,
        labels,
        nodes=len(source),
        features=features,
        trusted=trusted,
        node_ids=list(source.nodes) if given.node_ids is None else given.node_ids,
        class_names=given.class_names or source.graph.get("class_names"),
        weights=weights,
        picture=options.picture,
        name=name,
        source="a networkx graph",
    )


def _attributes(source: Any) -> tuple[Table, Table]:
    nodes, edges = _nodes(source), AttributeTable("source", "target")
    for start, end, weight in source.edges(data="weight"):
        edges.add(str(start), str(end))
        if weight is not None:
            edges.put("weight", weight)
    edges.complete("weight", 1.0)
    if not edges.rows:
        raise GraphError("Expected a networkx graph with edges, but it has none.")
    return nodes.table("the networkx graph", "node"), edges.table("the networkx graph", "edge")


def _nodes(source: Any) -> AttributeTable:
    nodes = AttributeTable("id")
    for node, attributes in source.nodes(data=True):
        nodes.add(str(node))
        for name, value in attributes.items():
            nodes.put(str(name), value)
    return nodes


def _listed(source: Any) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    position = {node: i for i, node in enumerate(source.nodes)}
    found = [(position[u], position[v], w) for u, v, w in source.edges(data="weight", default=1.0)]
    ends = np.array([edge[:2] for edge in found], dtype=np.int64).reshape(-1, 2).T
    return ends, np.array([edge[2] for edge in found], dtype=np.float32)


def _refuse_arrays(given: Given, where: str) -> None:
    """A table has its own labels, marks and ids."""
    for name, value in vars(given).items():
        if value is not None:
            raise ConfigError(f"Expected `{name}` as a {where} of the graph, but got it beside. Put it there.")


def _required(labels: ArrayLike | None, what: str) -> ArrayLike:
    if labels is None:
        raise DataError(f"Expected `labels` beside the {what}, but got none. Hand over one per node, −1 for unknown.")
    return labels
