"""Edge weights from the likeness of the nodes' vectors."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lnp.graph.csr_notice import without_csr_notice
from lnp.graph.graph import Graph
from lnp.nn.sparse import SparseMatrix

__all__ = ["EdgeSimilarity"]

CHUNK = 2**18
"""Entries of a dense chunk of rows: small enough for a processor's cache."""


class EdgeSimilarity:
    r"""The edges of a graph, to be weighted anew whenever the nodes' vectors change.

    .. math:: v_{ij} = \frac{1}{\frac{1}{k} \lVert z_i - z_j \rVert^2 + \epsilon}, \qquad S = D^{-1/2} V D^{-1/2}

    on the edges of A and 0 elsewhere, with D the row sums of V: the more alike two neighbours, the more they exchange.
    S does not change when all vectors are multiplied by one number (up to :math:`\epsilon`). The pattern is kept in CSR
    form, so a new S costs one pass over the edges.

    Args:
        graph: The graph; only which nodes are connected matters.
        device: Where to compute.
        epsilon: Keeps the weight of an edge between equal vectors finite.
    """

    def __init__(self, graph: Graph, device: torch.device | str = "cpu", *, epsilon: float = 1e-10) -> None:
        adjacency = graph.adjacency
        rows = np.repeat(np.arange(graph.node_count), np.diff(adjacency.indptr))
        index = np.int32 if adjacency.nnz < 2**31 else np.int64
        self.node_count = graph.node_count
        self.epsilon = epsilon
        self.rows = torch.from_numpy(rows.astype(index)).to(device)
        self.columns = torch.from_numpy(adjacency.indices.astype(index)).to(device)
        self.row_ends = torch.from_numpy(adjacency.indptr.astype(index)).to(device)

    @torch.no_grad()
    def matrix(self, vectors: Tensor) -> SparseMatrix:
        """S for the ``(n, k)`` vectors z, without gradient."""
        weights = 1 / (self._squared_distances(vectors) / vectors.shape[1] + self.epsilon)
        degrees = torch.zeros(self.node_count, dtype=weights.dtype, device=weights.device)
        roots = degrees.index_add_(0, self.rows, weights).rsqrt()  # infinite only where no edge reads it
        with without_csr_notice():
            csr = torch.sparse_csr_tensor(
                self.row_ends,
                self.columns,
                weights * roots[self.rows] * roots[self.columns],
                size=(self.node_count, self.node_count),
                check_invariants=False,
            )
        return SparseMatrix(csr, csr)

    def _squared_distances(self, vectors: Tensor) -> Tensor:
        """Of the ends of every edge. A few edges at a time, so that whole rows are read and stay in the cache."""
        distance = vectors.new_empty(self.rows.shape[0])
        size = max(1, CHUNK // max(1, vectors.shape[1]))
        for start in range(0, distance.numel(), size):
            part = slice(start, start + size)
            ends = (vectors.index_select(0, nodes[part]) for nodes in (self.rows, self.columns))
            distance[part] = torch.sub(*ends).square_().sum(dim=1)
        return distance
