"""Twins: nodes with exactly the same neighbours.

A graph convolution can hardly tell twins apart, so whoever knows the label of one has a good guess at the other's. On
graphs with many of them a network that learns labels by heart does well, as far as the nodes it is tried on have twins
among those it learned from. Chameleon and Squirrel are full of them.

Reference: Platonov et al., *A critical look at the evaluation of GNNs under heterophily: are we really making
progress?*, ICLR 2023.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lnp.graph.graph import Graph

__all__ = ["have_twin", "twin_sets"]


def have_twin(graph: Graph, nodes: NDArray[np.int64], among: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of ``nodes`` have a twin ``among`` others. Nodes without neighbours have none.

    >>> star = Graph.from_edges([[0, 0, 0], [1, 2, 3]], np.eye(4), class_count=2)
    >>> have_twin(star, np.array([0, 1, 2]), np.array([2, 3]))
    array([False,  True,  True])
    """
    ours, theirs = _marks(graph, nodes), _marks(graph, among)
    places = _places(np.concatenate([ours, theirs]))
    mine, other = places[: nodes.size], places[nodes.size :]
    # A node is not its own twin: where it is among the others itself, another must share its mark.
    count = np.bincount(other, minlength=places.max(initial=-1) + 1)
    found: NDArray[np.bool_] = count[mine] - np.isin(nodes, among) > 0
    linked: NDArray[np.bool_] = np.diff(graph.adjacency.indptr)[nodes] > 0
    return found & linked


def twin_sets(graph: Graph) -> NDArray[np.int64]:
    """The number of the set of twins that each node is in; nodes without neighbours are one set.

    >>> star = Graph.from_edges([[0, 0, 0], [1, 2, 3]], np.eye(4), class_count=2)
    >>> len(set(twin_sets(star)[1:]))
    1
    """
    return _places(_marks(graph, np.arange(graph.node_count)))


def _marks(graph: Graph, nodes: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Two random numbers per node summed over neighbours modulo 2^64: equal for equal sets, and in effect only then."""
    numbers = np.random.default_rng(0).integers(0, 2**64, (graph.node_count, 2), np.uint64)
    links = graph.adjacency[nodes]
    # Running sums wrap around; their differences are right all the same.
    sums = np.zeros((links.indices.size + 1, 2), np.uint64)
    np.cumsum(numbers[links.indices], axis=0, out=sums[1:])
    marks: NDArray[np.uint64] = sums[links.indptr[1:]] - sums[links.indptr[:-1]]
    return marks


def _places(marks: NDArray[np.uint64]) -> NDArray[np.int64]:
    """A number for every distinct row."""
    return np.unique(marks, axis=0, return_inverse=True)[1].reshape(-1)
