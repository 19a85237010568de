r"""How much neighbours agree.

Edge homophily is the share of edges whose ends have the same label,

.. math:: h = \frac{|\{(i,j) \in E : y_i = y_j\}|}{|E|},

and adjusted homophily subtracts what chance would give in a graph with the same degrees and labels but random edges,

.. math:: h_{adj} = \frac{h - \sum_k D_k^2 / (2|E|)^2}{1 - \sum_k D_k^2 / (2|E|)^2},
    \qquad D_k = \sum_{i : y_i = k} d_i,

so that 1 is perfect agreement, 0 is chance, and graphs with many or uneven classes can be compared. E is the set of
undirected edges whose two ends are labelled, and d the degree in it; edge weights play no part.

Reference: Platonov et al., *Characterizing graph datasets for node classification: homophily-heterophily dichotomy and
beyond*, NeurIPS 2023.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lnp.errors import LabelError
from lnp.graph.graph import Graph
from lnp.graph.labels import UNKNOWN

__all__ = ["adjusted_homophily", "edge_homophily", "labelled_edge_count"]


def labelled_edge_count(graph: Graph, labels: NDArray[np.int64]) -> int:
    """|E|: how many edges have a label at both ends, and so say anything about agreement.

    >>> path = Graph.from_edges([[0, 1, 2], [1, 2, 3]], np.eye(4), class_count=2)
    >>> labelled_edge_count(path, np.array([0, 0, 1, -1]))
    2
    """
    return int(_labelled_ends(graph, labels)[0].size)


def edge_homophily(graph: Graph, labels: NDArray[np.int64]) -> float:
    """The share of edges between labelled nodes whose ends agree; not a number when there is no such edge.

    Args:
        graph: The graph.
        labels: ``(n,)`` class numbers, −1 where unknown.

    >>> path = Graph.from_edges([[0, 1, 2], [1, 2, 3]], np.eye(4), class_count=2)
    >>> edge_homophily(path, np.array([0, 0, 1, -1]))
    0.5
    """
    first, second = _labelled_ends(graph, labels)
    return float(np.mean(first == second)) if first.size else float("nan")


def adjusted_homophily(graph: Graph, labels: NDArray[np.int64]) -> float:
    """Edge homophily beyond chance; not a number when no edge, or only one class, is labelled.

    Args:
        graph: The graph.
        labels: ``(n,)`` class numbers, −1 where unknown.

    >>> path = Graph.from_edges([[0, 1, 2], [1, 2, 3]], np.eye(4), class_count=2)
    >>> round(adjusted_homophily(path, np.array([0, 0, 1, 1])), 3)
    0.333
    """
    first, second = _labelled_ends(graph, labels)
    if first.size == 0:
        return float("nan")
    shares = np.bincount(np.r_[first, second]) / (2 * first.size)  # D_k / 2|E|
    chance = float(shares @ shares)
    if np.count_nonzero(shares) < 2:
        return float("nan")
    return (float(np.mean(first == second)) - chance) / (1 - chance)


def _labelled_ends(graph: Graph, labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if labels.shape != (graph.node_count,):
        raise LabelError(
            f"Expected `labels` to be one whole number for each of the {graph.node_count} nodes, but got shape "
            f"{labels.shape}."
        )
    first, second = labels[graph.edges]
    known = (first != UNKNOWN) & (second != UNKNOWN)
    return first[known], second[known]
