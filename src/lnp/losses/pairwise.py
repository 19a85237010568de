r"""Whether two nodes are connected, as a loss on pairs of node vectors.

With pair logits :math:`o_{ij} = z_i^\top z_j`, targets :math:`B = A + I` (0 or 1), E stored entries of A (every edge in
both directions), and weights M,

.. math::
    L(o; M) = \frac{r}{n^2} \sum_{ij} M_{ij} \left[ -w B_{ij} \log s(o_{ij}) - (1 - B_{ij}) \log(1 - s(o_{ij})) \right],
    \qquad r = \frac{n^2}{2 (n^2 - E)}, \quad w = \frac{n^2 - E}{E},

s the sigmoid. The pairs of B are few and always taken whole. The others are either summed exactly, in blocks of rows
whose gradient is taken at once, so that no n × n tensor is ever held, or estimated from pairs drawn at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from lnp.seeds import Generator

__all__ = ["ConnectedPairs", "SampledPairs", "confidence", "pair_logits", "pairwise_loss"]

BLOCK_ENTRIES = 2**20
"""Pairs per block of the exact sum: 4 MiB, which stays in a cache."""


@dataclass(frozen=True, eq=False)
class SampledPairs:
    """Pairs outside B, and how many pairs outside B each of them stands for."""

    source: Tensor
    target: Tensor
    factor: float


class ConnectedPairs:
    """B: every edge once, and every node with itself.

    Args:
        adjacency: A, symmetric without self-loops; only where its entries are matters.
        device: Where the pairs are put.
    """

    def __init__(self, adjacency: sp.csr_array, device: torch.device | str = "cpu") -> None:
        n, entries = int(adjacency.shape[0]), int(adjacency.nnz)
        edges = sp.triu(adjacency, 1).tocoo()
        nodes = np.arange(n)
        self.node_count = n
        self.entry_count = entries
        self.scale = n * n / (2 * (n * n - entries))
        self.positive_weight = (n * n - entries) / entries if entries else 0.0
        self.source = torch.from_numpy(np.r_[edges.row, nodes].astype(np.int64)).to(device)
        self.target = torch.from_numpy(np.r_[edges.col, nodes].astype(np.int64)).to(device)
        # How often a pair stands in the double sum: an edge in both directions, a node with itself once.
        self.times = torch.from_numpy(np.r_[np.full(edges.nnz, 2.0), np.ones(n)].astype(np.float32)).to(device)
        self._keys: NDArray[np.int64] = np.sort(edges.row.astype(np.int64) * n + edges.col)

    def sample(self, generator: Generator, count: int | None = None) -> SampledPairs:
        """Draws ``count`` ordered pairs (as many as B has by default) and keeps those outside B.

        Each drawn pair stands for n² / ``count`` pairs, so sums over them are right on average.
        """
        n = self.node_count
        count = self.entry_count + n if count is None else count
        first, second = generator.integers(0, n, size=(2, count))
        key = np.minimum(first, second) * n + np.maximum(first, second)
        place = np.searchsorted(self._keys, key)
        connected = np.append(self._keys, -1)[place] == key
        outside = ~connected & (first != second)
        device = self.source.device
        return SampledPairs(
            torch.from_numpy(first[outside]).to(device), torch.from_numpy(second[outside]).to(device), n * n / count
        )


def pair_logits(vectors: Tensor, source: Tensor, target: Tensor) -> Tensor:
    """O for the listed pairs."""
    return (vectors[source] * vectors[target]).sum(dim=1)


def confidence(logits: Tensor, connected: Tensor | bool) -> Tensor:
    """M from the logits of another network: its probability of the right answer, without gradient.

    >>> confidence(torch.zeros(2), True).tolist()
    [0.5, 0.5]
    """
    sign = 2 * connected.to(logits.dtype) - 1 if isinstance(connected, Tensor) else (1 if connected else -1)
    return (sign * logits).detach().sigmoid()


def pairwise_loss(
    vectors: Tensor, pairs: ConnectedPairs, *, judge: Tensor | None = None, sampled: SampledPairs | None = None
) -> Tensor:
    """L, in units of one pair.

    Args:
        vectors: z, ``(n, c)``.
        pairs: B of the graph. Without any edge there is nothing to tell pairs apart by, and L is 0.
        judge: z' of the network whose confidence is M; ``None`` stands for M = 1.
        sampled: Pairs to estimate the sum outside B from; ``None`` sums exactly.
    """
    if pairs.entry_count == 0:
        return vectors.sum() * 0
    judge = None if judge is None else judge.detach()
    inside = pair_logits(vectors, pairs.source, pairs.target)
    sure = sure_not = torch.ones_like(inside)
    if judge is not None:
        judged = pair_logits(judge, pairs.source, pairs.target)
        sure, sure_not = confidence(judged, True), confidence(judged, False)
    total = pairs.positive_weight * (pairs.times * sure * F.softplus(-inside)).sum()
    if sampled is None:
        everywhere: Tensor = _AllPairs.apply(vectors, judge)  # type: ignore[no-untyped-call]
        total = total + everywhere - (pairs.times * sure_not * F.softplus(inside)).sum()
    else:
        outside = F.softplus(pair_logits(vectors, sampled.source, sampled.target))
        if judge is not None:
            outside = outside * confidence(pair_logits(judge, sampled.source, sampled.target), False)
        total = total + sampled.factor * outside.sum()
    return pairs.scale * total / pairs.node_count**2


class _AllPairs(torch.autograd.Function):
    r""":math:`\sum_{ij} M_{ij} \log(1 + e^{o_{ij}})` with :math:`M = 1 - s(o')`, over the upper half in blocks of rows.

    The gradient, :math:`2 \sum_j M_{ij} s(o_{ij}) z_j` for row i, is computed along with the sum, block by block.
    """

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, judge: Tensor | None) -> Tensor:
        n = vectors.shape[0]
        gradient = torch.zeros_like(vectors)
        total = torch.zeros((), dtype=torch.float64, device=vectors.device)
        begin = 0
        while begin < n:
            end = min(n, begin + max(1, BLOCK_ENTRIES // (n - begin)))
            logits = vectors[begin:end] @ vectors[begin:].T
            values, slope = F.softplus(logits), logits.sigmoid_()
            if judge is not None:
                weight = (judge[begin:end] @ judge[begin:].T).neg_().sigmoid_()
                values, slope = values.mul_(weight), slope.mul_(weight)
            width = end - begin
            total += values[:, :width].sum(dtype=torch.float64) + 2 * values[:, width:].sum(dtype=torch.float64)
            gradient[begin:end] += slope @ vectors[begin:]
            gradient[end:] += slope[:, width:].T @ vectors[begin:end]
            begin = end
        ctx.save_for_backward(2 * gradient)
        return total.to(vectors.dtype)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return upstream * gradient, None
