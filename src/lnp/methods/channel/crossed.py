r"""How likely labels are under a T that was learned without them.

The networks have not learnt the labels that they are asked about, but T was counted from these very labels, and with a
row for each class it has :math:`c^2 - c` numbers to fit them by. That is worth about :math:`(c^2 - c) / m` nats for
each of m labels: nothing where there are thousands, more than what is at stake where there are a hundred. So T is
counted from one half of them, as expectation maximisation does, and judged by the other half:

.. math:: \frac1m \sum_{i} \log \sum_k \pi_i(k)\, T^{(-i)}_{k \tilde y_i},

with :math:`T^{(-i)}` from the half that i is not in.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from lnp.losses.marginal_likelihood import calibrated_evidence, label_posterior
from lnp.methods.channel.transition import ENOUGH, expected_counts

__all__ = ["are_few", "crossed_evidence"]

STEPS = 10
"""Steps of expectation maximisation in which a T forgets the half that it must not know."""


def are_few(labels: int, classes: int) -> bool:
    """Whether there are so few labels for each class that those which T was counted from cannot judge it."""
    return labels < ENOUGH * classes


def crossed_evidence(
    logs: Tensor, labels: Tensor, side: Tensor, transition: Tensor, learn: Callable[[Tensor], Tensor]
) -> Tensor:
    """The mean over all labels, in nats.

    Args:
        logs: Logarithms of the probabilities of networks that have not learnt these labels, ``(m, c)``.
        labels: The given labels, ``(m,)``.
        side: Which half each label is in, 0 or 1.
        transition: T as it was learned from all of them: where both begin.
        learn: The M-step, from counts to T.
    """
    total = logs.new_zeros(())
    for half in (0, 1):
        known, unseen = side == half, side != half
        rows = transition
        for _ in range(STEPS):
            rows = learn(expected_counts(label_posterior(logs[known], labels[known], rows), labels[known]))
        total = total + unseen.sum() * calibrated_evidence(logs[unseen], labels[unseen], rows)
    return total / labels.numel()
