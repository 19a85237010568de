r"""Kullback-Leibler divergence between categorical distributions, one value per node.

With p and q the softmax of z and u, :math:`K = \sum_k p_k \log (p_k / q_k)` has the gradients

.. math::
    \frac{\partial K}{\partial z_k} = p_k \left( \log \frac{p_k}{q_k} - K \right), \qquad
    \frac{\partial K}{\partial u_k} = q_k - p_k .

For many nodes they are computed along with K, block of rows by block while everything is in a cache, and are all that
is kept: automatic differentiation would keep three times as much and pass over it six times.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from lnp.nn.sparse import transformed

__all__ = ["kl_divergence", "kl_divergence_of_probabilities"]

MANY = 100_000
"""Rows from which on the gradient is computed along with the divergence; it differs in rounding."""

BLOCK = 4096
"""Rows computed at a time."""


def kl_divergence(p_logits: Tensor, q_logits: Tensor) -> Tensor:
    r""":math:`\mathrm{KL}(p \,\|\, q) = \sum_k p_k \log (p_k / q_k)` for each row, from logits.

    Args:
        p_logits: Logits of p, ``(n, c)``; logarithms of probabilities are logits, minus infinity stands for 0.
        q_logits: Logits of q, ``(n, c)``.

    >>> kl_divergence(torch.tensor([[0.0, -torch.inf]]), torch.zeros(1, 2)).tolist()
    [0.6931471824645996]
    """
    if p_logits.shape[0] >= MANY and not transformed():
        divergence: Tensor = _Divergence.apply(p_logits, q_logits, BLOCK)  # type: ignore[no-untyped-call]
        return divergence
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


class _Divergence(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, p_logits: Tensor, q_logits: Tensor, block: int) -> Tensor:
        result = p_logits.new_empty(p_logits.shape[0])
        wanted = any(ctx.needs_input_grad)
        of_p, of_q = (torch.empty_like(p_logits), torch.empty_like(q_logits)) if wanted else (None, None)
        for start in range(0, p_logits.shape[0], block):
            rows = slice(start, start + block)
            # Along the columns of the transpose the kernels take many rows at once, however few the classes.
            log_p, log_q = (z[rows].T.contiguous().log_softmax(dim=0) for z in (p_logits, q_logits))
            p, difference = log_p.exp(), (log_p - log_q).masked_fill_(log_p == -torch.inf, 0)
            torch.sum(p * difference, dim=0, out=result[rows])
            if of_p is not None and of_q is not None:
                of_p[rows] = difference.sub_(result[rows]).mul_(p).T
                of_q[rows] = log_q.exp_().sub_(p).T
        if wanted:
            ctx.save_for_backward(of_p, of_q)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, weights: Tensor) -> tuple[Tensor, Tensor, None]:
        of_p, of_q = ctx.saved_tensors
        weights = weights.unsqueeze(1)
        return of_p * weights, of_q * weights, None
