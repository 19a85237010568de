r"""KL divergence and sampled contrastive loss between two predictions of many nodes, from logits, in one sweep.

With :math:`q, p` the softmax of z and u, :math:`\kappa` and :math:`\lambda` the weights of the two terms, and
:math:`\ell` the loss of :mod:`lnp.losses.contrastive_blocks`,

.. math::
    K &= \frac1n \sum_i \mathrm{KL}(q_i \,\|\, p_i), \qquad
    \mathrm{KL}(q \,\|\, p) = \langle q, z - u \rangle - \log\textstyle\sum e^z + \log\sum e^u, \qquad
    L = \frac1n \sum_i \ell_i \\
    \frac{\partial (\kappa K + \lambda L)}{\partial z} &= q \odot (t - \langle q, t \rangle), \quad
    t = \frac{\kappa}{n} (z - u) + \lambda \frac{\partial L}{\partial q}, \qquad
    \frac{\partial (\kappa K + \lambda L)}{\partial u} = \lambda\, p \odot \left( \frac{\partial L}{\partial p}
    - \left\langle p, \frac{\partial L}{\partial p} \right\rangle \right) + \frac{\kappa}{n} (p - q) .

Both terms read the same probabilities, and a block of rows passes each of them while it is in a cache; then its logits
are needed no more, and their gradient takes their place. The rows of the predictions drawn as negatives sum to 1, so
the sum of the exponentials :math:`\sum_j E_{ij}` is that of the row :math:`(E C)_i`, which the gradient needs anyway.

L can be asked of every m-th node only, from the r-th on, each of which stands for m. Over :math:`r = 0, \dots, m - 1`
the mean of these is L itself, so with r drawn at random both the loss and its gradient are right on average.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from lnp.nn.bounded_softmax import LARGEST, LOG2_E, bounded_softmax

__all__ = ["divergence_sweep_"]

BLOCK = 2048
"""Rows at a time: the exponentials of both predictions and 128 candidates take 2 MiB."""


def divergence_sweep_(
    first: Tensor,
    second: Tensor,
    drawn: Tensor,
    temperature: float,
    log_mass: float,
    bound: float,
    kl_weight: float,
    contrastive_weight: float,
    *,
    anchors: tuple[int, int] = (0, 1),
    block: int = BLOCK,
) -> tuple[Tensor, Tensor]:
    r"""K and L; z and u are overwritten by the gradients of :math:`\kappa K + \lambda L`. Nothing is differentiated.

    Args:
        first: z, ``(n, c)``.
        second: u, ``(n, c)``.
        drawn: The k nodes whose predictions are the negatives.
        temperature: :math:`\tau`.
        log_mass: :math:`\log \mu`.
        bound: No logit is larger in absolute value.
        kl_weight: :math:`\kappa`.
        contrastive_weight: :math:`\lambda`.
        anchors: r and m.
        block: Rows computed at a time.
    """
    n, k = first.shape[0], drawn.numel()
    offset, every = anchors
    both = torch.cat([first.index_select(0, drawn), second.index_select(0, drawn)])
    candidates = bounded_softmax(both, bound)[0]
    scaled = candidates.T.contiguous() * (LOG2_E / temperature)
    shift = 1 / temperature if 1 / temperature > LARGEST else 0.0
    tiny = torch.finfo(first.dtype).tiny
    kl, contrastive = first.new_zeros((), dtype=torch.float64), first.new_zeros((), dtype=torch.float64)
    kappa, slope_scale = kl_weight / n, every * contrastive_weight / (2 * n * temperature)
    of_candidates = torch.zeros_like(scaled)
    rows = 2 * (-(-min(block, n) // every))
    exponentials, products = first.new_empty(rows, 2 * k), first.new_empty(rows, first.shape[1])
    for start in range(0, n, block):
        part = slice(start, min(start + block, n))
        count = part.stop - start
        stacked, masses = bounded_softmax(torch.cat([first[part], second[part]]), bound)
        q, p = stacked[:count], stacked[count:]
        gap = first[part] - second[part]
        kl += ((q * gap).sum(dim=1, keepdim=True) - masses[:count] + masses[count:]).sum()
        gap.mul_(kappa)
        torch.sub(p, q, out=second[part]).mul_(kappa)
        asked = slice((offset - start) % every, count, every)
        f, g = q[asked], p[asked]
        m = f.shape[0]
        chosen = stacked if every == 1 else torch.cat([f, g])
        positive = (f * g).sum(dim=1, keepdim=True).div_(temperature).repeat(2, 1)
        shares = torch.mm(chosen, scaled, out=exponentials[: 2 * m])
        if shift:
            shares -= shift * LOG2_E
        shares.exp2_()
        places = drawn - (start + asked.start)
        inside = ((places >= 0) & (drawn < part.stop) & (places % every == 0)).nonzero().squeeze(1)
        if inside.numel():  # a node is no negative of itself
            itself = places[inside] // every
            for anchor in (itself, itself + m):
                shares[anchor, inside] = 0
                shares[anchor, inside + k] = 0
        pulls = torch.mm(shares, candidates, out=products[: 2 * m])
        mass = pulls.sum(dim=1, keepdim=True).clamp_(min=tiny)
        margin = mass.log().add_(shift + log_mass).sub_(positive)
        contrastive += F.softplus(margin).sum()
        slopes = margin.sigmoid_().mul_(slope_scale)
        per_unit = slopes / mass
        of_candidates.addmm_((chosen * per_unit).T, shares)
        pulls.mul_(per_unit)
        towards = slopes[:m] + slopes[m:]
        gap[asked].add_(pulls[:m].addcmul_(towards, g, value=-1))
        of_g = pulls[m:].addcmul_(towards, f, value=-1)
        torch.mul(gap.sub_((gap * q).sum(dim=1, keepdim=True)), q, out=first[part])
        second[part][asked].add_(of_g.sub_((of_g * g).sum(dim=1, keepdim=True)).mul_(g))
    turned = of_candidates.T
    turned = (turned - (turned * candidates).sum(dim=1, keepdim=True)) * candidates
    for gradient, rows_drawn in zip((first, second), (turned[:k], turned[k:]), strict=True):
        gradient.index_add_(0, drawn, rows_drawn)
    return (kl / n).to(first.dtype), (every * contrastive / (2 * n)).to(first.dtype)
