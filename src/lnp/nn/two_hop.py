r"""Who is two steps away, row by row or by chance, without ever holding the whole two-hop matrix.

:math:`N_2(i)` is the set of nodes reached from i in two steps, but not in one and not i itself. On a graph with hubs
these sets together are hundreds of times larger than the graph. Here they are counted and enumerated in blocks of rows,
or sampled by walks: from i to a random neighbour j and on to a random neighbour l of j, kept if l lies in
:math:`N_2(i)`. Such a walk ends at l with probability

.. math:: p_{il} = \frac{1}{d_i} \sum_{j \in N(i) \cap N(l)} \frac{1}{d_j},

so k walks, each counted :math:`1 / (k\, p_{il})` times, give sums over :math:`N_2(i)` without bias.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lnp.seeds import Generator

__all__ = ["connected", "marked", "row_blocks", "two_hop_degrees", "two_hop_rows", "two_hop_walks"]

PATHS = 2**24
"""Two-step paths followed at a time."""

FAR = np.float32(2**24)
"""More than the neighbours that two nodes may have in common; below it float32 counts exactly."""

Numbers = NDArray[np.int64]


def marked(adjacency: sp.csr_array) -> sp.csr_array:
    r""":math:`A - B I` with B larger than any number of paths, for :func:`two_hop_rows`."""
    return sp.csr_array(_pattern(adjacency) - FAR * sp.eye_array(adjacency.shape[0], dtype=np.float32, format="csr"))


def two_hop_rows(adjacency: sp.csr_array, nodes: Numbers, marks: sp.csr_array | None = None) -> sp.csr_array:
    r"""The rows of A_2 of the given nodes, ``(k, n)``: 1 for every node of their two-hop sets, in no order.

    A row of :math:`A (A - B I)` counts the paths of two steps, and is below 0 at neighbours: what is above 0 and not
    the node itself is two steps away.

    Args:
        adjacency: A.
        nodes: Which rows.
        marks: What :func:`marked` gives, if it is at hand.
    """
    near = _pattern(adjacency[nodes])
    paths = near @ (marked(adjacency) if marks is None else marks)
    counts = np.diff(paths.indptr)
    strict = (paths.data > 0) & (paths.indices != nodes.repeat(counts))
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(strict)])[paths.indptr].astype(paths.indptr.dtype)
    columns = paths.indices[strict]
    return sp.csr_array((np.ones(columns.size, np.float32), columns, ends), shape=paths.shape)


def two_hop_degrees(
    adjacency: sp.csr_array, marks: sp.csr_array | None = None, *, paths: int = PATHS
) -> NDArray[np.float64]:
    r""":math:`|N_2(i)|` of every node, counted in blocks of rows."""
    marks = marked(adjacency) if marks is None else marks
    degrees = [np.diff(two_hop_rows(adjacency, rows, marks).indptr) for rows in row_blocks(adjacency, paths=paths)]
    return np.concatenate(degrees).astype(np.float64)


def row_blocks(adjacency: sp.csr_array, *, paths: int = PATHS) -> Iterator[Numbers]:
    """All rows in order, as many at a time as have ``paths`` two-step paths together (at least one)."""
    degrees = np.diff(adjacency.indptr).astype(np.float64)
    total = np.cumsum(_pattern(adjacency) @ degrees)
    start = 0
    while start < total.size:
        before = total[start - 1] if start else 0.0
        stop = max(start + 1, int(np.searchsorted(total, before + paths, side="right")))
        yield np.arange(start, stop)
        start = stop


def two_hop_walks(
    adjacency: sp.csr_array, nodes: Numbers, count: int, generator: Generator, *, chunk: int = PATHS // 4
) -> tuple[Numbers, Numbers, NDArray[np.float64]]:
    """Members of the two-hop sets, drawn by ``count`` walks from every node.

    Args:
        adjacency: A, with sorted columns.
        nodes: Where the walks start.
        count: k, walks from each node.
        generator: Draws the steps.
        chunk: Neighbours looked at together when the chances are computed.

    Returns:
        How many members each node got, the members one node after the other, and how often each is to be counted.
    """
    indptr, indices = adjacency.indptr.astype(np.int64), adjacency.indices
    degrees = np.diff(indptr)
    rows = np.repeat(np.flatnonzero(degrees[nodes] > 0), count)
    start = nodes[rows]
    through = _step(indptr, indices, degrees, start, generator)
    end = _step(indptr, indices, degrees, through, generator)
    strict = (end != start) & ~connected(adjacency, start, end)
    rows, end = rows[strict], end[strict]
    key, times = np.unique(rows * np.int64(degrees.size) + end, return_counts=True)
    rows, end = key // degrees.size, key % degrees.size
    chance = _common(adjacency, nodes[rows], end, chunk) / np.maximum(degrees[nodes[rows]], 1)
    return np.bincount(rows, minlength=nodes.size), end, times / (count * chance)


def connected(adjacency: sp.csr_array, first: Numbers, second: Numbers) -> NDArray[np.bool_]:
    """Whether there is an edge between each pair, by bisection in the shorter of the two rows.

    >>> path = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> connected(path, np.array([0, 0]), np.array([1, 2])).tolist()
    [True, False]
    """
    indptr, indices = adjacency.indptr, adjacency.indices
    shorter = indptr[first + 1] - indptr[first] <= indptr[second + 1] - indptr[second]
    row, wanted = np.where(shorter, first, second), np.where(shorter, second, first)
    low, high = indptr[row].astype(np.int64), indptr[row + 1].astype(np.int64)
    end = high
    for _ in range(int((high - low).max(initial=0)).bit_length()):
        middle = (low + high) // 2
        open_ = low < high
        before = open_ & (indices[np.where(open_, middle, 0)] < wanted)
        low, high = np.where(before, middle + 1, low), np.where(open_ & ~before, middle, high)
    inside = low < end
    found: NDArray[np.bool_] = inside & (indices[np.where(inside, low, 0)] == wanted)
    return found


def _step(
    indptr: Numbers, indices: NDArray[np.int32], degrees: Numbers, nodes: Numbers, generator: Generator
) -> Numbers:
    """A random neighbour of each node."""
    steps = (generator.random(nodes.size) * degrees[nodes]).astype(np.int64)
    ends: Numbers = indices[indptr[nodes] + steps].astype(np.int64)
    return ends


def _common(adjacency: sp.csr_array, first: Numbers, second: Numbers, chunk: int) -> NDArray[np.float64]:
    r""":math:`\sum 1/d_j` over the common neighbours j of each pair, ``chunk`` candidates at a time."""
    indptr, indices = adjacency.indptr.astype(np.int64), adjacency.indices
    degrees = np.diff(indptr)
    shorter = degrees[first] <= degrees[second]
    few, many = np.where(shorter, first, second), np.where(shorter, second, first)
    total = np.cumsum(degrees[few])
    sums = np.zeros(first.size)
    start = 0
    while start < first.size:
        before = total[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(total, before + chunk, side="right")))
        part = slice(start, stop)
        lengths = degrees[few[part]]
        offsets = np.cumsum(lengths) - lengths
        positions = np.repeat(indptr[few[part]] - offsets, lengths) + np.arange(lengths.sum())
        between = indices[positions].astype(np.int64)
        pair = np.repeat(np.arange(stop - start), lengths)
        common = connected(adjacency, between, many[part][pair])
        weights = 1.0 / degrees[between[common]]
        sums[part] = np.bincount(pair[common], weights=weights, minlength=stop - start)
        start = stop
    return sums


def _pattern(matrix: sp.csr_array) -> sp.csr_array:
    matrix = sp.csr_array(matrix)
    return sp.csr_array((np.ones(matrix.nnz, np.float32), matrix.indices, matrix.indptr), shape=matrix.shape)
