r"""KL divergence and contrastive loss of posterior and prior on many nodes, from the outputs of their networks.

.. math:: f \;\to\; \bar y \;\to\; \mathrm{KL}(Q \,\|\, P) + \lambda_3 \mathcal L_{Cont}(Q, P)

Logits, the gradient of the two terms by them, and that gradient as one of f are the same two matrices, one after the
other: each takes the place of the last (:mod:`lnp.losses.divergence_sweep`). Matrices of this size cost more to be
handed out by the system than to be filled, so their number is what time depends on.

The rest of the objective reads some rows: q on the labelled nodes (the decoder) and the prior's logits on those that
:math:`\lambda_2` draws it to. These are outputs, too, and what comes back to them is added before the last step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from lnp.losses.divergence_sweep import divergence_sweep_
from lnp.methods.lnp.large.posterior import PosteriorLogits
from lnp.methods.lnp.large.prior import PriorLogits
from lnp.methods.lnp.large.unit import slices
from lnp.nn.bounded_softmax import bounded_softmax

__all__ = ["Negatives", "divergence"]


class Negatives(NamedTuple):
    r"""The contrastive loss: the negatives, :math:`\tau`, :math:`\log \mu`, :math:`\lambda_3`, and who is asked.

    The last are the r and m of :func:`~lnp.losses.divergence_sweep.divergence_sweep_`.
    """

    drawn: Tensor
    temperature: float
    log_mass: float
    weight: float
    anchors: tuple[int, int] = (0, 1)


def divergence(
    posterior: Tensor,
    prior: Tensor,
    posterior_logits: PosteriorLogits,
    prior_logits: PriorLogits,
    rows: Tensor,
    at: Tensor,
    negatives: Negatives,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    r"""Q at some rows, the prior's logits at others, the mean KL divergence, and λ3 times the mean contrastive loss.

    Args:
        posterior: f of the posterior's network, ``(n, c)``.
        prior: f of the prior's network, ``(n, c)``.
        posterior_logits: From the first to logits.
        prior_logits: From the second to logits.
        rows: Where q is wanted, each node once.
        at: Where the prior's logits are wanted.
        negatives: For the contrastive loss.
    """
    results: tuple[Tensor, Tensor, Tensor, Tensor] = _Divergence.apply(  # type: ignore[no-untyped-call]
        posterior, prior, posterior_logits, prior_logits, rows, at, negatives
    )
    return results


class _Divergence(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        posterior: Tensor,
        prior: Tensor,
        posterior_logits: PosteriorLogits,
        prior_logits: PriorLogits,
        rows: Tensor,
        at: Tensor,
        negatives: Negatives,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        scale = posterior_logits.scale
        first, second = posterior_logits.logits(posterior), prior_logits.logits(prior)
        probabilities = first.new_empty(rows.numel(), first.shape[1])
        for part in slices(*probabilities.shape):
            probabilities[part] = bounded_softmax(first.index_select(0, rows[part]), scale)[0]
        prior_rows = second.index_select(0, at)
        kl, contrastive = _sweep_(first, second, negatives, scale, 1.0, 1.0)
        ctx.ways, ctx.negatives, ctx.gradients = (posterior_logits, prior_logits), negatives, (first, second)
        ctx.save_for_backward(posterior, prior, rows, at, probabilities)
        return probabilities, prior_rows, kl, negatives.weight * contrastive

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, of_rows: Tensor, of_prior_rows: Tensor, of_kl: Tensor, of_contrastive: Tensor
    ) -> tuple[Tensor | None, ...]:
        posterior, prior, rows, at, probabilities = ctx.saved_tensors
        posterior_logits, prior_logits = ctx.ways
        a, b = float(of_kl), float(of_contrastive)
        if a == b and ctx.gradients is not None:
            first, second = ctx.gradients
            if a != 1:
                first.mul_(a)
                second.mul_(a)
        else:
            first, second = posterior_logits.logits(posterior), prior_logits.logits(prior)
            _sweep_(first, second, ctx.negatives, posterior_logits.scale, a, b)
        ctx.gradients = None  # used up, in place; a second backward pass computes them again
        for part in slices(*probabilities.shape):
            along = (of_rows[part] * probabilities[part]).sum(dim=1, keepdim=True)
            first.index_add_(0, rows[part], (of_rows[part] - along).mul_(probabilities[part]))
        second.index_add_(0, at, of_prior_rows)
        first, second = posterior_logits.to_outputs_(first, posterior), prior_logits.to_outputs_(second, prior)
        return first, second, None, None, None, None, None


def _sweep_(
    first: Tensor, second: Tensor, negatives: Negatives, bound: float, of_kl: float, of_contrastive: float
) -> tuple[Tensor, Tensor]:
    drawn, temperature, log_mass, weight, anchors = negatives
    return divergence_sweep_(
        first, second, drawn, temperature, log_mass, bound, of_kl, weight * of_contrastive, anchors=anchors
    )
