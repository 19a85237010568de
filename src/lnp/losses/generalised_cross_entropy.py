r"""Generalised cross entropy: between cross entropy (fits fast) and absolute error (robust).

Reference: Zhang and Sabuncu, *Generalized cross entropy loss for training deep neural networks with noisy labels*,
NeurIPS 2018.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["generalised_cross_entropy", "truncated_generalised_cross_entropy", "truncation_value"]


def generalised_cross_entropy(logits: Tensor, labels: Tensor, *, q: float) -> Tensor:
    r""":math:`L_q(z, y) = (1 - p_y^q) / q` with :math:`p = \mathrm{softmax}(z)`.

    Its gradient is that of cross entropy times :math:`p_y^q`, so a label the network disbelieves counts for little.

    Args:
        logits: z, ``(k, c)``.
        labels: y, ``(k,)``.
        q: In (0, 1]; towards 0 this is cross entropy, at 1 it is :math:`1 - p_y`.

    >>> generalised_cross_entropy(torch.zeros(1, 4), torch.tensor([2]), q=1.0).tolist()
    [0.75]
    """
    log_likelihood = F.log_softmax(logits, dim=1).gather(1, labels.unsqueeze(1)).squeeze(1)
    return -torch.expm1(q * log_likelihood) / q


def truncated_generalised_cross_entropy(logits: Tensor, labels: Tensor, *, q: float, k: float) -> Tensor:
    """:math:`L_q` where :math:`p_y > k`, and the constant :math:`L_q(k)` elsewhere, which gives no gradient.

    >>> truncated_generalised_cross_entropy(torch.zeros(1, 4), torch.tensor([2]), q=1.0, k=0.5).tolist()
    [0.5]
    """
    losses = generalised_cross_entropy(logits, labels, q=q)
    limit = truncation_value(q=q, k=k)
    return torch.where(losses < limit, losses, limit)


def truncation_value(*, q: float, k: float) -> float:
    """:math:`L_q(k) = (1 - k^q) / q`: the loss of a label with probability k."""
    return float(1 - k**q) / q
