r"""Loss correction with a transition matrix :math:`C_{ij} = P(\text{given } j \mid \text{true } i)`.

Reference: Patrini et al., *Making deep neural networks robust to label noise: a loss correction approach*, CVPR 2017.
"""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from lnp.errors import check_choice

__all__ = ["REMEDIES", "backward_correction", "bounded_inverse", "forward_correction"]

SMALLEST = 1e-12
"""Lower bound of an entry of C under the logarithm."""
REMEDIES = ("shrink", "pseudo-inverse")
"""What :func:`bounded_inverse` can do with a nearly singular matrix."""


def forward_correction(logits: Tensor, labels: Tensor, transition: Tensor) -> Tensor:
    r""":math:`-\log (p^\top C)_{\tilde y}`: predictions pass through the noise before they meet the given label.

    Args:
        logits: z, ``(k, c)``, with :math:`p = \mathrm{softmax}(z)` the true-label probabilities.
        labels: The given labels :math:`\tilde y`, ``(k,)``.
        transition: C, ``(c, c)``, rows summing to 1.

    >>> swap = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    >>> forward_correction(torch.tensor([[0.0, 50.0]]), torch.tensor([0]), swap).tolist()
    [-0.0]
    """
    log_columns = transition.clamp(min=SMALLEST).log().T  # row ỹ holds log C[:, ỹ]
    return -torch.logsumexp(F.log_softmax(logits, dim=1) + log_columns[labels], dim=1)


def backward_correction(logits: Tensor, labels: Tensor, inverse: Tensor, *, clip: float = 1e-5) -> Tensor:
    r""":math:`\sum_j (C^{-1})_{\tilde y j} \, (-\log p_j)`: on average over the noise, the clean cross entropy.

    It may be negative, and without a bound on p it would have no lower limit.

    Args:
        logits: z, ``(k, c)``.
        labels: The given labels :math:`\tilde y`, ``(k,)``.
        inverse: :math:`C^{-1}`, ``(c, c)``, for instance from :func:`bounded_inverse`.
        clip: p is kept in ``[clip, 1 - clip]``.

    >>> halves = torch.zeros(1, 2)
    >>> round(backward_correction(halves, torch.tensor([1]), torch.eye(2)).item(), 4)
    0.6931
    """
    log_p = F.log_softmax(logits, dim=1).clamp(math.log(clip), math.log1p(-clip))
    return -(inverse[labels] * log_p).sum(dim=1)


def bounded_inverse(transition: Tensor, *, max_condition: float, remedy: str = "shrink") -> Tensor:
    """:math:`C^{-1}`, of a tamer matrix where C is nearly singular.

    Args:
        transition: C, ``(c, c)``.
        max_condition: Largest condition number that is inverted as it is.
        remedy: Above it, "shrink" inverts :math:`(1-e) C + e I` with the smallest e, in steps of 0.01, whose condition
            number is allowed; "pseudo-inverse" drops singular values below the largest over ``max_condition``.

    >>> bounded_inverse(torch.full((2, 2), 0.5), max_condition=100, remedy="pseudo-inverse").round(decimals=4).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    check_choice("remedy", remedy, REMEDIES)
    matrix = transition.detach().double()
    if remedy == "pseudo-inverse":
        pseudo: Tensor = torch.linalg.pinv(matrix, rtol=1 / max_condition)
        return pseudo.to(transition)
    identity = torch.eye(matrix.shape[0], dtype=matrix.dtype, device=matrix.device)
    for share in np.linspace(0, 1, 101):
        candidate = (1 - share) * matrix + share * identity
        if torch.linalg.cond(candidate) <= max_condition:
            inverse: Tensor = torch.linalg.inv(candidate)
            return inverse.to(transition)
    raise AssertionError("The identity has condition number 1.")
