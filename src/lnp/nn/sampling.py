r"""Some neighbours instead of all: parts of a graph small enough to compute with.

A part has its own nodes, some of their neighbours, some of their neighbours' neighbours and so on, one hop for each
propagation of the network. Of the :math:`d_i` neighbours of a node, up to k are drawn uniformly without replacement,
and their entries of S are multiplied by :math:`d_i / k`, so that

.. math:: E\,[\hat S] = S

row by row: a sampled propagation is right on average. With all neighbours it is right: the own rows of a network's
outputs are those of the whole graph, as no row that they depend on lacks anything.

Two-hop sets, which H2GCN needs, are drawn by walks (:mod:`lnp.nn.two_hop`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lnp.nn.two_hop import marked, two_hop_rows, two_hop_walks
from lnp.seeds import Generator

__all__ = ["Links", "NeighbourSampler", "SampledNodes", "draw_positions"]

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Links:
    """Who sends messages to whom in a part: CSR with rows and columns in the order of the part's nodes.

    Args:
        indptr: Where each row begins; nodes of the last hop have no row.
        columns: The senders.
        weights: The edge's weight, times how many edges this one stands for.
    """

    indptr: Numbers
    columns: Numbers
    weights: NDArray[np.float64]


@dataclass(frozen=True)
class SampledNodes:
    """A part of a graph.

    Args:
        nodes: Node numbers in the whole graph: own nodes first, then those of the first hop, and so on.
        sizes: How many nodes there are up to each hop, from 0; the first is the number of own nodes.
        one_hop: Links to neighbours.
        two_hop: Links to nodes two steps away, where they were asked for.
    """

    nodes: Numbers
    sizes: tuple[int, ...]
    one_hop: Links
    two_hop: Links | None


class NeighbourSampler:
    """Draws parts of a graph.

    Args:
        adjacency: A, symmetric CSR without self-loops.
        fan_out: Neighbours drawn per node, hop by hop from the own nodes outwards; ``None`` takes all.
        two_hop: Whether two-hop sets are drawn, too: as many walks from a node as it gets neighbours.
    """

    def __init__(self, adjacency: sp.csr_array, fan_out: Sequence[int | None], *, two_hop: bool = False) -> None:
        self.adjacency = adjacency
        self.fan_out = tuple(fan_out)
        self.with_two_hop = two_hop
        self._marks = marked(adjacency) if two_hop and None in self.fan_out else None
        self._indptr = adjacency.indptr.astype(np.int64)
        self._place = np.full(adjacency.shape[0], -1, np.int64)  # where a node is in the part at hand

    def sample(self, own: Numbers, generator: Generator) -> SampledNodes:
        """A part whose own nodes these are, in this order."""
        place, frontier = self._place, own
        hops, sizes = [own], [own.size]
        near: list[_Drawn] = []
        far: list[_Drawn] = []
        place[own] = np.arange(own.size)
        for count in self.fan_out:
            near.append(self._neighbours(frontier, count, generator))
            if self.with_two_hop:
                far.append(self._two_hop(frontier, count, generator))
            frontier = self._new(*near[-1:], *far[-1:])
            place[frontier] = sizes[-1] + np.arange(frontier.size)
            hops.append(frontier)
            sizes.append(sizes[-1] + frontier.size)
        nodes = np.concatenate(hops)
        one_hop = self._join(near)
        two_hop = self._join(far) if self.with_two_hop else None
        place[nodes] = -1
        return SampledNodes(nodes, tuple(sizes), one_hop, two_hop)

    def _neighbours(self, nodes: Numbers, count: int | None, generator: Generator) -> _Drawn:
        degrees = self._indptr[nodes + 1] - self._indptr[nodes]
        counts = degrees if count is None else np.minimum(degrees, count)
        positions = self._indptr[nodes].repeat(counts) + draw_positions(degrees, counts, generator)
        inflation = degrees / np.maximum(counts, 1)
        weights = self.adjacency.data[positions] * inflation.repeat(counts)
        return _Drawn(counts, self.adjacency.indices[positions].astype(np.int64), weights)

    def _two_hop(self, nodes: Numbers, count: int | None, generator: Generator) -> _Drawn:
        if count is not None:
            return _Drawn(*two_hop_walks(self.adjacency, nodes, count, generator))
        rows = two_hop_rows(self.adjacency, nodes, self._marks)
        return _Drawn(np.diff(rows.indptr).astype(np.int64), rows.indices.astype(np.int64), rows.data.astype(float))

    def _new(self, *drawn: _Drawn) -> Numbers:
        """The nodes among those drawn that are not in the part yet, each once."""
        candidates = np.concatenate([one.nodes for one in drawn])
        candidates = candidates[self._place[candidates] < 0]
        order = np.arange(candidates.size)
        self._place[candidates] = order  # of a node that occurs twice, one occurrence stays
        new: Numbers = candidates[self._place[candidates] == order]
        return new

    def _join(self, hops: list[_Drawn]) -> Links:
        counts = np.concatenate([np.zeros(1, np.int64), *(one.counts for one in hops)])
        nodes = np.concatenate([np.zeros(0, np.int64), *(one.nodes for one in hops)])
        weights = np.concatenate([np.zeros(0), *(one.weights for one in hops)])
        return Links(np.cumsum(counts), self._place[nodes], weights)


@dataclass(frozen=True)
class _Drawn:
    """Senders of some nodes, one node after the other: how many each, which, and with which weights."""

    counts: Numbers
    nodes: Numbers
    weights: NDArray[np.float64]


def draw_positions(sizes: Numbers, counts: Numbers, generator: Generator) -> Numbers:
    """For each set of ``sizes[i]`` things, ``counts[i]`` distinct ones drawn uniformly, as numbers from 0, set by set.

    Sets that are taken whole need no draw. The others follow Floyd's method, all sets at once: the t-th draw is from
    the first ``size - count + t`` things, and one that was drawn before is replaced by the last of these. Its cost does
    not depend on how large the sets are.

    >>> draw_positions(np.array([2, 0, 1]), np.array([2, 0, 1]), np.random.default_rng(0)).tolist()
    [0, 1, 0]
    """
    ends = np.cumsum(counts)
    starts = ends - counts
    total = int(ends[-1]) if ends.size else 0
    positions = np.arange(total) - starts.repeat(counts)
    partial = np.flatnonzero(counts < sizes)
    for count in np.unique(counts[partial]):
        sets = partial[counts[partial] == count]
        chosen = np.empty((int(count), sets.size), np.int64)
        for t, chance in enumerate(generator.random((int(count), sets.size))):
            last = sizes[sets] - count + t
            drawn = (chance * (last + 1)).astype(np.int64)
            again = (chosen[:t] == drawn).any(axis=0)
            chosen[t] = np.where(again, last, drawn)
        positions[starts[sets] + np.arange(count)[:, None]] = chosen
    return positions
