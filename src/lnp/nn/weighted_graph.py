r"""A graph some of whose edge weights carry gradient.

The original edges and self-loops keep their weight; further undirected pairs {i, j} have weights :math:`w_{ij}` that a
network computes. With :math:`\hat A = A + I + W` and :math:`\hat D` its degrees, a GCN multiplies by

.. math:: S = \hat D^{-1/2} \hat A \hat D^{-1/2} \quad\text{or}\quad S = \hat D^{-1} \hat A .

The degrees scale dense rows before and after the product, so what needs a gradient of its own is only :math:`W B`.
W is symmetric, and for :math:`Y = W B`

.. math::
    \frac{\partial L}{\partial B} = W \frac{\partial L}{\partial Y}, \qquad
    \frac{\partial L}{\partial w_{ij}} = \Big\langle \frac{\partial L}{\partial Y_i}, B_j \Big\rangle
    + \Big\langle \frac{\partial L}{\partial Y_j}, B_i \Big\rangle ,

one more sparse product and dot products on the pairs alone, taken in chunks. The dot products :math:`q_i \cdot q_j`
from which weights are made are the same two operations the other way round. Nothing of size n × n is ever formed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnp.errors import check_choice
from lnp.graph.csr_notice import without_csr_notice
from lnp.nn.sparse import SparseMatrix, csr_product

__all__ = ["PairCache", "Pairs", "WeightedGraph", "WeightedPairs", "looped_adjacency", "new_pairs"]

CHUNK = 2**18
"""Entries of a dense chunk in products on pairs: small enough for a processor's cache."""


class Pairs:
    """A fixed list of undirected pairs of nodes.

    Args:
        first: One end of each pair.
        second: The other end, another node.
        node_count: The number of nodes n.
        device: Where products are computed.
    """

    def __init__(
        self,
        first: NDArray[np.integer[Any]],
        second: NDArray[np.integer[Any]],
        node_count: int,
        device: torch.device | str = "cpu",
    ) -> None:
        index = np.int32 if node_count < 2**31 else np.int64
        self.node_count = node_count
        self.first = torch.from_numpy(first.astype(index)).to(device)
        self.second = torch.from_numpy(second.astype(index)).to(device)

    def __len__(self) -> int:
        return self.first.numel()

    def dots(self, vectors: Tensor) -> Tensor:
        r""":math:`q_i \cdot q_j` of every pair."""
        products: Tensor = _Dots.apply(self, vectors)  # type: ignore[no-untyped-call]
        return products

    def weighted(self, weights: Tensor) -> WeightedPairs:
        """The pairs as the symmetric matrix W."""
        return WeightedPairs(self, weights)

    @cached_property
    def _rows(self) -> tuple[Tensor, Tensor, Tensor]:
        """Row pointer, columns and pair numbers of W in CSR, both directions of every pair."""
        count = len(self)
        ends = torch.cat([self.first, self.second]).cpu().numpy()
        # A counting sort of the ends: column i of this matrix lists the entries that start at node i.
        starts = sp.csr_array(
            (np.ones(2 * count, np.int8), ends, np.arange(2 * count + 1)), shape=(2 * count, self.node_count)
        ).tocsc()
        index = np.int32 if 2 * count < 2**31 else np.int64
        entries = torch.from_numpy(starts.indices.astype(index)).to(self.first.device)
        pointer = torch.from_numpy(starts.indptr.astype(index)).to(self.first.device)
        columns = torch.cat([self.second, self.first]).index_select(0, entries).to(entries.dtype)
        return pointer, columns, torch.where(entries < count, entries, entries - count)

    def matrix(self, weights: Tensor) -> Tensor:
        """W as a torch CSR tensor without gradient; pairs of weight 0 are left out."""
        pointer, columns, pair = self._rows
        values = weights.detach().index_select(0, pair)
        kept = values != 0
        if not bool(kept.all()):
            before = torch.zeros(kept.numel() + 1, dtype=pointer.dtype, device=pointer.device)
            torch.cumsum(kept, 0, out=before[1:])
            pointer = before.index_select(0, pointer)
            columns, values = columns[kept], values[kept]
        with without_csr_notice():
            return torch.sparse_csr_tensor(
                pointer, columns, values, size=(self.node_count, self.node_count), check_invariants=False
            )


class WeightedPairs:
    """The symmetric matrix W: pairs with weights that may carry gradient.

    A pair of weight exactly 0 is not in the graph: it costs nothing and its weight gets no gradient, as beneath the
    kink of a rectifier.
    """

    def __init__(self, pairs: Pairs, weights: Tensor) -> None:
        self.pairs = pairs
        self.weights = weights
        self._matrix = pairs.matrix(weights)

    def degrees(self) -> Tensor:
        """Row sums of W, with gradient."""
        zero = self.weights.new_zeros(self.pairs.node_count)
        return zero.index_add(0, self.pairs.first, self.weights).index_add(0, self.pairs.second, self.weights)

    def __matmul__(self, dense: Tensor) -> Tensor:
        product: Tensor = _PairsTimesDense.apply(  # type: ignore[no-untyped-call]
            self.pairs, self._matrix, self.weights, dense
        )
        return product


