"""What users hand over as labels, as :class:`~lnp.graph.labels.ObservedLabels` that fit the graph."""

from __future__ import annotations

from numpy.typing import ArrayLike

from lnp.errors import GraphError, LabelError
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels, Truth

__all__ = ["observe"]


def observe(
    graph: Graph, labels: ObservedLabels | ArrayLike, trusted: ArrayLike | None = None, *, who: str = "method"
) -> ObservedLabels:
    """Labels of a graph, checked.

    Args:
        graph: The graph.
        labels: One class number per node, −1 where there is no label; or observed labels.
        trusted: With class numbers, a mask of the nodes whose label was checked.
        who: Who would see them, for the message that refuses the truth.
    """
    if not isinstance(graph, Graph):
        raise GraphError(
            f"Expected `graph` to be an lnp.Graph, but got {type(graph).__name__}. Build one with Graph.from_edges or "
            "lnp.graph.convert."
        )
    if isinstance(labels, Truth):
        raise LabelError(f"Expected given labels, but got the truth, which no {who} may see. Hand over ObservedLabels.")
    if isinstance(labels, ObservedLabels):
        if trusted is not None:
            raise LabelError(
                "Expected `trusted` only with plain class numbers, but ObservedLabels have a mask of their own."
            )
        observed = labels
    else:
        observed = ObservedLabels(labels, trusted, class_count=graph.class_count)
    if observed.node_count != graph.node_count or observed.class_count != graph.class_count:
        raise LabelError(
            f"Expected labels for {graph.node_count} nodes in {graph.class_count} classes, but got "
            f"{observed.node_count} nodes in {observed.class_count} classes."
        )
    return observed
