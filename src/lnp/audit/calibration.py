r"""Whether the quality of a label means what it says: measured, where the truth is known.

.. math:: \mathrm{ECE} = \sum_b \frac{|B_b|}{m} \left| \mathrm{mean}_{B_b}(q) - \text{share right in } B_b \right|
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lnp.errors import ConfigError, LabelError

__all__ = ["quality_calibration_error"]


def quality_calibration_error(quality: NDArray[np.floating], right: NDArray[np.bool_], *, bins: int = 10) -> float:
    """The mean gap between the quality of labels and the share of right ones among labels of that quality.

    Args:
        quality: ``(m,)`` in [0, 1].
        right: ``(m,)`` whether the label is right in truth.
        bins: How many equal parts [0, 1] is cut into.

    >>> quality_calibration_error(np.array([0.75, 0.75, 0.75, 0.75]), np.array([True, True, False, True]))
    0.0
    """
    if bins < 1:
        raise ConfigError(f"Expected `bins` to be at least 1, but got {bins}.")
    if quality.shape != right.shape or quality.ndim != 1 or quality.size == 0:
        raise LabelError(
            f"Expected one `quality` for each of one or more labels, but got {quality.shape} for {right.shape}."
        )
    if not (np.isfinite(quality).all() and quality.min() >= 0 and quality.max() <= 1):
        raise LabelError("Expected `quality` to be in [0, 1], but some of it is not.")
    member = np.minimum((quality * bins).astype(np.int64), bins - 1)
    gaps = np.bincount(member, weights=right - quality.astype(np.float64), minlength=bins)
    return float(np.abs(gaps).sum() / quality.size)
