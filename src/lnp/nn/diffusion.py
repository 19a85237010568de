r"""Diffusion: values spread from some nodes to their neighbours, step by step.

.. math:: Z_0 = Y, \qquad Z_{t+1} = \mathrm{clamp}\bigl(\alpha S Z_t + (1 - \alpha) Y\bigr)

With :math:`\alpha < 1` and no clamp it converges to :math:`(1 - \alpha)(I - \alpha S)^{-1} Y`. Label propagation, both
steps of Correct & Smooth and the label spreading of LPM are this one iteration.

Without a clamp Z is a polynomial of S times Y, so its gradient is a diffusion, too, with the transpose of S:

.. math:: Z_T = p(S)\, Y, \qquad \frac{\partial L}{\partial Y} = p(S)^\top \frac{\partial L}{\partial Z_T}
          = p(S^\top) \frac{\partial L}{\partial Z_T}.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from lnp.errors import check_choice
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.sparse import Multiplier, SparseMatrix, transformed

__all__ = ["DIFFUSIONS", "diffuse", "diffused", "diffusion_matrix", "normalised_rows"]

DIFFUSIONS = ("symmetric", "row", "column")
"""S without self-loops, :math:`D^{-1/2} A D^{-1/2}`, :math:`D^{-1} A` or :math:`A D^{-1}`; an isolated node has a row
of zeros."""


@torch.no_grad()
def diffuse(
    matrix: Multiplier,
    seeds: Tensor,
    *,
    alpha: float,
    steps: int,
    bounds: tuple[float, float] | None = None,
    fixed: Tensor | None = None,
) -> Tensor:
    r"""Z after a number of steps, without gradient.

    Args:
        matrix: S, anything that multiplies an ``(n, k)`` matrix.
        seeds: Y, ``(n, k)``.
        alpha: How much comes from the neighbours; with 0 nothing moves.
        steps: The number of steps.
        bounds: The lower and the upper end of the clamp.
        fixed: ``(n,)`` mask of rows that are set back to Y after every step.
    """
    current = seeds
    held = None if fixed is None else fixed.nonzero().squeeze(1)
    for _ in range(steps):
        if isinstance(matrix, SparseMatrix) and alpha != 1:
            current = matrix.blend(current, seeds, alpha)
        else:
            current = matrix @ current
            if alpha != 1:
                current.mul_(alpha).add_(seeds, alpha=1 - alpha)
        if bounds is not None:
            current.clamp_(*bounds)
        if held is not None:
            current[held] = seeds[held]
    return current


def diffused(matrix: Multiplier, seeds: Tensor, *, alpha: float, steps: int) -> Tensor:
    """Z after a number of steps, with its gradient by Y; for a constant S nothing is kept on the way."""
    values = seeds
    if isinstance(matrix, SparseMatrix) and not transformed():
        values = _Diffused.apply(seeds, matrix, alpha, steps)  # type: ignore[no-untyped-call]
    else:  # a learnt S wants a gradient of its own, and torch.func may want the gradient of a gradient
        for _ in range(steps):
            values = alpha * (matrix @ values) + (1 - alpha) * seeds
    return values


class _Diffused(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, seeds: Tensor, matrix: SparseMatrix, alpha: float, steps: int) -> Tensor:
        ctx.diffusion = matrix, alpha, steps
        return diffuse(matrix, seeds, alpha=alpha, steps=steps)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        matrix, alpha, steps = ctx.diffusion
        return diffuse(matrix.turned(), gradient, alpha=alpha, steps=steps), None, None, None


def diffusion_matrix(graph: GraphTensors, kind: str) -> Multiplier:
    r"""S of one of :data:`DIFFUSIONS`, all from the one symmetric matrix: :math:`D^{-1} A = D^{-1/2} S D^{1/2}`."""
    check_choice("diffusion", kind, DIFFUSIONS)
    symmetric = graph.propagation("one-hop")
    if kind == "symmetric":
        return symmetric
    degree = np.asarray(graph.graph.adjacency.sum(axis=1), dtype=np.float64).ravel()
    root = torch.from_numpy(np.sqrt(np.where(degree > 0, degree, 1))).to(graph.device, torch.float32).unsqueeze(1)
    return _Scaled(1 / root, symmetric, root) if kind == "row" else _Scaled(root, symmetric, 1 / root)


class _Scaled:
    """A matrix between two diagonal ones."""

    def __init__(self, left: Tensor, matrix: Multiplier, right: Tensor) -> None:
        self.left, self.matrix, self.right = left, matrix, right

    def __matmul__(self, dense: Tensor) -> Tensor:
        return (self.matrix @ (dense * self.right)) * self.left


def normalised_rows(values: Tensor, otherwise: Tensor) -> Tensor:
    """Rows divided by their sum; rows that sum to 0 are taken from ``otherwise``, ``(c,)`` or ``(n, c)``."""
    sums = values.sum(dim=1, keepdim=True)
    return torch.where(sums > 0, values / torch.where(sums > 0, sums, 1), otherwise)