class WeightedGraph:
    """S of a graph with learned pairs; multiplies dense matrices, differentiably in the weights.

    Args:
        looped: A + λ I (:func:`looped_adjacency`).
        parts: Learned pairs; no pair may be in two of them.
        normalisation: "symmetric" or "row".
        loops: λ.
    """

    def __init__(
        self,
        looped: SparseMatrix,
        parts: Sequence[WeightedPairs],
        normalisation: str = "symmetric",
        loops: float = 1.0,
    ) -> None:
        check_choice("normalisation", normalisation, ("symmetric", "row"))
        self._looped = looped
        self._loops = loops
        self._parts = tuple(parts)
        ones = torch.ones(looped.shape[0], 1, device=looped.device)
        self.degree = (looped @ ones).squeeze(1)
        for part in self._parts:
            self.degree = self.degree + part.degrees()
        self._symmetric = normalisation == "symmetric"
        self._scale = (self.degree.rsqrt() if self._symmetric else self.degree.reciprocal()).unsqueeze(1)

    def __matmul__(self, dense: Tensor) -> Tensor:
        return self._scale * self._sum(self._scale * dense if self._symmetric else dense)

    def neighbour_mean(self, dense: Tensor) -> Tensor:
        """Weighted mean over the neighbours of each node, itself left out; 0 where there is none."""
        return (self._sum(dense) - self._loops * dense) / (self.degree - self._loops).clamp(min=1e-6).unsqueeze(1)

    def _sum(self, dense: Tensor) -> Tensor:
        total = self._looped @ dense
        for part in self._parts:
            total = total + part @ dense
        return total


class PairCache:
    """Pairs that follow from a buffer: built again only when the buffer has changed, for instance by loading."""

    def __init__(self) -> None:
        self._key: Tensor | None = None
        self._pairs: Pairs | None = None

    def get(self, key: Tensor, build: Callable[[], Pairs]) -> Pairs:
        """The pairs that ``build`` makes from ``key``."""
        if self._pairs is None or self._key is None or not torch.equal(self._key, key):
            self._key, self._pairs = key.clone(), build()
        return self._pairs


def looped_adjacency(adjacency: sp.csr_array, device: torch.device | str = "cpu", loops: float = 1.0) -> SparseMatrix:
    """A + λ I as a constant matrix."""
    eye = sp.eye_array(adjacency.shape[0], dtype=np.float32, format="csr") * np.float32(loops)
    return SparseMatrix.from_scipy(sp.csr_array(adjacency + eye), symmetric=True, device=device)


def new_pairs(
    first: NDArray[np.integer[Any]],
    second: NDArray[np.integer[Any]],
    adjacency: sp.csr_array,
    device: torch.device | str = "cpu",
) -> Pairs:
    """Every pair once, whichever way it was given, without self-pairs and without edges of A."""
    n = adjacency.shape[0]
    low, high = np.minimum(first, second).astype(np.int64), np.maximum(first, second).astype(np.int64)
    keys = np.unique((low * n + high)[low != high])
    keys = keys[~is_edge(keys, adjacency)]
    return Pairs(keys // n, keys % n, n, device)


def is_edge(keys: NDArray[np.int64], adjacency: sp.csr_array) -> NDArray[np.bool_]:
    """Which keys ``i n + j`` are edges of A."""
    n = adjacency.shape[0]
    rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(adjacency.indptr))
    edges = rows * n + adjacency.indices  # sorted: rows ascend, and columns within each row
    if edges.size == 0:
        return np.zeros(keys.shape, bool)
    place = np.searchsorted(edges, keys).clip(max=edges.size - 1)
    found: NDArray[np.bool_] = edges[place] == keys
    return found


def _dots(pairs: Pairs, left: Tensor, right: Tensor, chosen: Tensor | None = None) -> Tensor:
    """left_i · right_j of the pairs (or the chosen ones), in chunks."""
    first = pairs.first if chosen is None else pairs.first[chosen]
    second = pairs.second if chosen is None else pairs.second[chosen]
    result = left.new_empty(first.numel())
    size = max(1, CHUNK // max(1, left.shape[1]))
    for start in range(0, first.numel(), size):
        part = slice(start, start + size)
        result[part] = (left.index_select(0, first[part]) * right.index_select(0, second[part])).sum(dim=1)
    return result


class _Dots(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pairs: Pairs, vectors: Tensor) -> Tensor:
        ctx.pairs = pairs
        ctx.save_for_backward(vectors)
        return _dots(pairs, vectors, vectors)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:
        (vectors,) = ctx.saved_tensors
        return None, csr_product(ctx.pairs.matrix(gradient), vectors)


class _PairsTimesDense(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pairs: Pairs, matrix: Tensor, weights: Tensor, dense: Tensor) -> Tensor:
        ctx.pairs, ctx.matrix = pairs, matrix
        ctx.save_for_backward(weights, dense)
        return csr_product(matrix, dense)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, None, Tensor | None, Tensor | None]:
        weights, dense = ctx.saved_tensors
        to_weights = to_dense = None
        if ctx.needs_input_grad[2]:
            present = weights.nonzero().squeeze(1)
            to_weights = torch.zeros_like(weights)
            to_weights[present] = _dots(ctx.pairs, gradient, dense, present) + _dots(
                ctx.pairs, dense, gradient, present
            )
        if ctx.needs_input_grad[3]:
            to_dense = csr_product(ctx.matrix, gradient)
        return None, None, to_weights, to_dense
