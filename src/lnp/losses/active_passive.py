r"""Active and passive losses.

A loss divided by its sum over all classes tolerates symmetric label noise. *Active* ones only raise the probability of
the given label; *passive* ones also lower the others. Each alone fits slowly or not at all, their sum does both.

Reference: Ma et al., *Normalized loss functions for deep learning with noisy labels*, ICML 2020.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["mean_absolute_error", "normalised_cross_entropy", "normalised_focal", "reverse_cross_entropy"]

LOG_ZERO = math.log(1e-4)
"""What reverse cross entropy puts in the place of log 0."""
SMALLEST = 1e-7
"""Lower bound of 1 − p under a fractional power, whose slope at 0 is infinite."""


def normalised_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    r"""NCE, active: :math:`\log p_y / \sum_k \log p_k`, in (0, 1); over all y it sums to 1.

    >>> normalised_cross_entropy(torch.zeros(1, 4), torch.tensor([2])).tolist()
    [0.25]
    """
    log_p = F.log_softmax(logits, dim=1)
    return _of_label(log_p, labels) / log_p.sum(dim=1)


def normalised_focal(logits: Tensor, labels: Tensor, *, gamma: float, detach_focal: bool = False) -> Tensor:
    r"""NFL, active: :math:`(1-p_y)^\gamma \log p_y / \sum_k (1-p_k)^\gamma \log p_k`; over all y it sums to 1.

    Args:
        logits: z, ``(k, c)``.
        labels: y, ``(k,)``.
        gamma: The focal power; 0 gives :func:`normalised_cross_entropy`.
        detach_focal: Treat the factors :math:`(1-p)^\gamma` as constants, as the authors' code does.
    """
    log_p = F.log_softmax(logits, dim=1)
    factors = (-torch.expm1(log_p)).clamp(min=SMALLEST) ** gamma
    focal = (factors.detach() if detach_focal else factors) * log_p
    return _of_label(focal, labels) / focal.sum(dim=1)


def mean_absolute_error(logits: Tensor, labels: Tensor) -> Tensor:
    r"""MAE, passive: :math:`1 - p_y`, half of :math:`|p - e_y|_1`; over all y it sums to c − 1.

    >>> mean_absolute_error(torch.zeros(1, 4), torch.tensor([2])).tolist()
    [0.75]
    """
    return 1 - _of_label(logits.softmax(dim=1), labels)


def reverse_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    r"""RCE, passive: :math:`-\sum_k p_k \log q_k` with q one-hot and its zeros replaced by 1e-4.

    That is 9.2103 times :func:`mean_absolute_error`: the two differ only by the weight they deserve.
    """
    return -LOG_ZERO * mean_absolute_error(logits, labels)


def _of_label(values: Tensor, labels: Tensor) -> Tensor:
    return values.gather(1, labels.unsqueeze(1)).squeeze(1)
