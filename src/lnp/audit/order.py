"""In which order to review suspects: every proposed class in turn.

The most suspect labels often belong to a few classes. Checked labels become trusted, and so one-sided a sample can make
a learner worse (docs/audit.md has numbers). So of every proposed class the most suspect label comes first, then of
every class the second, and so on; labels that are more likely right than wrong come after all others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["spread_order"]


def spread_order(quality: NDArray[np.float64], proposed: NDArray[np.int64]) -> NDArray[np.int64]:
    """``(m,)`` rows in the order to review them.

    Args:
        quality: ``(m,)`` how likely each label is right.
        proposed: ``(m,)`` the most likely class.

    >>> spread_order(np.array([0.1, 0.2, 0.3, 0.9]), np.array([1, 1, 0, 2])).tolist()
    [0, 2, 1, 3]
    """
    by_class = np.lexsort((quality, proposed))
    starts = np.searchsorted(proposed[by_class], proposed[by_class])
    rank = np.empty(quality.size, np.int64)
    rank[by_class] = np.arange(quality.size) - starts
    return np.lexsort((quality, rank, quality >= 0.5))
