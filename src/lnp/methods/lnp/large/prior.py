r"""The prior's logits of many nodes from its network's outputs, in one step with one gradient.

Both rules of :mod:`lnp.methods.lnp.prior` are :math:`\bar y_i = (1 - \sigma_i) h_i + \sigma_i r_{y_i}`, with
:math:`\sigma_i = \frac12` on T_N in v2 and 0 elsewhere.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.large.unit import class_means, factors_of, slices, to_outputs_

__all__ = ["prior_logits"]


def prior_logits(outputs: Tensor, noisy: Labelled | None, at: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    r""":math:`\bar y`, ``(n, c)``, and once more its rows at some nodes, so that no gradient of theirs fills a matrix.

    Args:
        outputs: f of the prior's network, ``(n, c)``.
        noisy: Y_N in v2, ``None`` in v1.
        at: Those nodes.
        scale: s.
    """
    share = outputs.new_zeros(outputs.shape[0], 1)
    given = torch.zeros(outputs.shape[0], dtype=torch.int64, device=outputs.device)
    if noisy is not None:
        share[noisy.nodes] = 0.5
        given[noisy.nodes] = noisy.labels
    logits, rows = _Prior.apply(outputs, noisy, given, share, at, scale)  # type: ignore[no-untyped-call]
    return logits, rows


class _Prior(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, outputs: Tensor, noisy: Labelled | None, given: Tensor, share: Tensor, at: Tensor, scale: float
    ) -> tuple[Tensor, Tensor]:
        width = outputs.shape[1]
        means = counts = None
        if noisy is not None:
            means, counts = class_means(outputs, *noisy, width, scale)
        result, factors = torch.empty_like(outputs), torch.empty_like(share)
        for rows in slices(*outputs.shape):
            factors[rows] = factors_of(outputs[rows], scale)
            torch.mul(outputs[rows], factors[rows] * (1 - share[rows]), out=result[rows])
            if means is not None:
                result[rows].addcmul_(share[rows], means.index_select(0, given[rows]))
        ctx.counts, ctx.scale = counts, scale
        ctx.save_for_backward(outputs, given, share, at, factors)
        return result, result.index_select(0, at)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, of_rows: Tensor) -> tuple[Tensor | None, ...]:
        outputs, given, share, at, factors = ctx.saved_tensors
        gradient = gradient.index_add(0, at, of_rows)
        shares = None
        if ctx.counts is not None:
            shares = outputs.new_zeros(ctx.counts.shape[0], outputs.shape[1])
            for rows in slices(*outputs.shape):
                shares += torch.zeros_like(shares).index_add_(0, given[rows], gradient[rows] * share[rows])
            shares /= ctx.counts.clamp(min=1) / 2  # times σ = 1/2 below
        for rows in slices(*outputs.shape):
            part = gradient[rows].mul_(1 - share[rows])
            if shares is not None:
                part.addcmul_(share[rows], shares.index_select(0, given[rows]))
            to_outputs_(part, outputs[rows] * factors[rows], factors[rows], ctx.scale)
        return gradient, None, None, None, None, None
