"""Kullback-Leibler divergence between categorical distributions, one value per node."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["kl_divergence", "kl_divergence_of_probabilities"]


def kl_divergence(p_logits: Tensor, q_logits: Tensor) -> Tensor:
    r""":math:`\mathrm{KL}(p \,\|\, q) = \sum_k p_k \log (p_k / q_k)` for each row, from logits.

    Args:
        p_logits: Logits of p, ``(n, c)``; logarithms of probabilities are logits, minus infinity stands for 0.
        q_logits: Logits of q, ``(n, c)``.

    >>> kl_divergence(torch.tensor([[0.0, -torch.inf]]), torch.zeros(1, 2)).tolist()
    [0.6931471824645996]
    """
    log_p, log_q = p_logits.log_softmax(dim=1), q_logits.log_softmax(dim=1)
    # A class that p rules out adds nothing, whatever q says of it: 0 · log 0 = 0.
    ruled_out = log_p == -torch.inf
    return (log_p.exp() * (log_p - log_q).masked_fill(ruled_out, 0)).sum(dim=1)


def kl_divergence_of_probabilities(p: Tensor, q: Tensor) -> Tensor:
    r"""The same from probabilities, which may be 0.

    Logarithms stop at that of the smallest positive number (-87 for 32 bits), so that values and gradients stay
    finite where q rules out what p allows.

    Args:
        p: Rows that sum to 1, ``(n, c)``.
        q: Rows that sum to 1, ``(n, c)``.

    >>> kl_divergence_of_probabilities(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.5, 0.5]])).tolist()
    [0.6931471824645996]
    """
    smallest = torch.finfo(p.dtype).tiny
    return (p * (p.clamp(min=smallest).log() - q.clamp(min=smallest).log())).sum(dim=1)
