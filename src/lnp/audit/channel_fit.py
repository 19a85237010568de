r"""From a network's log-probabilities z to probabilities that can be believed, and the channel that goes with them.

.. math:: \pi = (1 - e) \, \mathrm{softmax}(w z) + e / c

The *sharpness* w mends networks that are too sure or not sure enough. The *doubt* e is the share of nodes about which
the network is simply wrong. Labels alone cannot tell it from uniform noise (:math:`\pi T` is the same for e in π as
for e in T), but trusted nodes that the network has not seen can: there only doubt makes mistakes. So w, e and T are
fitted together,

.. math:: \max \sum_{i \in T_N} \log \big(\pi_i^\top T\big)_{\tilde y_i} + \sum_{i \in T_C} \log \pi_i(y_i)
          + \log p(T, e),

for every e of a grid; how well each fits is how much it counts in the end. For that the sum over T_N is taken
:data:`ANEW` times: a network is wrong about many nodes at once, so their labels say less than as many independent ones
would, and thousands of them would shout the trusted nodes down.

Of a trusted node that is known to have been given another label or the same before it was checked,
:math:`\log T_{y_i \tilde y_i}` is added, in full.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lnp.audit.posterior import Floats, label_posterior, log_likelihood, quality_of
from lnp.audit.transition import FLOOR, estimate_transition, fit_rate, fit_transition, uniform_transition

__all__ = ["ANEW", "DOUBTS", "ChannelFit", "believed", "fit_channel", "fit_doubts", "fit_sharpness", "weights_of"]

DOUBTS = (0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.27, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85)
"""The grid of e."""

SHARPEST = (-2.0, 1.7)
"""The range of log w."""

ANEW = 0.05
"""What a label counts for beside a trusted node when explanations are compared."""

SMALLEST = 1e-12
"""Lower bound of a probability under the logarithm."""

LABELS_RIGHT, LABELS_WRONG, NETWORK_RIGHT = 5.0, 2.0, 3.0
"""Before any data: as if five labels had been seen to be right, two wrong, and three predictions right."""


@dataclass(frozen=True, eq=False)
class ChannelFit:
    """One explanation of the labels.

    Args:
        sharpness: w.
        doubt: e.
        transition: T.
        score: The logarithm of how well it explains labels and trusted nodes, prior included.
    """

    sharpness: float
    doubt: float
    transition: Floats
    score: float


def believed(logs: Floats, sharpness: float, doubt: float = 0.0) -> Floats:
    """π from the log-probabilities ``(m, c)``.

    >>> believed(np.log([[0.8, 0.2]]), 1.0, 0.5).round(3).tolist()
    [[0.65, 0.35]]
    """
    scaled = sharpness * logs
    powers = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    return np.asarray((1 - doubt) * powers / powers.sum(axis=1, keepdims=True) + doubt / logs.shape[1])


def fit_sharpness(
    logs: Floats,
    given: NDArray[np.int64],
    transition: Floats,
    doubt: float = 0.0,
    trusted_logs: Floats | None = None,
    trusted_labels: NDArray[np.int64] | None = None,
) -> float:
    """The most likely w for fixed T and e."""
    from scipy.optimize import minimize_scalar

    def loss(log_sharpness: float) -> float:
        return -_fit(logs, given, transition, np.exp(log_sharpness), doubt, trusted_logs, trusted_labels)

    found = minimize_scalar(loss, bounds=SHARPEST, method="bounded", options={"xatol": 0.02})
    return float(np.exp(found.x))


def fit_channel(
    logs: Floats,
    given: NDArray[np.int64],
    *,
    doubt: float = 0.0,
    trusted_logs: Floats | None = None,
    trusted_labels: NDArray[np.int64] | None = None,
    checks: NDArray[np.int64] | None = None,
    start: Floats | None = None,
    steps: int = 8,
    equal_rows: bool = False,
) -> ChannelFit:
    """Fits w and T in turns, for one e.

    Args:
        logs: z of the noisy nodes, ``(m, c)``, from networks that have not seen their labels.
        given: Their given labels, ``(m,)``.
        doubt: e.
        trusted_logs: z of trusted nodes, from networks that have not seen them; ``None`` where there are none.
        trusted_labels: Their labels.
        checks: ``(c, c)`` how many nodes of class i had been given j before they were checked; ``None``: nobody knows.
        start: The T to begin with; by default the most likely one for w = 1.
        steps: How many turns.
        equal_rows: Whether T is uniform noise, of which only the rate is fitted.
    """
    c = logs.shape[1]
    transition = start
    if transition is None:
        transition = fit_transition(believed(logs, 1.0, doubt), given, np.full((c, c), FLOOR / c))
    for _ in range(steps):
        sharpness = fit_sharpness(logs, given, transition, doubt, trusted_logs, trusted_labels)
        probabilities = believed(logs, sharpness, doubt)
        if equal_rows:
            transition = uniform_transition(fit_rate(probabilities, given, checks=checks), c)
        else:
            transition = estimate_transition(probabilities, given, transition, checks=checks)
    score = _fit(logs, given, transition, sharpness, doubt, trusted_logs, trusted_labels, weight=ANEW)
    right = quality_of(label_posterior(believed(logs, sharpness, doubt), given, transition), given).mean()
    right = float(np.clip(right, 1e-3, 1 - 1e-3))
    if checks is not None:
        score += float((checks * np.log(transition.clip(min=SMALLEST))).sum())
    score += LABELS_RIGHT * np.log(right) + LABELS_WRONG * np.log(1 - right) + NETWORK_RIGHT * np.log(1 - doubt)
    return ChannelFit(sharpness, doubt, transition, float(score))


def fit_doubts(
    logs: Floats,
    given: NDArray[np.int64],
    trusted_logs: Floats | None,
    trusted_labels: NDArray[np.int64] | None,
    *,
    checks: NDArray[np.int64] | None = None,
    equal_rows: bool = False,
) -> list[ChannelFit]:
    """One fit for every e of :data:`DOUBTS`, each begun where the one before ended."""
    fits: list[ChannelFit] = []
    for doubt in DOUBTS:
        fits.append(
            fit_channel(
                logs,
                given,
                doubt=doubt,
                trusted_logs=trusted_logs,
                trusted_labels=trusted_labels,
                checks=checks,
                start=fits[-1].transition if fits else None,
                steps=4 if fits else 8,
                equal_rows=equal_rows,
            )
        )
    return fits


def weights_of(scores: Floats) -> Floats:
    """Shares in proportion to ``exp(score)``.

    >>> weights_of(np.log([1.0, 3.0])).tolist()
    [0.25, 0.75]
    """
    powers: Floats = np.exp(scores - np.max(scores))
    return np.asarray(powers / powers.sum())


def _fit(
    logs: Floats,
    given: NDArray[np.int64],
    transition: Floats,
    sharpness: float,
    doubt: float,
    trusted_logs: Floats | None,
    trusted_labels: NDArray[np.int64] | None,
    *,
    weight: float = 1.0,
) -> float:
    total = weight * log_likelihood(believed(logs, sharpness, doubt), given, transition)
    if trusted_logs is not None and trusted_labels is not None and len(trusted_labels):
        total += float(np.log(quality_of(believed(trusted_logs, sharpness, doubt), trusted_labels)).sum())
    return total
