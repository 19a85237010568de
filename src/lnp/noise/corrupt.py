"""From true labels to given ones, by a transition matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnp.graph.labels import UNKNOWN, Truth
from lnp.noise.transition import check_matrix
from lnp.seeds import Generator

__all__ = ["Corruption", "corrupt", "draw_classes", "measure"]


@dataclass(frozen=True, eq=False)
class Corruption:
    """Labels after noise, and how much noise it turned out to be.

    Args:
        labels: ``(n,)`` given labels, :data:`~lnp.graph.labels.UNKNOWN` where the true label was unknown.
        realised_matrix: ``(c, c)`` share of the nodes of true class i that were given class j. The row of a class
            without nodes is all zero.
        realised_rate: Share of the labels that are wrong; 0 if there are no labels.
        matrix: ``(c, c)`` the T that was asked for, or nothing where the noise does not follow from the class alone.
    """

    labels: NDArray[np.int64]
    realised_matrix: NDArray[np.float64]
    realised_rate: float
    matrix: NDArray[np.float64] | None = None


def corrupt(labels: ArrayLike, matrix: ArrayLike, generator: Generator) -> Corruption:
    """Gives each node a label drawn from the row of its true class; unknown labels stay unknown.

    One uniform number is drawn for each node with a label, in node order.

    >>> everything_to_next = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    >>> corrupt([0, 1, -1, 2], everything_to_next, np.random.default_rng(0)).labels.tolist()
    [1, 2, -1, 0]
    """
    transition = check_matrix(matrix, len(np.atleast_1d(np.asarray(matrix))))
    true = Truth(labels, len(transition)).labels
    known = true != UNKNOWN
    given = true.copy()
    given[known] = draw_classes(true[known], transition, generator.random(int(known.sum())))
    return measure(true, given, len(transition), transition)


def draw_classes(
    true: NDArray[np.int64], matrix: NDArray[np.float64], uniforms: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The class whose share of [0, 1) in the row of the true class holds the node's uniform number (inverse cdf)."""
    cumulative = matrix.cumsum(axis=1)
    cumulative /= cumulative[:, -1:]  # the last entry is 1 exactly, so that no number falls beyond it
    given = np.empty(true.shape, np.int64)
    for k, row in enumerate(cumulative):
        members = true == k
        given[members] = row.searchsorted(uniforms[members], side="right")
    return given


def measure(
    true: NDArray[np.int64],
    given: NDArray[np.int64],
    class_count: int,
    matrix: NDArray[np.float64] | None = None,
) -> Corruption:
    """The given labels with their realised matrix and rate, over the nodes whose true label is known."""
    known = true != UNKNOWN
    pairs = true[known] * class_count + given[known]
    counts = np.bincount(pairs, minlength=class_count**2).reshape(class_count, class_count).astype(np.float64)
    sizes = counts.sum(axis=1, keepdims=True)
    realised = np.divide(counts, sizes, out=np.zeros_like(counts), where=sizes > 0)
    rate = float((true[known] != given[known]).mean()) if pairs.size else 0.0
    return Corruption(given, realised, rate, matrix)
