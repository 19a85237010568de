r"""The true label as a latent variable between a network and a given label.

For one node with prior :math:`\pi = \mathrm{softmax}(z)`, given label :math:`\tilde y` and a channel
:math:`T_{kj} = P(\text{given } j \mid \text{true } k)`:

.. math::
    P(y = k, \tilde y) &= \pi_k T_{k \tilde y} \\
    P(\tilde y)        &= \textstyle\sum_k \pi_k T_{k \tilde y} \\
    q_k = P(y = k \mid \tilde y) &= \pi_k T_{k \tilde y} / P(\tilde y)

A node has one latent variable with c values, so the sum is exact and so is q. For any r over the classes

.. math:: \log P(\tilde y) \ge \sum_k r_k \log \frac{\pi_k T_{k \tilde y}}{r_k},

with equality at :math:`r = q`: the evidence lower bound is tight, and to raise it is to raise the likelihood itself.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from lnp.nn.softmax import NARROW

__all__ = [
    "SHARPNESSES",
    "calibrated_evidence",
    "evidence_lower_bound",
    "label_posterior",
    "log_joint",
    "negative_log_marginal",
]

SMALLEST = 1e-12
"""Lower bound of an entry of T under the logarithm."""

SHARPNESSES = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8)
"""The factors by which logits may be scaled when networks are compared."""


def log_joint(logits: Tensor, labels: Tensor, transition: Tensor) -> Tensor:
    r""":math:`\log \pi_k + \log T_{k \tilde y}` for every class k, ``(m, c)``.

    Args:
        logits: z, ``(m, c)``; logarithms of probabilities are logits, too.
        labels: The given labels :math:`\tilde y`, ``(m,)``.
        transition: T, ``(c, c)``, rows summing to 1.
    """
    return F.log_softmax(logits, dim=1) + transition.clamp(min=SMALLEST).log().T[labels]


def negative_log_marginal(logits: Tensor, labels: Tensor, transition: Tensor) -> Tensor:
    r""":math:`-\log \sum_k \pi_k T_{k \tilde y}`, one value per node; arguments as in :func:`log_joint`.

    >>> swap = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    >>> negative_log_marginal(torch.tensor([[0.0, 50.0]]), torch.tensor([0]), swap).abs().tolist()
    [0.0]
    """
    if logits.shape[1] > NARROW:
        return -torch.logsumexp(log_joint(logits, labels, transition), dim=1)
    # Along the columns of the transpose the kernels take many nodes at once, however few the classes.
    likelihood = transition.clamp(min=SMALLEST).log()[:, labels]
    return -torch.logsumexp(logits.T.contiguous().log_softmax(dim=0) + likelihood, dim=0)


def calibrated_evidence(logits: Tensor, labels: Tensor, transition: Tensor) -> Tensor:
    r""":math:`\max_w \frac1m \sum_i \log P_w(\tilde y_i)` with :math:`\pi = \mathrm{softmax}(w z)`.

    Networks of different training are compared by what they know, not by how sure of it they are. Arguments as in
    :func:`log_joint`.

    >>> round(calibrated_evidence(torch.tensor([[0.5, -0.5]]), torch.tensor([0]), torch.eye(2)).item(), 3)
    -0.059
    """
    means = [-negative_log_marginal(w * logits, labels, transition).mean() for w in SHARPNESSES]
    return torch.stack(means).max()


def label_posterior(logits: Tensor, labels: Tensor, transition: Tensor) -> Tensor:
    r""":math:`q_k \propto \pi_k T_{k \tilde y}`, ``(m, c)``; arguments as in :func:`log_joint`.

    >>> label_posterior(torch.zeros(1, 2), torch.tensor([1]), torch.tensor([[0.75, 0.25], [0.25, 0.75]]))
    tensor([[0.2500, 0.7500]])
    """
    return log_joint(logits, labels, transition).softmax(dim=1)


def evidence_lower_bound(beliefs: Tensor, logits: Tensor, labels: Tensor, transition: Tensor) -> Tensor:
    r""":math:`\sum_k r_k (\log \pi_k T_{k \tilde y} - \log r_k)`, one value per node, at most the log-likelihood.

    Args:
        beliefs: r, ``(m, c)``, rows summing to 1.
        logits: As in :func:`log_joint`.
        labels: As in :func:`log_joint`.
        transition: As in :func:`log_joint`.
    """
    entropy: Tensor = torch.special.entr(beliefs).sum(dim=1)
    return (beliefs * log_joint(logits, labels, transition)).sum(dim=1) + entropy
