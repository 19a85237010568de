r"""Where to begin: stories that may explain the labels, and a judge that has not seen the trusted nodes.

*Most labels are right*: uniform noise. Or *what a network says that learned from the trusted nodes alone*: the channel
that its predictions and the labels imply. The second undoes even noise that makes the wrong class the majority, but
where a few nodes teach a network nothing it mistakes its own errors for noise. And a story halfway. Each is tried for a
round, and the one that explains the labels best is gone on with.

Labels alone cannot tell a channel from the same one with classes renamed; trusted nodes can. The judge is a network
that learned the noisy labels alone, so that it stands for f = P(given | G). Under a channel T it implies class
probabilities π with :math:`f \approx \pi^\top T`, and those can be compared with the labels of all trusted nodes, none
of which it has seen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lnp.audit.channel_fit import believed
from lnp.audit.posterior import Floats, quality_of
from lnp.audit.transition import uniform_transition

__all__ = ["PRESUMED_RATE", "deconvolve", "stories", "trusted_evidence"]

PRESUMED_RATE = 0.3
"""The rate of the uniform noise to begin with."""

SHARPNESSES = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8)
MISTAKES = 0.1
"""The share of trusted nodes that a good channel may still miss."""


def deconvolve(noisy: Floats, transition: Floats, *, steps: int = 60) -> Floats:
    r"""The π on the simplex with the smallest :math:`\mathrm{KL}(f \,\|\, \pi^\top T)`, row by row.

    The steps are those of expectation maximisation for mixtures (Richardson 1972, Lucy 1974):
    :math:`\pi_k \leftarrow \pi_k \sum_j T_{kj} f_j / (\pi^\top T)_j`.

    Args:
        noisy: f, ``(m, c)``.
        transition: T, ``(c, c)``, without zero columns.
        steps: How many.

    >>> swap = np.array([[0.1, 0.9], [0.9, 0.1]])
    >>> deconvolve(np.array([[0.1, 0.9]]), swap).round(2).tolist()
    [[1.0, 0.0]]
    """
    probabilities = np.full_like(noisy, 1 / noisy.shape[1])
    for _ in range(steps):
        probabilities = probabilities * ((noisy / (probabilities @ transition)) @ transition.T)
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))


def trusted_evidence(noisy: Floats, labels: NDArray[np.int64], transition: Floats) -> float:
    """The log-likelihood of trusted labels under T, at the sharpness that suits best.

    Args:
        noisy: f of the trusted nodes, ``(m, c)``.
        labels: Their labels.
        transition: T.
    """
    logs = np.log(deconvolve(noisy, transition) + 1e-6)
    return max(float(np.log(quality_of(believed(logs, w, MISTAKES), labels)).sum()) for w in SHARPNESSES)


def stories(implied: Floats) -> list[Floats]:
    """Uniform noise, the channel that a network of the trusted nodes alone implies, and the one halfway."""
    uniform = uniform_transition(PRESUMED_RATE, len(implied))
    return [uniform, (uniform + implied) / 2, implied]
