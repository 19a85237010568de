r"""KL divergence and sampled contrastive loss between two predictions of many nodes, from logits, in one sweep.

With :math:`q, p` the softmax of z and u, :math:`\kappa` and :math:`\lambda` the weights of the two terms, and
:math:`\ell` the loss of :mod:`lnp.losses.contrastive_blocks`,

.. math::
    K &= \frac{\kappa}{n} \sum_i \mathrm{KL}(q_i \,\|\, p_i), \qquad
    \mathrm{KL}(q \,\|\, p) = \langle q, z - u \rangle - \log\textstyle\sum e^z + \log\sum e^u, \qquad
    L = \frac{\lambda}{n} \sum_i \ell_i \\
    \frac{\partial (K + L)}{\partial z} &= q \odot (t - \langle q, t \rangle), \quad
    t = \frac{\kappa}{n} (z - u) + \frac{\partial L}{\partial q}, \qquad
    \frac{\partial (K + L)}{\partial u} = p \odot \left( \frac{\partial L}{\partial p}
    - \left\langle p, \frac{\partial L}{\partial p} \right\rangle \right) + \frac{\kappa}{n} (p - q) .

Both terms read the same probabilities, and a block of rows passes each of them while it is in a cache; the gradient of
the sum is all that is kept. The rows of the predictions drawn as negatives sum to 1, so the sum of the exponentials
:math:`\sum_j E_{ij}` is that of the row :math:`(E C)_i`, which the gradient needs anyway.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from lnp.nn.bounded_softmax import LARGEST, LOG2_E, bounded_softmax

__all__ = ["divergence_sweep"]

BLOCK = 2048
"""Rows at a time: the exponentials of both predictions and 128 candidates take 2 MiB."""


def divergence_sweep(
    first: Tensor,
    second: Tensor,
    rows: Tensor,
    drawn: Tensor,
    temperature: float,
    log_mass: float,
    weight: float,
    bound: float,
    *,
    block: int = BLOCK,
) -> tuple[Tensor, Tensor, Tensor]:
    r""":math:`q` at some rows, the mean KL divergence, and :math:`\lambda` times the mean contrastive loss.

    Args:
        first: z, ``(n, c)``.
        second: u, ``(n, c)``.
        rows: Rows at which q is wanted, each once.
        drawn: The k nodes whose predictions are the negatives.
        temperature: :math:`\tau`.
        log_mass: :math:`\log \mu`.
        weight: :math:`\lambda`.
        bound: No logit is larger in absolute value.
        block: Rows computed at a time.
    """
    options = (temperature, log_mass, weight, bound, block)
    probabilities, kl, contrastive = _Sweep.apply(first, second, rows, drawn, options)  # type: ignore[no-untyped-call]
    return probabilities, kl, contrastive


class _Sweep(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, first: Tensor, second: Tensor, rows: Tensor, drawn: Tensor, options: tuple[Any, ...]
    ) -> tuple[Tensor, Tensor, Tensor]:
        kl, contrastive, *gradients = _sweep(first, second, drawn, options, 1.0, 1.0, any(ctx.needs_input_grad))
        probabilities = bounded_softmax(first.index_select(0, rows), options[3])[0]
        ctx.gradients, ctx.options = gradients, options
        ctx.save_for_backward(first, second, rows, drawn, probabilities)
        return probabilities, kl, contrastive

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_rows: Tensor, of_kl: Tensor, of_contrastive: Tensor) -> tuple[Tensor | None, ...]:
        first, second, rows, drawn, probabilities = ctx.saved_tensors
        a, b = float(of_kl), float(of_contrastive)
        if a == b and ctx.gradients:
            # They are used up, in place; a second backward pass computes them again.
            of_first, of_second = ctx.gradients
            ctx.gradients = None
            if a != 1:
                of_first.mul_(a)
                of_second.mul_(a)
        else:
            of_first, of_second = _sweep(first, second, drawn, ctx.options, a, b, True)[2:]
        along = (of_rows * probabilities).sum(dim=1, keepdim=True)
        of_first.index_add_(0, rows, (of_rows - along).mul_(probabilities))
        return of_first, of_second, None, None, None


def _sweep(
    first: Tensor, second: Tensor, drawn: Tensor, options: tuple[Any, ...], kappa: float, times: float, graded: bool
) -> tuple[Tensor, ...]:
    """The two terms and, where ``graded``, the gradients of z and u of ``kappa`` · KL + ``times`` · contrastive."""
    temperature, log_mass, weight, bound, size = options
    n, k = first.shape[0], drawn.numel()
    both = torch.cat([first.index_select(0, drawn), second.index_select(0, drawn)])
    candidates = bounded_softmax(both, bound)[0]
    scaled = candidates.T.contiguous() * (LOG2_E / temperature)
    shift = 1 / temperature if 1 / temperature > LARGEST else 0.0
    tiny = torch.finfo(first.dtype).tiny
    kl, contrastive = first.new_zeros((), dtype=torch.float64), first.new_zeros((), dtype=torch.float64)
    kappa, slope_scale = kappa / n, times * weight / (2 * n * temperature)
    gradients = [torch.empty_like(first), torch.empty_like(second)] if graded else []
    of_candidates = torch.zeros_like(scaled)
    for start in range(0, n, size):
        part = slice(start, min(start + size, n))
        count = part.stop - start
        stacked, masses = bounded_softmax(torch.cat([first[part], second[part]]), bound)
        q, p = stacked[:count], stacked[count:]
        gap = first[part] - second[part]
        kl += ((q * gap).sum(dim=1, keepdim=True) - masses[:count] + masses[count:]).sum()
        positive = (q * p).sum(dim=1, keepdim=True).div_(temperature).repeat(2, 1)
        shares = stacked @ scaled
        if shift:
            shares -= shift * LOG2_E
        shares.exp2_()
        inside = ((drawn >= part.start) & (drawn < part.stop)).nonzero().squeeze(1)
        if inside.numel():  # a node is no negative of itself
            itself = drawn[inside] - start
            for anchor in (itself, itself + count):
                shares[anchor, inside] = 0
                shares[anchor, inside + k] = 0
        pulls = shares @ candidates
        mass = pulls.sum(dim=1, keepdim=True).clamp_(min=tiny)
        margin = mass.log().add_(shift + log_mass).sub_(positive)
        contrastive += F.softplus(margin).sum()
        if not graded:
            continue
        slopes = margin.sigmoid_().mul_(slope_scale)
        per_unit = slopes / mass
        of_candidates.addmm_((stacked * per_unit).T, shares)
        pulls.mul_(per_unit)
        towards = slopes[:count] + slopes[count:]
        of_q = pulls[:count].addcmul_(towards, p, value=-1).add_(gap, alpha=kappa)
        of_p = pulls[count:].addcmul_(towards, q, value=-1)
        along = (pulls * stacked).sum(dim=1, keepdim=True)
        torch.mul(of_q.sub_(along[:count]), q, out=gradients[0][part])
        torch.mul(of_p.sub_(along[count:] - kappa), p, out=gradients[1][part]).sub_(q, alpha=kappa)
    if graded:
        turned = of_candidates.T
        turned = (turned - (turned * candidates).sum(dim=1, keepdim=True)) * candidates
        for gradient, rows in zip(gradients, (turned[:k], turned[k:]), strict=True):
            gradient.index_add_(0, drawn, rows)
    terms = (kl / n).to(first.dtype), (contrastive * (weight / (2 * n))).to(first.dtype)
    return (*terms, *gradients)
