r"""The products of a stack of networks, each for all seeds in one call.

A sparse matrix that the seeds share times S dense ones is one product with a block-diagonal matrix:

.. math:: \begin{pmatrix} A & & \\ & \ddots & \\ & & A \end{pmatrix}
          \begin{pmatrix} B_1 \\ \vdots \\ B_S \end{pmatrix}

Side by side, :math:`A [B_1 \dots B_S]`, a row of the dense matrix would no longer fit the processor's cache together
with its neighbours, and results would have to be taken apart again. The product is taken as a weighted sum of rows
(``embedding_bag``), for which PyTorch generates machine code that fits the width: on narrow matrices about twice as
fast as the general sparse product.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.sparse import SparseMatrix

__all__ = ["StackedGraph", "StackedMatrix", "multiply_stacks"]


class StackedMatrix:
    """A sparse matrix for every seed: ``(S, k, w)`` → ``(S, m, w)``.

    >>> import scipy.sparse as sp
    >>> swap = SparseMatrix.from_scipy(sp.csr_array([[0.0, 2.0], [1.0, 0.0]]))
    >>> (StackedMatrix(swap, 2) @ torch.eye(2).expand(2, 2, 2)).tolist()
    [[[0.0, 2.0], [1.0, 0.0]], [[0.0, 2.0], [1.0, 0.0]]]
    """

    def __init__(self, matrix: SparseMatrix, count: int) -> None:
        self.shape = matrix.shape
        self.forward_block = _Block(matrix._forward, count)
        symmetric = matrix._backward is matrix._forward
        self.backward_block = self.forward_block if symmetric else _Block(matrix._backward, count)

    def __matmul__(self, dense: Tensor) -> Tensor:
        product: Tensor = _StackedProduct.apply(self, dense)  # type: ignore[no-untyped-call]
        return product


class _Block:
    """A CSR matrix, repeated along the diagonal."""

    def __init__(self, csr: Tensor, count: int) -> None:
        rows, columns = csr.shape
        pointers, entries = csr.crow_indices().long(), csr.col_indices().numel()
        shifts = torch.arange(count)
        starts = (pointers[:-1] + entries * shifts.unsqueeze(1)).flatten()
        indices = (csr.col_indices().long() + columns * shifts.unsqueeze(1)).flatten()
        # 32-bit indices halve the index traffic.
        kind = torch.int32 if max(count * entries, count * columns) < 2**31 else torch.int64
        self.offsets = torch.cat([starts, torch.tensor([count * entries])]).to(kind)
        self.indices = indices.to(kind)
        self.values = csr.values().repeat(count)
        self.rows, self.count = rows, count

    def multiply(self, dense: Tensor) -> Tensor:
        width = dense.shape[2]
        # Detached, because embedding_bag would otherwise prepare for a backward pass of its own.
        dense = dense.detach()
        product = F.embedding_bag(
            self.indices,
            dense.reshape(-1, width).contiguous(),
            self.offsets,
            mode="sum",
            per_sample_weights=self.values,
            include_last_offset=True,
        )
        return product.view(self.count, self.rows, width)


class _StackedProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: StackedMatrix, dense: Tensor) -> Tensor:
        ctx.matrix = matrix
        return matrix.forward_block.multiply(dense)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:
        return None, ctx.matrix.backward_block.multiply(gradient)


def multiply_stacks(features: Tensor | StackedMatrix, weight: Tensor) -> Tensor:
    r""":math:`X_s W_s` for every seed s.

    Args:
        features: ``(S, n, k)``, or ``(n, k)`` where the seeds share it, dense or sparse.
        weight: ``(S, k, w)``.
    """
    if isinstance(features, StackedMatrix):
        return features @ weight
    if features.dim() == 2:
        return torch.matmul(features, weight)
    product: Tensor = _NarrowProduct.apply(features, weight)  # type: ignore[no-untyped-call]
    return product


class _NarrowProduct(torch.autograd.Function):
    """Tall times small. Taken the wrong way round, these products take four times as long."""

    @staticmethod
    def forward(ctx: Any, tall: Tensor, small: Tensor) -> Tensor:
        ctx.save_for_backward(tall, small)
        return torch.bmm(small.transpose(1, 2).contiguous(), tall.transpose(1, 2)).transpose(1, 2).contiguous()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        tall, small = ctx.saved_tensors
        of_small = torch.bmm(gradient.transpose(1, 2), tall).transpose(1, 2).contiguous()
        return torch.bmm(gradient, small.transpose(1, 2).contiguous()), of_small


class StackedGraph:
    """What networks see of a graph that all seeds share: X and S, ready for stacks.

    Args:
        graph: The graph, on the CPU.
        count: The number of seeds.
    """

    def __init__(self, graph: GraphTensors, count: int) -> None:
        self._graph, self._count = graph, count
        features = graph.features
        assert isinstance(features, Tensor | SparseMatrix)
        self.features = features if isinstance(features, Tensor) else StackedMatrix(features, count)
        self._propagations: dict[str, StackedMatrix] = {}

    @property
    def node_count(self) -> int:
        """The number of nodes n."""
        return self._graph.node_count

    def propagation(self, kind: str) -> StackedMatrix:
        """S of the given kind, built at the first call."""
        if kind not in self._propagations:
            self._propagations[kind] = StackedMatrix(self._graph.propagation(kind), self._count)
        return self._propagations[kind]
