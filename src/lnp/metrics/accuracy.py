"""How often predictions are right. Nodes whose true label is unknown do not count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lnp.errors import LabelError
from lnp.graph.labels import UNKNOWN

__all__ = ["accuracy", "confusion_matrix", "macro_f1"]


def accuracy(true: NDArray[np.int64], predicted: NDArray[np.int64]) -> float:
    """The share of nodes whose prediction is the true class.

    >>> accuracy(np.array([0, 1, 1, -1]), np.array([0, 1, 0, 0])) == 2 / 3
    True
    """
    true, predicted = _known(true, predicted)
    return float((true == predicted).mean())


def confusion_matrix(true: NDArray[np.int64], predicted: NDArray[np.int64], class_count: int) -> NDArray[np.int64]:
    """``(c, c)`` counts: row i, column j holds the nodes of true class i that are predicted as j.

    >>> confusion_matrix(np.array([0, 1, 1, 1]), np.array([0, 1, 1, 0]), 2).tolist()
    [[1, 0], [1, 2]]
    """
    true, predicted = _known(true, predicted)
    highest = max(int(true.max()), int(predicted.max()))
    if highest >= class_count:
        raise LabelError(f"Expected classes 0 to {class_count - 1}, but got {highest}.")
    counts = np.bincount(true * class_count + predicted, minlength=class_count**2)
    return counts.reshape(class_count, class_count).astype(np.int64)


def macro_f1(true: NDArray[np.int64], predicted: NDArray[np.int64], class_count: int) -> float:
    r"""The mean over classes of :math:`F_1 = 2\,TP / (2\,TP + FP + FN)`: small classes count as much as large ones.

    A class that is neither true nor predicted anywhere does not count.
    """
    counts = confusion_matrix(true, predicted, class_count)
    right, members, claims = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    present = members + claims > 0
    return float((2 * right[present] / (members + claims)[present]).mean())


def _known(true: NDArray[np.int64], predicted: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if true.shape != predicted.shape or true.ndim != 1:
        raise LabelError(f"Expected one prediction for each label, but got {predicted.shape} for {true.shape}.")
    known = true != UNKNOWN
    if not known.any():
        raise LabelError("Expected at least one node with a known label to score predictions by, but there is none.")
    true, predicted = true[known].astype(np.int64), predicted[known].astype(np.int64)
    if predicted.min() < 0:
        raise LabelError(f"Expected every prediction to be a class, but got {int(predicted.min())}.")
    return true, predicted
