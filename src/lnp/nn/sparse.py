r"""Sparse times dense, with the transpose kept for the backward pass.

PyTorch transposes a CSR matrix by sorting it anew in every backward pass. The matrices here never change during
training, so each is stored together with its transpose, and the product's gradient is one more sparse product:

.. math:: Y = A B, \qquad \frac{\partial L}{\partial B} = A^\top \frac{\partial L}{\partial Y}.

Gradients of gradients are products of the same kind, and :mod:`torch.func` works, too.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from lnp.graph.csr_notice import without_csr_notice

__all__ = ["Multiplier", "SparseMatrix", "csr_product", "transformed"]

WIDE = 16
"""From this many columns on, summing rows is faster than the sparse library."""

BLOCK = 64
"""Columns that are multiplied at a time where rows are long: what is read again and again then stays in the cache."""

LONG = 64
"""Entries of a row, on average, from which on rows are long."""

SUM = 0
"""The mode of an embedding bag."""


class Multiplier(Protocol):
    """Anything that multiplies a dense matrix from the left."""

    def __matmul__(self, dense: Tensor) -> Tensor: ...


class SparseMatrix:
    """A constant CSR matrix with its transpose, to be multiplied with dense matrices.

    >>> matrix = SparseMatrix.from_scipy(sp.csr_array([[0.0, 2.0], [1.0, 0.0]]))
    >>> (matrix @ torch.eye(2)).tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """

    def __init__(self, forward: Tensor, backward: Tensor) -> None:
        self._forward = forward
        self._backward = backward

    @classmethod
    def from_scipy(
        cls, matrix: sp.csr_array, *, symmetric: bool = False, device: torch.device | str = "cpu"
    ) -> SparseMatrix:
        """From a scipy matrix; ``symmetric=True`` saves the transpose."""
        forward = _to_torch(matrix, device)
        return cls(forward, forward if symmetric else _to_torch(sp.csr_array(matrix.T), device))

    def turned(self) -> SparseMatrix:
        """The transpose, which is there already."""
        return SparseMatrix(self._backward, self._forward)

    def rows(self, numbers: Tensor) -> SparseMatrix:
        """Some rows as a matrix of their own."""
        csr = self._forward.cpu()
        parts = (csr.values().numpy(), csr.col_indices().numpy(), csr.crow_indices().numpy())
        matrix = sp.csr_array(parts, shape=self.shape)
        return SparseMatrix.from_scipy(matrix[numbers.cpu().numpy()], device=self.device)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self._forward.shape
        return rows, columns

    @property
    def device(self) -> torch.device:
        """Where the matrix lives."""
        return self._forward.device

    def blend(self, dense: Tensor, other: Tensor, share: float) -> Tensor:
        r""":math:`\alpha A B + (1 - \alpha) C` in one step, without gradient.

        Args:
            dense: B.
            other: C.
            share: :math:`\alpha`.
        """
        if _is_wide(self._forward, dense):
            return csr_product(self._forward, dense).mul_(share).add_(other, alpha=1 - share)
        return torch.addmm(other, self._forward, dense, beta=1 - share, alpha=share)

    def __matmul__(self, dense: Tensor) -> Tensor:
        # Only the second form works under torch.func; binding its arguments takes longer than a small product.
        function = _TransformableProduct if transformed() else _SparseTimesDense
        product: Tensor = function.apply(self, dense)  # type: ignore[no-untyped-call]
        return product


def transformed() -> bool:
    """Whether this runs inside :mod:`torch.func`, which knows neither in-place steps nor contexts."""
    active: bool = torch._C._are_functorch_transforms_active()
    return active


class _SparseTimesDense(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: SparseMatrix, dense: Tensor) -> Tensor:
        ctx.matrix = matrix
        return csr_product(matrix._forward, dense)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor | None]:
        if not ctx.needs_input_grad[1]:
            return None, None
        matrix: SparseMatrix = ctx.matrix
        if torch.is_grad_enabled():  # somebody will differentiate this gradient once more
            return None, matrix.turned() @ gradient
        return None, csr_product(matrix._backward, gradient)


class _TransformableProduct(_SparseTimesDense):
    """The same function in the form that torch.func asks for: a forward pass without context."""

    @staticmethod
    def forward(matrix: SparseMatrix, dense: Tensor) -> Tensor:  # type: ignore[override]
        return csr_product(matrix._forward, dense)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[SparseMatrix, Tensor], output: Tensor) -> None:
        ctx.matrix = inputs[0]


def csr_product(csr: Tensor, dense: Tensor) -> Tensor:
    """A CSR tensor times a dense matrix, without gradient."""
    if _is_wide(csr, dense):
        if dense.shape[1] <= BLOCK or csr.values().numel() < LONG * csr.shape[0]:
            return _sums(csr, dense)
        product = dense.new_empty(csr.shape[0], dense.shape[1])
        for start in range(0, dense.shape[1], BLOCK):
            columns = slice(start, start + BLOCK)
            product[:, columns] = _sums(csr, dense[:, columns].contiguous())
        return product
    # csr @ dense would pass over the product twice to fill it with zeros before it starts.
    product = dense.new_empty(csr.shape[0], dense.shape[1])
    return torch.addmm(product, csr, dense, beta=0, out=product)


def _is_wide(csr: Tensor, dense: Tensor) -> bool:
    """Whether summing rows is the faster way to multiply."""
    return dense.shape[1] >= WIDE and dense.device.type == "cpu" and dense.dtype == csr.dtype


def _sums(csr: Tensor, dense: Tensor) -> Tensor:
    """A row of a product is a weighted sum of rows of the dense matrix, which is what an embedding bag is.

    Its kernel takes a third to a half of the time of the sparse library's on rows of some width.
    """
    return torch.embedding_bag(
        dense,
        csr.col_indices(),
        csr.crow_indices(),
        mode=SUM,
        per_sample_weights=csr.values(),
        include_last_offset=True,
    )[0]


def _to_torch(matrix: sp.csr_array, device: torch.device | str) -> Tensor:
    matrix = sp.csr_array(matrix)
    matrix.sort_indices()
    # 32-bit indices halve the index traffic; the row pointer must be able to count every entry.
    index = np.int32 if matrix.nnz < 2**31 and max(matrix.shape) < 2**31 else np.int64
    with without_csr_notice():
        return torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr.astype(index)),
            torch.from_numpy(matrix.indices.astype(index)),
            torch.from_numpy(matrix.data.astype(np.float32)),
            size=matrix.shape,
            device=device,
            check_invariants=False,  # scipy has checked them
        )
