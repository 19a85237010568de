"""The last step of every import: parts that were read become one checked graph with a summary."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lnp.datasets.files.edge_table import EdgeList
from lnp.datasets.files.findings import describe
from lnp.datasets.files.structural import structural_features
from lnp.datasets.import_summary import ColumnRow, Finding
from lnp.datasets.own_graph import OwnGraph
from lnp.graph.graph import Features, Graph
from lnp.graph.labels import ObservedLabels
from lnp.seeds import Seeds

__all__ = ["Parts", "build"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Parts:
    """What a reader found.

    Args:
        name: What to call the graph.
        source: What it was read from, one line.
        node_ids: The ids.
        edges: The edges as they were listed.
        features: ``(n, d)``, or ``None`` for structural ones.
        feature_names: One per feature, or none.
        given: ``(n,)`` class numbers, −1 unknown.
        trusted: ``(n,)`` mask.
        class_names: The names of the classes.
        texts: Columns to show.
        columns: What became of the columns of a node table.
        findings: What is odd so far.
        picture: The shape of the picture that the features of a node form.
    """

    name: str
    source: str
    node_ids: tuple[str, ...]
    edges: EdgeList
    features: Features | None
    given: NDArray[np.int64]
    trusted: NDArray[np.bool_]
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...] = ()
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    columns: tuple[ColumnRow, ...] = ()
    findings: tuple[Finding, ...] = ()
    picture: tuple[int, int] | None = None


def build(parts: Parts) -> OwnGraph:
    """The graph with its labels, features from the edges where no others tell nodes apart, and the summary."""
    names, findings, picture = parts.feature_names, parts.findings, parts.picture
    blank = np.zeros((len(parts.node_ids), 1), np.float32)
    graph = Graph.from_edges(
        parts.edges.ends,
        blank if parts.features is None else parts.features,
        weights=parts.edges.weights,
        class_names=parts.class_names,
        node_ids=parts.node_ids,
        name=parts.name,
        notes={} if picture is None else {"picture_shape": picture},
    )
    if _is_constant(graph.features):  # the first layer of a network would see one and the same node everywhere
        features, names = structural_features(graph.adjacency, Seeds(0).generator("structural features"))
        graph, picture = replace(graph.with_features(features), notes={}), None
        reason = "No column gives features" if parts.features is None else "The features are the same for every node"
        message = (
            f"{reason}, so {len(names)} are made from the edges alone: degrees, and positions in the graph. Real "
            "features usually tell much more."
        )
        findings = (*findings, Finding("structural features", len(names), message))
    labels = ObservedLabels(parts.given, parts.trusted, class_count=graph.class_count)
    return OwnGraph(
        graph=graph,
        labels=labels,
        node_ids=parts.node_ids,
        class_names=parts.class_names,
        texts=parts.texts,
        feature_names=names,
        picture_shape=picture,
        source=parts.source,
        summary=describe(graph, labels, parts.edges, parts.source, parts.columns, findings),
    )


def _is_constant(features: Features) -> bool:
    low, high = features.min(axis=0), features.max(axis=0)
    same = low == high if isinstance(features, np.ndarray) else low.toarray() == high.toarray()
    return bool(np.all(same))
