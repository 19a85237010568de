"""Softmax over rows whose logits are bounded, with the logarithm of its sums."""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = ["LARGEST", "LOG2_E", "bounded_softmax"]

LARGEST = 40.0
"""Exponents up to this need no shift in 32 bits."""

LOG2_E = 1 / math.log(2)
"""Powers of 2 take half the time of powers of e."""


def bounded_softmax(logits: Tensor, bound: float) -> tuple[Tensor, Tensor]:
    r"""Probabilities of each row and :math:`\log \sum_k e^{z_k}`, ``(n, 1)``, without gradient.

    Args:
        logits: z, ``(n, c)``.
        bound: No logit is larger in absolute value. Where it is small no row needs to be shifted.

    >>> bounded_softmax(torch.zeros(1, 2), 0.0)
    (tensor([[0.5000, 0.5000]]), tensor([[0.6931]]))
    """
    if bound > LARGEST:
        peaks = logits.amax(dim=1, keepdim=True)
        powers = (logits - peaks).mul_(LOG2_E).exp2_()
        sums = powers.sum(dim=1, keepdim=True)
        return powers.mul_(1 / sums), sums.log().add_(peaks)
    powers = torch.mul(logits, LOG2_E).exp2_()
    sums = powers.sum(dim=1, keepdim=True)
    return powers.mul_(1 / sums), sums.log()
