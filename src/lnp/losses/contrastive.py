r"""The contrastive loss between two predictions of every node (the paper's Appendix C).

.. math::
    \ell(y_i, \tilde y_i) = -\log \frac{e^{\langle y_i, \tilde y_i\rangle/\tau}}
    {e^{\langle y_i, \tilde y_i\rangle/\tau} + \sum_{j \ne i} e^{\langle y_i, \tilde y_j\rangle/\tau}
     + \sum_{j \ne i} e^{\langle y_i, y_j\rangle/\tau}}

The prediction of a node by one network is pulled towards that of the other network and away from both networks'
predictions of all other nodes. Exact, it takes time :math:`O(n^2 c)`; it is computed in blocks of rows that are
recomputed in the backward pass, so memory stays :math:`O(n \cdot \text{block})`. With k sampled negatives it takes
:math:`O(n k c)`: each sum over :math:`j \ne i` becomes :math:`\frac{n}{k}` times the sum over k nodes drawn with
replacement (the node itself counting nothing), whose expectation is that sum.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils.checkpoint import checkpoint

from lnp.losses.contrastive_blocks import blockwise_contrastive_loss
from lnp.nn.linear import multiply
from lnp.seeds import Generator

__all__ = ["contrastive_loss", "sampled_contrastive_loss"]

BLOCK = 1024

MANY = 100_000
"""Rows from which on the sampled loss goes block by block and keeps no exponentials; it differs in rounding."""


def contrastive_loss(
    first: Tensor, second: Tensor, temperature: float, *, block: int = BLOCK, population: int | None = None
) -> Tensor:
    r"""The exact loss of every node, :math:`\frac12 [\ell(y_i, \tilde y_i) + \ell(\tilde y_i, y_i)]`, shape ``(n,)``.

    Args:
        first: y, ``(n, c)``.
        second: :math:`\tilde y`, ``(n, c)``.
        temperature: τ.
        block: Rows computed at a time.
        population: How many nodes the rows stand for, if they are only a part of them: the sums over the others are
            scaled up to that many.
    """
    log_mass = math.log((population or first.shape[0]) / first.shape[0])
    parts = [
        checkpoint(_block_loss, first, second, temperature, start, block, log_mass, use_reentrant=False)
        for start in range(0, first.shape[0], block)
    ]
    return torch.cat(parts)


def sampled_contrastive_loss(
    first: Tensor,
    second: Tensor,
    temperature: float,
    negatives: int,
    generator: Generator,
    *,
    population: int | None = None,
) -> Tensor:
    """The loss with ``negatives`` sampled nodes in place of all others; one draw serves every row.

    Where the rows are only a part of ``population`` nodes, those drawn among them stand for all of these.
    """
    n = first.shape[0]
    drawn = torch.from_numpy(generator.integers(0, n, size=negatives)).to(first.device)
    log_mass = math.log((population or n) / negatives)
    if n >= MANY:
        return blockwise_contrastive_loss(first, second, drawn, temperature, log_mass)
    return _both_directions(first, second, first[drawn], second[drawn], drawn, temperature, log_mass)


def _block_loss(first: Tensor, second: Tensor, temperature: float, start: int, block: int, log_mass: float) -> Tensor:
    rows = slice(start, min(start + block, first.shape[0]))
    # Candidate j is the anchor itself where j = start + row; others lie outside the block and match no row.
    itself = torch.arange(first.shape[0], device=first.device) - start
    return _both_directions(first[rows], second[rows], first, second, itself, temperature, log_mass)


def _both_directions(
    first: Tensor,
    second: Tensor,
    first_candidates: Tensor,
    second_candidates: Tensor,
    itself: Tensor,
    temperature: float,
    log_mass: float,
) -> Tensor:
    """Half the sum of both directions for each row; candidate j is the same node as row ``itself[j]``."""
    positive = (first * second).sum(dim=1) / temperature
    columns = ((itself >= 0) & (itself < first.shape[0])).nonzero().squeeze(1)
    rows, columns = itself[columns].repeat(2), torch.cat([columns, columns + itself.numel()])
    # No inner product exceeds the product of the largest norms, so one shift keeps every exponential at most 1. It
    # costs nothing per entry, unlike the row maxima that logsumexp looks for.
    shift = torch.stack([t.detach().norm(dim=1).max() for t in (first, second, first_candidates, second_candidates)])
    bound = float(shift.max().square()) / temperature
    total = torch.zeros_like(positive)
    for anchors, across, within in (
        (first, second_candidates, first_candidates),
        (second, first_candidates, second_candidates),
    ):
        candidates = torch.cat([across, within])
        mass = _Mass.apply(anchors / temperature, candidates, rows, columns, bound)  # type: ignore[no-untyped-call]
        # Nothing is left of a row whose only candidate is its own node, or whose exponentials all underflow.
        others = mass.clamp(min=torch.finfo(mass.dtype).tiny).log() + (bound + log_mass)
        total = total + torch.logaddexp(positive, others) - positive
    return total / 2


class _Mass(torch.autograd.Function):
    r""":math:`m_i = \sum_{j \ne i} e^{\langle a_i, c_j \rangle - b}`, left out where row and column are the same node.

    With :math:`E_{ij}` the exponentials and g the gradient of m, those of a and c are :math:`g_i (E c)_i` and
    :math:`\sum_i E_{ij} g_i a_i`: two matrix products and no pass over E itself, where automatic differentiation would
    make four and as many copies.
    """

    @staticmethod
    def forward(ctx: Any, anchors: Tensor, candidates: Tensor, rows: Tensor, columns: Tensor, bound: float) -> Tensor:
        exponentials = torch.addmm(anchors.new_full((1,), -bound), anchors, candidates.T).exp_()
        exponentials[rows, columns] = 0
        ctx.save_for_backward(anchors, candidates, exponentials)
        return exponentials.sum(dim=1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        anchors, candidates, exponentials = ctx.saved_tensors
        scaled = gradient.unsqueeze(1) * anchors
        return gradient.unsqueeze(1) * multiply(exponentials, candidates), (scaled.T @ exponentials).T, None, None, None
