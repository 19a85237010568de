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

import numpy as np
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from lnp.seeds import Generator

__all__ = ["contrastive_loss", "sampled_contrastive_loss"]

BLOCK = 1024


def contrastive_loss(first: Tensor, second: Tensor, temperature: float, *, block: int = BLOCK) -> Tensor:
    r"""The exact loss of every node, :math:`\frac12 [\ell(y_i, \tilde y_i) + \ell(\tilde y_i, y_i)]`, shape ``(n,)``.

    Args:
        first: y, ``(n, c)``.
        second: :math:`\tilde y`, ``(n, c)``.
        temperature: τ.
        block: Rows computed at a time.
    """
    parts = [
        checkpoint(_block_loss, first, second, temperature, start, block, use_reentrant=False)
        for start in range(0, first.shape[0], block)
    ]
    return torch.cat(parts)


def sampled_contrastive_loss(
    first: Tensor, second: Tensor, temperature: float, negatives: int, generator: Generator
) -> Tensor:
    """The loss with ``negatives`` sampled nodes in place of all others; one draw serves every row."""
    n = first.shape[0]
    drawn = torch.from_numpy(generator.integers(0, n, size=negatives)).to(first.device)
    itself = drawn.unsqueeze(0) == torch.arange(n, device=first.device).unsqueeze(1)
    per_draw = math.log(n / negatives)
    positive = (first * second).sum(dim=1) / temperature
    across = _masked(first @ second[drawn].T / temperature + per_draw, itself)
    within = _masked(first @ first[drawn].T / temperature + per_draw, itself)
    across_back = _masked(second @ first[drawn].T / temperature + per_draw, itself)
    within_back = _masked(second @ second[drawn].T / temperature + per_draw, itself)
    return 0.5 * (_log_ratio(positive, across, within) + _log_ratio(positive, across_back, within_back))


def _block_loss(first: Tensor, second: Tensor, temperature: float, start: int, block: int) -> Tensor:
    rows = slice(start, min(start + block, first.shape[0]))
    count = rows.stop - rows.start
    itself = torch.zeros(count, first.shape[0], dtype=torch.bool, device=first.device)
    itself[:, rows].fill_diagonal_(True)
    positive = (first[rows] * second[rows]).sum(dim=1) / temperature
    across = _masked(first[rows] @ second.T / temperature, itself)
    within = _masked(first[rows] @ first.T / temperature, itself)
    loss = _log_ratio(positive, across, within)
    across = _masked(second[rows] @ first.T / temperature, itself)
    within = _masked(second[rows] @ second.T / temperature, itself)
    return 0.5 * (loss + _log_ratio(positive, across, within))


def _masked(scores: Tensor, itself: Tensor) -> Tensor:
    return scores.masked_fill(itself, -np.inf)


def _log_ratio(positive: Tensor, across: Tensor, within: Tensor) -> Tensor:
    others = torch.logaddexp(across.logsumexp(dim=1), within.logsumexp(dim=1))
    return torch.logaddexp(positive, others) - positive
