r"""Bayes' rule for a given label: how likely each class is, once it is known how labels go wrong.

.. math:: P(y = k \mid \tilde y, G) = \frac{\pi(k) \, T_{k \tilde y}}{\sum_l \pi(l) \, T_{l \tilde y}}

with π the class probabilities of a node from a network that has not seen the node's own label, and T the channel,
:math:`T_{ij} = P(\text{given } j \mid \text{true } i)`. The quality of a label is the entry of the given class.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["label_posterior", "log_likelihood", "quality_of"]

Floats = NDArray[np.float64]
SMALLEST = 1e-300


def label_posterior(probabilities: Floats, given: NDArray[np.int64], transition: Floats) -> Floats:
    """``(m, c)`` the probability of every class, given the label.

    Args:
        probabilities: π, ``(m, c)``.
        given: The given labels, ``(m,)``.
        transition: T, ``(c, c)``.

    >>> label_posterior(np.array([[0.5, 0.5]]), np.array([0]), np.array([[0.75, 0.25], [0.25, 0.75]])).tolist()
    [[0.75, 0.25]]
    """
    joint = probabilities * transition.T[given]
    total: Floats = np.maximum(joint.sum(axis=1, keepdims=True), SMALLEST)
    return np.asarray(joint / total)


def quality_of(posterior: Floats, given: NDArray[np.int64]) -> Floats:
    """``(m,)`` the probability that the given label is right."""
    return np.asarray(posterior[np.arange(given.size), given])


def log_likelihood(probabilities: Floats, given: NDArray[np.int64], transition: Floats) -> float:
    r""":math:`\sum_i \log \sum_k \pi_i(k) \, T_{k \tilde y_i}`."""
    return float(np.log(np.maximum((probabilities * transition.T[given]).sum(axis=1), SMALLEST)).sum())
