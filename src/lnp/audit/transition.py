r"""The channel :math:`T_{ij} = P(\text{given } j \mid \text{true } i)`, estimated from class probabilities and labels.

For fixed π the log-likelihood :math:`\sum_i \log \sum_k \pi_i(k) T_{k \tilde y_i}` is concave in T, and expectation
maximisation climbs to its maximum: the E-step is :func:`~lnp.audit.posterior.label_posterior`, the M-step counts.

Rows have a Dirichlet prior :math:`T_k \sim \mathrm{Dir}(a \, M_k)` around uniform noise
:math:`M = (1 - r) I + r / c` with one rate r. How strong it is, a, is read from the labels as well: the a with the
largest evidence. Where labels went wrong at random a is large, and a few confused predictions do not pass for noise;
where one class is often taken for another a is small, and T is free.

Labels that somebody checked are exact: ``checks``, ``(c, c)``, says how many nodes of class i had been given j, and
counts beside what is expected of the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lnp.audit.posterior import Floats, label_posterior

__all__ = [
    "STRENGTHS",
    "choose_strength",
    "estimate_transition",
    "expected_counts",
    "fit_rate",
    "fit_transition",
    "transition_from_posterior",
    "uniform_transition",
]

STRENGTHS = np.geomspace(3, 3000, 13)
"""The values of a to choose from, in labels per row."""

LEAST_RATE = 1e-6
"""The smallest r, so that no entry of uniform noise is exactly 0."""

FLOOR = 0.1
"""Labels per row that every entry of T shares, so that none is exactly 0."""


def uniform_transition(rate: float, class_count: int) -> Floats:
    """Uniform noise: with probability ``rate`` the label is drawn from all classes.

    >>> uniform_transition(0.5, 2).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    return (1 - rate) * np.eye(class_count) + rate / class_count


def expected_counts(probabilities: Floats, given: NDArray[np.int64], transition: Floats) -> Floats:
    """``(c, c)`` how many labels j the nodes of true class i are expected to have."""
    return _counts(label_posterior(probabilities, given, transition), given)


def transition_from_posterior(
    posterior: Floats, given: NDArray[np.int64], prior: Floats, *, checks: NDArray[np.int64]
) -> Floats:
    """The channel that goes with what is thought of every label: expected and checked counts, row by row.

    Args:
        posterior: ``(m, c)`` the probability of every class, the given label taken into account.
        given: The given labels, ``(m,)``.
        prior: A channel, ``(c, c)``, each row of which counts as one label.
        checks: ``(c, c)`` how many nodes of class i had been given j before they were checked.

    >>> posterior, given, checks = np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0, 0]), np.array([[1, 0], [0, 0]])
    >>> transition_from_posterior(posterior, given, np.eye(2), checks=checks).round(2).tolist()
    [[1.0, 0.0], [0.33, 0.67]]
    """
    counts = _counts(posterior, given) + checks + prior
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def fit_transition(
    probabilities: Floats, given: NDArray[np.int64], prior: Floats, *, start: Floats | None = None, steps: int = 40
) -> Floats:
    """T by expectation maximisation; every step raises likelihood times prior.

    Args:
        probabilities: π, ``(m, c)``.
        given: The given labels, ``(m,)``.
        prior: Dirichlet counts, ``(c, c)``, in labels.
        start: Where to begin; the prior's mean by default. The maximum is the same for every start without zeros.
        steps: How many.
    """
    transition = prior / prior.sum(axis=1, keepdims=True) if start is None else start
    for _ in range(steps):
        counts = expected_counts(probabilities, given, transition) + prior
        transition = counts / counts.sum(axis=1, keepdims=True)
    return transition


def fit_rate(probabilities: Floats, given: NDArray[np.int64], *, checks: NDArray[np.int64] | None = None) -> float:
    r"""The most likely r of uniform noise.

    .. math:: \max_r \sum_i \log \big((1 - r)\, \pi_i(\tilde y_i) + r / c\big)

    is concave; π of a checked label is 1 where it was right and 0 where it was wrong. Expectation maximisation would
    find the same, but in thousands of steps where networks know little.
    """
    from scipy.optimize import minimize_scalar

    own, share = probabilities[np.arange(given.size), given], 1 / probabilities.shape[1]
    if checks is not None:
        right = int(np.trace(checks))
        own = np.concatenate([own, np.ones(right), np.zeros(int(checks.sum()) - right)])

    def loss(rate: float) -> float:
        return -float(np.log((1 - rate) * own + rate * share).mean())

    return float(minimize_scalar(loss, bounds=(LEAST_RATE, 1.0), method="bounded", options={"xatol": 1e-5}).x)


def choose_strength(counts: Floats, centre: Floats) -> float:
    r"""The prior strength a with the largest evidence for the counts N.

    .. math:: \sum_k \log \frac{\Gamma(a)}{\Gamma(a + N_k)} + \sum_{kj} \log \frac{\Gamma(a M_{kj} + N_{kj})}
              {\Gamma(a M_{kj})}

    Args:
        counts: N, ``(c, c)``.
        centre: M, ``(c, c)``, rows summing to 1.
    """
    from scipy.special import gammaln

    a = STRENGTHS[:, None, None] * centre
    rows = gammaln(STRENGTHS) * len(counts) - gammaln(STRENGTHS[:, None] + counts.sum(axis=1)).sum(axis=1)
    return float(STRENGTHS[int(np.argmax(rows + (gammaln(a + counts) - gammaln(a)).sum(axis=(1, 2))))])


def estimate_transition(
    probabilities: Floats, given: NDArray[np.int64], start: Floats, *, checks: NDArray[np.int64] | None = None
) -> Floats:
    """T with the prior around uniform noise, whose rate and strength come from the labels.

    Args:
        probabilities: π, ``(m, c)``.
        given: The given labels, ``(m,)``.
        start: The current T, from which the counts are expected.
        checks: Of checked labels, if there are any.
    """
    seen = np.zeros_like(start) if checks is None else checks
    centre = uniform_transition(fit_rate(probabilities, given, checks=checks), len(start))
    strength = choose_strength(expected_counts(probabilities, given, start) + seen, centre)
    return fit_transition(probabilities, given, strength * centre + FLOOR / len(start) + seen)


def _counts(posterior: Floats, given: NDArray[np.int64]) -> Floats:
    """``(c, c)`` the probabilities of class i, added up over the labels j."""
    c = posterior.shape[1]
    return np.stack([np.bincount(given, weights=posterior[:, k], minlength=c) for k in range(c)])
