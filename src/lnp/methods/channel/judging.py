r"""The channel by which labels are judged.

The networks that T is learned with are held back: they see half of the labels, and their logits are bounded. So they
are less sure than what they know allows, and likelihood blames part of the wrong labels on their doubt: T keeps too
many. For what the last network learns that makes no difference, and it is no reason to let them be sure of what they
do not know (``docs/channel_findings.md``). For how likely a label is right it makes all the difference. So at the end
of every stage T is found once more, together with a sharpness w,

.. math:: \max_{w, T} \sum_i \log \sum_k \mathrm{softmax}(w z_i)_k\, T_{k \tilde y_i} ,

with :math:`z_i` what a network says of node i that has not learnt its label: w by trial, T by expectation maximisation.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from lnp.losses.marginal_likelihood import SHARPNESSES, label_posterior, negative_log_marginal
from lnp.methods.channel.transition import expected_counts

__all__ = ["judging_rows"]

SHARPER = (8.0, 5.6, 4.0, *reversed(SHARPNESSES))
"""The values of w that are compared, the surest first: the softer the networks, the more T = I explains, and from there
expectation maximisation does not come back."""

STEPS = 10
"""Steps of expectation maximisation with each of them."""

FRESH = 0.1
"""Share of the start that knows nothing: what T holds for impossible, expectation maximisation never finds."""


@torch.no_grad()
def judging_rows(logs: Tensor, labels: Tensor, start: Tensor, rows: Callable[[Tensor], Tensor]) -> Tensor:
    """The mean of T over all sharpnesses, each as likely as it makes the labels: of a thousand labels the best has all.

    Args:
        logs: z, logarithms of probabilities by networks that have not learnt the labels, ``(m, c)``.
        labels: The given labels, ``(m,)``.
        start: T to start from.
        rows: The M-step: from expected counts ``(c, c)`` to T.
    """
    transition = (1 - FRESH) * start + FRESH / len(start)
    found = []
    for sharpness in SHARPER:
        sharp = sharpness * logs
        for _ in range(STEPS):
            transition = rows(expected_counts(label_posterior(sharp, labels, transition), labels))
        found.append((-negative_log_marginal(sharp, labels, transition).sum(), transition))
    likelihoods, rows_found = (torch.stack(part) for part in zip(*found, strict=True))
    return (likelihoods.softmax(dim=0).view(-1, 1, 1) * rows_found).sum(dim=0)
