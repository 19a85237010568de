r"""The contrastive loss with sampled negatives for many rows, in memory O(n c) and one sweep.

With :math:`f_i, g_i` the two predictions of node i, :math:`c_j` the predictions of the nodes drawn by both networks
(C, ``(2k, c)``), and :math:`\mu` the factor by which these stand for all others,

.. math::
    \ell_i = \tfrac12 \sum_{a \in \{f, g\}} \log(1 + e^{o_i^a - p_i}), \qquad
    p_i = \frac{\langle f_i, g_i \rangle}{\tau}, \qquad
    o_i^a = \log \mu \sum_{j \ne i} e^{\langle a_i, c_j \rangle / \tau} .

With :math:`s_i^a` the derivative of :math:`\ell_i` by :math:`o_i^a`, and :math:`R^a_{ij}` the share of c_j in the sum,

.. math::
    \frac{\partial \ell_i}{\partial a_i} = \frac{s_i^a (R^a C)_i - (s_i^f + s_i^g)\, b_i}{\tau} \;
    (b \text{ the other of } f, g), \qquad
    \frac{\partial}{\partial c_j} \sum_i w_i \ell_i = \frac1\tau \sum_a \sum_i w_i s_i^a R^a_{ij} a_i .

A block of rows fits into a cache with its exponentials, so both are computed at once while these are there; they are
never kept. The weights w_i, the gradient that comes back, are known only later. Where they are all alike, as after a
mean, they come in as a factor; else the last sum is computed once more.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from lnp.nn.linear import multiply

__all__ = ["blockwise_contrastive_loss"]

BLOCK = 4096
"""Rows at a time: the exponentials of 128 candidates take 2 MiB."""

LOG2_E = 1 / math.log(2)
"""Powers of 2 take half the time of powers of e."""

LARGEST = 60.0
"""Exponents up to this need no shift in 32 bits."""


def blockwise_contrastive_loss(
    first: Tensor, second: Tensor, drawn: Tensor, temperature: float, log_mass: float, *, block: int = BLOCK
) -> Tensor:
    r"""The loss of every node, ``(n,)``.

    Args:
        first: f, ``(n, c)``.
        second: g, ``(n, c)``.
        drawn: The k nodes whose predictions are the negatives.
        temperature: :math:`\tau`.
        log_mass: :math:`\log \mu`.
        block: Rows computed at a time.
    """
    losses: Tensor = _Loss.apply(first, second, drawn, temperature, log_mass, block)  # type: ignore[no-untyped-call]
    return losses


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, first: Tensor, second: Tensor, drawn: Tensor, temperature: float, log_mass: float, block: int
    ) -> Tensor:
        sweep = _Sweep(first, second, drawn, temperature, log_mass, block)
        losses = first.new_empty(first.shape[0])
        gradients = [torch.empty_like(first), torch.empty_like(second)] if any(ctx.needs_input_grad) else None
        candidates = None if gradients is None else torch.zeros_like(sweep.scaled)
        for rows in sweep.blocks():
            losses[rows] = sweep.block(rows, gradients, candidates, None)
        if gradients is not None:
            ctx.sweep = (drawn, temperature, log_mass, block)
            ctx.save_for_backward(first, second, *gradients, candidates)
        return losses

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, weights: Tensor) -> tuple[Tensor | None, ...]:
        first, second, of_first, of_second, candidates = ctx.saved_tensors
        drawn = ctx.sweep[0]
        factor = weights[:1]
        if bool((weights == factor).all()):
            candidates = candidates * factor
        else:
            factor = weights.unsqueeze(1)
            sweep, candidates = _Sweep(first, second, *ctx.sweep), torch.zeros_like(candidates)
            for rows in sweep.blocks():
                sweep.block(rows, None, candidates, weights)
        of_first, of_second = of_first * factor, of_second * factor
        of_first.index_add_(0, drawn, candidates[:, : drawn.numel()].T)
        of_second.index_add_(0, drawn, candidates[:, drawn.numel() :].T)
        return of_first, of_second, None, None, None, None


class _Sweep:
    """What the blocks of one pass share."""

    def __init__(
        self, first: Tensor, second: Tensor, drawn: Tensor, temperature: float, log_mass: float, block: int
    ) -> None:
        self.first, self.second, self.drawn = first, second, drawn
        self.temperature, self.log_mass, self.size = temperature, log_mass, block
        self.candidates = torch.cat([first[drawn], second[drawn]])
        self.scaled = self.candidates.T.contiguous() * (LOG2_E / temperature)
        # No inner product exceeds the product of the largest norms. A shift is needed only if that is large.
        norm = max(float(torch.linalg.vector_norm(part, dim=1).max()) for part in (first, second))
        bound = norm * norm / temperature
        self.shift = bound if bound > LARGEST else 0.0

    def blocks(self) -> list[slice]:
        """The rows of each block."""
        n = self.first.shape[0]
        return [slice(start, min(start + self.size, n)) for start in range(0, n, self.size)]

    def block(
        self, rows: slice, gradients: list[Tensor] | None, candidates: Tensor | None, weights: Tensor | None
    ) -> Tensor:
        """The losses of a block.

        Args:
            rows: Which.
            gradients: Those of f and g, whose rows are filled.
            candidates: The gradient of Cᵀ, to which the block's part is added.
            weights: w; ``None`` for 1.
        """
        pair = self.first[rows], self.second[rows]
        positive = (pair[0] * pair[1]).sum(dim=1) / self.temperature
        inside = ((self.drawn >= rows.start) & (self.drawn < rows.stop)).nonzero().squeeze(1)
        total, slopes = torch.zeros_like(positive), torch.zeros_like(positive)
        pulls = []
        for anchors in pair:
            shares = anchors @ self.scaled
            if self.shift:
                shares -= self.shift * LOG2_E
            shares.exp2_()
            if inside.numel():  # a node is no negative of itself
                itself = self.drawn[inside] - rows.start
                shares[itself, inside] = 0
                shares[itself, inside + self.drawn.numel()] = 0
            mass = shares.sum(dim=1).clamp_(min=torch.finfo(shares.dtype).tiny)
            margin = mass.log() + (self.shift + self.log_mass) - positive
            total += F.softplus(margin)
            slope = margin.sigmoid_() / 2
            slopes += slope
            per_unit = slope / (mass * self.temperature)
            if gradients is not None:
                pulls.append(multiply(shares, self.candidates) * per_unit.unsqueeze(1))
            weighted = per_unit if weights is None else per_unit * weights[rows]
            if candidates is not None:
                candidates.addmm_((anchors * weighted.unsqueeze(1)).T, shares)
        if gradients is not None:
            slopes = (slopes / self.temperature).unsqueeze(1)
            torch.addcmul(pulls[0], slopes, pair[1], value=-1, out=gradients[0][rows])
            torch.addcmul(pulls[1], slopes, pair[0], value=-1, out=gradients[1][rows])
        return total / 2
