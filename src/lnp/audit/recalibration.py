r"""What checked labels say about the quality of all others.

Mistakes that follow what a network sees are learnt with the rest. Nothing in the labels tells them from the truth, and
their quality is far too high. Whoever checks labels finds out: with q_i the quality of what node i had been given
before, by networks that have learnt neither that label nor the right one, and r_i whether it was right,

.. math:: P(r_i = 1) = \sigma(a + b \, \mathrm{logit}\, q_i), \qquad
    a \sim N(0, s_a^2), \quad \log b \sim N(0, s_b^2)

where a = 0 and b = 1 if the quality means what it says. Both explanations are weighed by how likely they make what was
found, one as likely as the other before, and so are all a and b. The order of the labels stays as it is. As the
probability is asked given q, it does not matter whether suspects were checked or anybody.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lnp.audit.posterior import Floats, quality_of

__all__ = ["recalibrate", "recalibrated_quality"]

SHIFT, STRETCH = 2.0, 0.7
"""s_a and s_b."""

SHIFTS = np.linspace(-6, 6, 49)
STRETCHES = np.exp(np.linspace(-2.1, 2.1, 25))
"""The grid of a and b, three standard deviations each way."""

SURE = 1e-4
"""No quality is taken to be nearer to 0 or 1 than this: a network's last digits are not evidence."""

NEGLIGIBLE = 1e-6
"""Weights below this are left out."""


def recalibrated_quality(quality: Floats, checked: Floats, right: NDArray[np.bool_]) -> Floats:
    """The quality of labels in the light of those that were checked.

    Args:
        quality: ``(m,)`` of the labels in question.
        checked: ``(k,)`` of the labels that were checked, as it was before.
        right: ``(k,)`` whether they were right.

    >>> recalibrated_quality(np.array([0.9, 0.99]), np.zeros(0), np.zeros(0, bool)).tolist()
    [0.9, 0.99]
    >>> half_wrong = np.arange(20) < 10
    >>> recalibrated_quality(np.array([0.99]), np.full(20, 0.99), half_wrong).round(1).tolist()
    [0.5]
    """
    if checked.size == 0:
        return quality
    shifts, stretches = (grid.ravel() for grid in np.meshgrid(SHIFTS, STRETCHES, indexing="ij"))
    prior = np.exp(-((shifts / SHIFT) ** 2 + (np.log(stretches) / STRETCH) ** 2) / 2)
    odds = np.where(right, 1, -1) * (shifts[:, None] + stretches[:, None] * _logit(checked))
    likelihood = -np.logaddexp(0, -odds).sum(axis=1)
    as_it_is = -np.logaddexp(0, -np.where(right, 1, -1) * _logit(checked)).sum()
    largest = max(likelihood.max(), as_it_is)
    weights = prior / prior.sum() * np.exp(likelihood - largest)
    stays = float(np.exp(as_it_is - largest))
    total = stays + weights.sum()
    kept = weights > NEGLIGIBLE * total
    found: Floats = stays / total * quality
    asked = _logit(quality)
    for weight, shift, stretch in zip(weights[kept] / total, shifts[kept], stretches[kept], strict=True):
        found += weight / (1 + np.exp(-(shift + stretch * asked)))
    return np.asarray(found * total / (stays + weights[kept].sum()))


def recalibrate(posterior: Floats, given: NDArray[np.int64], checked: Floats, right: NDArray[np.bool_]) -> Floats:
    """``(m, c)`` the probability of every class, the given one as likely as :func:`recalibrated_quality` has it.

    The others share the rest as they did.

    Args:
        posterior: ``(m, c)`` as it was.
        given: ``(m,)`` the given labels.
        checked: ``(k,)`` the quality of the labels that were checked, as it was before.
        right: ``(k,)`` whether they were right.
    """
    rows, quality = np.arange(given.size), quality_of(posterior, given)
    found, others = recalibrated_quality(quality, checked, right), posterior.copy()
    others[rows, given] = 0
    rest = others.sum(axis=1)
    # Where all others are exactly 0 they share evenly.
    others[rest == 0] = 1
    others[rows, given] = 0
    others *= ((1 - found) / others.sum(axis=1))[:, None]
    others[rows, given] = found
    return others


def _logit(quality: Floats) -> Floats:
    bounded = np.clip(quality, SURE, 1 - SURE)
    return np.asarray(np.log(bounded) - np.log1p(-bounded))
