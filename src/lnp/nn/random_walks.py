"""Random walks over the rows of a CSR matrix, all walkers at once."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lnp.seeds import Generator

__all__ = ["most_visited", "random_walks"]


def random_walks(
    adjacency: sp.csr_array, starts: NDArray[np.int64], generator: Generator, *, walks: int, length: int
) -> NDArray[np.int64]:
    """The nodes met by ``walks`` walkers from every start, ``(len(starts), length, walks)``; the start is not listed.

    A step goes to a neighbour with probability proportional to the weight of the edge. A walker on an isolated node
    stays there.

    >>> path = sp.csr_array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.float32)
    >>> random_walks(path, np.array([0, 2]), np.random.default_rng(0), walks=1, length=3)[:, :, 0].tolist()
    [[1, 0, 1], [2, 2, 2]]
    """
    first, last = adjacency.indptr[:-1].astype(np.int64), adjacency.indptr[1:].astype(np.int64) - 1
    # Edge e covers [bounds[e], bounds[e + 1]) of one long line, so that a uniform draw within a row picks by weight.
    bounds = np.concatenate([[0.0], np.cumsum(adjacency.data, dtype=np.float64)])
    low, high = bounds[adjacency.indptr[:-1]], bounds[adjacency.indptr[1:]]
    current = np.repeat(starts[:, None], walks, axis=1).astype(np.int64)
    visited = np.empty((starts.size, length, walks), np.int64)
    for step in range(length):
        point = low[current] + generator.random(current.shape) * (high - low)[current]
        edge = np.searchsorted(bounds, point, side="right") - 1
        moving = last[current] >= first[current]
        edge = np.clip(edge, first[current], np.maximum(last[current], first[current]))  # rounding at a row's end
        current = np.where(moving, adjacency.indices[np.where(moving, edge, 0)] if adjacency.nnz else current, current)
        visited[:, step] = current
    return visited


def most_visited(
    visited: NDArray[np.int64], starts: NDArray[np.int64], allowed: NDArray[np.bool_], count: int
) -> NDArray[np.int64]:
    """For every start the ``count`` allowed nodes met most often, most often first, ``(len(starts), count)``.

    The start itself is left out. Ties go to the node met earlier, then to the smaller number. Where fewer nodes were
    met they are repeated in turn; where none was met the start stands for itself.

    Args:
        visited: What :func:`random_walks` returned.
        starts: The nodes the walks began at.
        allowed: ``(n,)`` mask of the nodes that may be listed.
        count: k.
    """
    n, size = allowed.size, starts.size
    nodes = visited.reshape(size, visited.shape[1] * visited.shape[2])
    row = np.broadcast_to(np.arange(size)[:, None], nodes.shape)
    usable = allowed[nodes] & (nodes != starts[:, None])
    key, earliest, times = np.unique(row[usable] * n + nodes[usable], return_index=True, return_counts=True)
    order = np.lexsort((earliest, -times, key // n))
    row_of, node_of = key[order] // n, key[order] % n
    found = np.bincount(row_of, minlength=size)
    begin = np.cumsum(found) - found
    position = begin[:, None] + np.arange(count) % np.maximum(found, 1)[:, None]
    listed = np.append(node_of, 0)[np.minimum(position, node_of.size)]
    return np.where(found[:, None] > 0, listed, starts[:, None])
