"""How well a score finds the labels that are wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lnp.errors import ConfigError, LabelError

__all__ = ["Detection", "noise_detection", "precision_at_k"]


@dataclass(frozen=True, eq=False)
class Detection:
    """The quality of a list of suspects.

    Args:
        ap: Average precision: the mean over the wrong labels of the precision at their place in the list. A random
            list has the share of wrong labels. Nothing if no label is wrong or all are.
        auroc: The probability that a wrong label comes before a right one. A random list has 0.5. Nothing likewise.
        ranked: ``(n,)`` whether the label is wrong, the most suspect first.
    """

    ap: float | None
    auroc: float | None
    ranked: NDArray[np.bool_]

    def precision_at(self, k: int) -> float | None:
        """The share of wrong labels among the k most suspect, or among all if there are fewer; nothing of nothing."""
        if k < 1:
            raise ConfigError(f"Expected `k` to be at least 1, but got {k}.")
        return float(self.ranked[:k].mean()) if self.ranked.size else None


def noise_detection(quality: NDArray[np.floating], wrong: NDArray[np.bool_]) -> Detection:
    """Scores how well low quality points at wrong labels.

    Args:
        quality: ``(n,)`` how good each given label looks; the lowest is the most suspect. Ties keep node order in the
            list and count as ties in ``ap`` and ``auroc``. Infinite values are fine.
        wrong: ``(n,)`` whether the label is wrong in truth.

    >>> found = noise_detection(np.array([0.9, 0.1, 0.8, 0.3]), np.array([False, True, False, True]))
    >>> found.ap, found.auroc, found.precision_at(2)
    (1.0, 1.0, 1.0)
    """
    from sklearn.metrics import average_precision_score, roc_auc_score  # slow to import, and planning needs no metric

    ranked = _ranked(quality, wrong)
    if wrong.all() or not wrong.any():
        return Detection(None, None, ranked)
    suspicion = -np.unique(quality, return_inverse=True)[1]  # only the order matters, and ranks are finite
    return Detection(
        ap=float(average_precision_score(wrong, suspicion)),
        auroc=float(roc_auc_score(wrong, suspicion)),
        ranked=ranked,
    )


def precision_at_k(quality: NDArray[np.floating], wrong: NDArray[np.bool_], k: int) -> float | None:
    """The share of wrong labels among the k most suspect; see :meth:`Detection.precision_at`."""
    return Detection(None, None, _ranked(quality, wrong)).precision_at(k)


def _ranked(quality: NDArray[np.floating], wrong: NDArray[np.bool_]) -> NDArray[np.bool_]:
    if quality.shape != wrong.shape or quality.ndim != 1 or wrong.dtype != bool:
        raise LabelError(
            f"Expected `wrong` to be a mask with one entry for each `quality`, but got {wrong.dtype} {wrong.shape} for "
            f"{quality.shape}."
        )
    missing = np.flatnonzero(np.isnan(quality))
    if missing.size:
        raise LabelError(f"Expected `quality` to be a number for every label, but entry {missing[0]} is not.")
    return np.asarray(wrong[np.argsort(quality, kind="stable")])
