r"""Label noise that depends on the features: which nodes are easy to get wrong, and for what they are taken.

The construction follows Xia et al. (*Part-dependent label noise*, NeurIPS 2020). For node i of true class k:

.. math::
    q_i &\sim \mathcal{N}(p, 0.1^2) \text{ truncated to } [p - r, p + r], \quad r = \min(p, 1 - p) \\
    s_i &= \gamma\, (x_i - \bar{x}) W_k / \sigma, \qquad W_k \in \mathbb{R}^{d \times c} \text{ standard normal} \\
    P(\text{given } j) &= q_i\, \mathrm{softmax}_{j \neq k}(s_i)_j, \qquad P(\text{given } k) = 1 - q_i

- The interval is the widest one around p inside [0, 1] with p in its middle, so that the mean of q is p exactly;
  cutting at 0 and 1 instead would move it (at p = 0.05 to 0.10).
- Nodes of one class that look alike are taken for the same wrong class, because they share :math:`W_k`.
- Features are centred and :math:`\sigma^2` is the mean of :math:`\lVert x_i - \bar{x} \rVert^2` over all nodes, so
  shift and scale of the features do not matter and an entry of the score has variance :math:`\gamma^2` on average.
  Centring happens to the scores, never to the features: a sparse matrix stays sparse.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, softmax

from lnp.errors import ConfigError, LabelError, check_range
from lnp.graph.graph import Features
from lnp.graph.labels import UNKNOWN, Truth
from lnp.noise.corrupt import Corruption, measure
from lnp.seeds import Generator

__all__ = ["SHARPNESS", "SPREAD", "instance_noise"]

SPREAD = 0.1
"""Standard deviation of the flip probabilities before truncation."""

SHARPNESS = 3.0
"""γ: how surely the features decide for which class a node is taken (0: not at all)."""


def instance_noise(
    labels: ArrayLike, features: Features, rate: float, class_count: int, generator: Generator
) -> Corruption:
    """Corrupts labels at mean rate p by the features of their nodes; unknown labels stay unknown.

    Args:
        labels: ``(n,)`` true labels, :data:`~lnp.graph.labels.UNKNOWN` where there is none.
        features: X, ``(n, d)``, dense or CSR.
        rate: p, the mean probability that a label is wrong.
        class_count: c.
        generator: Where the flip probabilities, projections and labels are drawn from.
    """
    check_range("rate", rate, 0, 1)
    if class_count < 2:
        raise ConfigError(f"Expected `class_count` to be at least 2, but got {class_count}.")
    true = Truth(labels, class_count).labels
    if features.shape[0] != true.size:
        raise LabelError(f"Expected one label for each of the {features.shape[0]} nodes, but got {true.size}.")
    flip = np.zeros(true.size)
    uniforms = np.zeros(true.size)
    known = true != UNKNOWN
    flip[known] = draw_flip_probabilities(int(known.sum()), rate, generator)
    uniforms[known] = generator.random(int(known.sum()))
    centre, scale = _centre_and_scale(features)
    kind = np.result_type(features.dtype, np.float32)  # that of the features, so that they are not copied to float64
    given = true.copy()
    for k in range(class_count):
        projection = generator.standard_normal((features.shape[1], class_count))  # W_k, drawn even for an empty class
        members = np.flatnonzero(true == k)
        if members.size == 0:
            continue
        scores = (SHARPNESS / scale) * (np.asarray(features[members] @ projection.astype(kind)) - centre @ projection)
        scores[:, k] = -np.inf
        probabilities = flip[members, None] * softmax(scores, axis=1)
        probabilities[:, k] = 1.0 - flip[members]
        cumulative = probabilities.cumsum(axis=1)
        cumulative /= cumulative[:, -1:]
        given[members] = (uniforms[members, None] >= cumulative).sum(axis=1)  # inverse cdf, one row per node
    return measure(true, given, class_count)


def draw_flip_probabilities(count: int, rate: float, generator: Generator) -> NDArray[np.float64]:
    """Normal around p, truncated symmetrically within [0, 1]: the mean is p exactly."""
    half = min(rate, 1.0 - rate)
    low = ndtr(-half / SPREAD)
    drawn = rate + SPREAD * ndtri(low + generator.random(count) * (1.0 - 2.0 * low))
    return np.asarray(np.clip(drawn, rate - half, rate + half))  # against rounding


def _centre_and_scale(features: Features) -> tuple[NDArray[np.float64], float]:
    """The mean row, and the root of the mean squared distance from it (1 if all rows are equal)."""
    values = features.ravel() if isinstance(features, np.ndarray) else features.data
    centre = np.asarray(features.mean(axis=0, dtype=np.float64)).ravel()
    squares = float(np.einsum("i,i->", values, values, dtype=np.float64)) / features.shape[0]
    variance = squares - float(centre @ centre)
    return centre, float(np.sqrt(variance)) if variance > 1e-12 * squares else 1.0
