r"""Which labels are most worth checking by hand, when few or none are trusted.

A checked label is worth as much as it says about others. So the nodes to check should stand for many others, for
different ones, and for all classes alike:

1. every node is described by its features averaged over its neighbourhood, :math:`S^2 X` with S row-normalised (and X
   in at most 64 dimensions), scaled to length 1. No label takes part;
2. the budget is shared out among the *given* classes, first to those with the fewest trusted labels;
3. the nodes of a given class are cut into as many clusters as it gets checks (k-means), and of each cluster the node
   nearest to its centre is proposed. Labels that went wrong the same way gather in a cluster of their own, so that one
   check tells what a whole group of them really is.

Nodes near the centre are chosen and not uncertain ones, because a label between two clusters says little about either;
with tens of labels coverage counts for more. What uncertainty is good for comes later: the audit ranks by it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lnp.errors import ConfigError, LabelError
from lnp.graph.features import scale_features
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.nn.propagation import propagation_matrix
from lnp.seeds import Generator

__all__ = ["Suggestion", "node_descriptions", "share_out", "suggest_trusted"]

WIDTH = 64
"""Dimensions that X is reduced to where it has more."""

SAMPLE = 20_000
"""So many nodes of a class are enough to find its clusters."""


@dataclass(frozen=True, eq=False)
class Suggestion:
    """Labels to check, in order: first one of each class, the largest group first.

    Args:
        nodes: ``(b,)`` node numbers.
        given: ``(b,)`` their given labels.
        stands_for: ``(b,)`` how many nodes of the same given class are in its cluster.
    """

    nodes: NDArray[np.int64]
    given: NDArray[np.int64]
    stands_for: NDArray[np.int64]


def suggest_trusted(graph: Graph, labels: ObservedLabels, budget: int, generator: Generator) -> Suggestion:
    """Chooses nodes whose labels are to be checked.

    Args:
        graph: The graph.
        labels: Given labels; trusted ones are not proposed again.
        budget: How many.
        generator: Where the draws of the clustering come from.
    """
    if budget < 1:
        raise ConfigError(f"Expected `budget` to be at least 1, but got {budget}.")
    open_nodes = labels.noisy_nodes
    if open_nodes.size == 0:
        raise LabelError("Expected labels that nobody checked yet to choose from, but there are none.")
    trusted = np.bincount(labels.given[labels.trusted], minlength=labels.class_count)
    available = np.bincount(labels.given[open_nodes], minlength=labels.class_count)
    shares = share_out(budget, trusted, available)
    described = node_descriptions(graph, generator)
    rows: list[tuple[int, int, int, int]] = []  # place in its class, size, class, node
    for k in np.flatnonzero(shares):
        members = open_nodes[labels.given[open_nodes] == k]
        chosen, sizes = _medoids(described[members], int(shares[k]), generator)
        order = np.argsort(-sizes, kind="stable")
        rows += [(p, int(sizes[i]), int(k), int(members[chosen[i]])) for p, i in enumerate(order)]
    rows.sort(key=lambda row: (row[0], -row[1], row[2]))
    table = np.array(rows, np.int64).reshape(-1, 4)
    return Suggestion(nodes=table[:, 3], given=table[:, 2], stands_for=table[:, 1])


def share_out(budget: int, trusted: NDArray[np.int64], available: NDArray[np.int64]) -> NDArray[np.int64]:
    """Checks per class: one after the other, each to the class that then has the fewest trusted labels.

    Args:
        budget: How many in all; fewer are given where there are not as many nodes.
        trusted: Trusted labels of each class so far.
        available: Nodes of each class that can be proposed.

    >>> share_out(5, np.array([3, 0, 0]), np.array([9, 9, 1])).tolist()
    [1, 3, 1]
    """
    shares = np.zeros_like(available)
    for _ in range(min(budget, int(available.sum()))):
        level = np.where(shares < available, trusted + shares, np.iinfo(np.int64).max)
        shares[int(np.argmin(level))] += 1
    return shares


def node_descriptions(graph: Graph, generator: Generator) -> NDArray[np.float32]:
    r"""``(n, d)`` rows of :math:`S^2 X`, of length 1 (0 where a neighbourhood has no feature)."""
    features = scale_features(graph, "auto").features
    if features.shape[1] > WIDTH and min(features.shape) > WIDTH:
        from sklearn.decomposition import TruncatedSVD

        seed = int(generator.integers(2**31))
        features = TruncatedSVD(WIDTH, algorithm="randomized", n_iter=4, random_state=seed).fit_transform(features)
    dense = features if isinstance(features, np.ndarray) else features.toarray()
    averaging = propagation_matrix(graph.adjacency, "row")
    described = np.asarray(averaging @ (averaging @ dense), np.float32)
    lengths = np.linalg.norm(described, axis=1, keepdims=True)
    return np.asarray(described / np.where(lengths > 0, lengths, 1))


def _medoids(
    points: NDArray[np.float32], count: int, generator: Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows nearest to the centres of ``count`` clusters, all different, and how many points each cluster has."""
    from sklearn.cluster import KMeans

    count = min(count, len(points))
    some = points
    if len(points) > SAMPLE:
        some = points[np.sort(generator.choice(len(points), SAMPLE, replace=False))]
    different = len(np.unique(some, axis=0))
    clusters = min(count, different)
    seed = int(generator.integers(2**31))
    means = KMeans(clusters, n_init=4, random_state=seed).fit(some.astype(np.float64))
    distance = means.transform(points.astype(np.float64))
    member = distance.argmin(axis=1)
    chosen = [int(np.argmin(np.where(member == k, distance[:, k], np.inf))) for k in range(clusters)]
    sizes = np.bincount(member, minlength=clusters)
    spare = np.setdiff1d(np.arange(len(points)), chosen)[: count - clusters]  # points that coincide: any will do
    return np.array([*chosen, *spare], np.int64), np.array([*sizes, *np.ones(spare.size)], np.int64)
