"""Whether probabilities mean what they say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lnp.errors import ConfigError, LabelError

__all__ = ["brier_score", "expected_calibration_error"]


def expected_calibration_error(
    probabilities: NDArray[np.floating], true: NDArray[np.int64], *, bins: int = 15
) -> float:
    r"""The mean gap between confidence and accuracy (Guo et al., ICML 2017).

    .. math::
        \mathrm{ECE} = \sum_b \frac{|B_b|}{n} \left| \mathrm{acc}(B_b) - \mathrm{conf}(B_b) \right|

    where :math:`B_b` are the nodes whose largest probability is in :math:`((b-1)/m, b/m]`.

    Args:
        probabilities: ``(n, c)``, rows summing to 1.
        true: ``(n,)`` true classes.
        bins: m.

    >>> expected_calibration_error(np.array([[0.75, 0.25], [0.75, 0.25]]), np.array([0, 1]))
    0.25
    """
    if bins < 1:
        raise ConfigError(f"Expected `bins` to be at least 1, but got {bins}.")
    table = _checked(probabilities, true)
    confidence = table.max(axis=1)
    edges = np.linspace(0.0, 1.0, bins + 1)[1:-1]
    member = edges.searchsorted(confidence, side="left")
    # |B| (acc - conf) is the sum over the bin of (right - confidence).
    gaps = np.bincount(member, weights=(table.argmax(axis=1) == true) - confidence, minlength=bins)
    return float(np.abs(gaps).sum() / true.size)


def brier_score(probabilities: NDArray[np.floating], true: NDArray[np.int64]) -> float:
    r"""The mean of :math:`\sum_k (p_{ik} - [y_i = k])^2`: 0 for certainty that is right, 2 for certainty that is wrong.

    >>> brier_score(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([0, 1]))
    1.25
    """
    table = _checked(probabilities, true).copy()
    table[np.arange(true.size), true] -= 1.0
    return float(np.square(table).sum(axis=1).mean())


def _checked(probabilities: NDArray[np.floating], true: NDArray[np.int64]) -> NDArray[np.float64]:
    if probabilities.ndim != 2 or true.shape != probabilities.shape[:1] or true.size == 0:
        raise LabelError(
            f"Expected one row of probabilities for each of one or more labels, but got {probabilities.shape} for "
            f"{true.shape}."
        )
    if true.min() < 0 or true.max() >= probabilities.shape[1]:
        raise LabelError(
            f"Expected classes 0 to {probabilities.shape[1] - 1}, but got {int(true.min())} to {int(true.max())}."
        )
    return probabilities.astype(np.float64)
