"""Scaling of node features before any network sees them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lnp.errors import check_choice
from lnp.graph.graph import Features, Graph

__all__ = ["AUTO", "SCALINGS", "scale_features", "suitable_scaling"]

AUTO = "auto"
"""What asks for :func:`suitable_scaling`."""

SCALINGS = ("none", "row", "length", "standard", AUTO)
"""The names :func:`scale_features` knows."""

SHARED_SCALE = 10.0
"""Columns whose spread is within this factor of the median's count as being on one scale; values up to it, and rows
that are longer than its inverse, as being on that of the initial weights."""

BLOCK = 2**22
"""Entries whose squares are held at a time."""


def scale_features(graph: Graph, scaling: str) -> Graph:
    """The graph with scaled features.

    - ``none``: as they are;
    - ``row``: every row divided by its sum of absolute values (zero rows stay zero), the habit for bags of words;
    - ``length``: every row divided by its Euclidean length (zero rows stay zero);
    - ``standard``: every column centred and divided by its standard deviation (constant columns become zero);
    - ``auto``: :func:`suitable_scaling`.
    """
    check_choice("scaling", scaling, SCALINGS)
    if scaling == AUTO:
        scaling = suitable_scaling(graph.features)
    if scaling == "none":
        return graph
    if scaling == "standard":
        return graph.with_features(_standardised(graph.features))
    sizes = _sums(np.abs(graph.features)) if scaling == "row" else np.sqrt(_sums(graph.features**2))
    return graph.with_features(_divided(graph.features, sizes))


def suitable_scaling(features: Features) -> str:
    """The scaling for features that nobody has chosen one for.

    ``length`` for sparse features without negative values; for others ``none`` where the columns share a scale already
    (pixels, embeddings), else ``standard``. Rows of many words that sum to 1 are short, and an average over many
    neighbours is shorter still: networks then hardly move in the epochs that they have (docs/own_data.md).
    """
    if not isinstance(features, np.ndarray):
        return "length" if features.nnz == 0 or float(features.data.min()) >= 0 else "standard"
    spread = features.std(axis=0)
    spread = spread[spread > 0]
    if spread.size == 0:
        return "none"
    # Standardising pixels would blow up those that are nearly always blank; columns in different units need it.
    alike = float(spread.max()) <= SHARED_SCALE * float(np.median(spread))
    length = float(np.linalg.norm(spread))  # how far a row is from the mean of all
    fits = length >= 1 / SHARED_SCALE and float(np.abs(features).max()) <= SHARED_SCALE
    return "none" if alike and fits else "standard"


def _sums(features: Features) -> NDArray[np.float64]:
    return np.asarray(features.sum(axis=1), dtype=np.float64).ravel()


def _divided(features: Features, sizes: NDArray[np.float64]) -> Features:
    """Every row divided by its size; rows of size 0 become 0."""
    factors = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0).astype(np.float32)
    if isinstance(features, np.ndarray):
        return features * factors[:, None]
    return sp.csr_array(sp.diags_array(factors) @ features)


def _standardised(features: Features) -> Features:
    """Holds one matrix besides the features: sums are taken block by block, the rest is done in place."""
    if isinstance(features, np.ndarray):
        mean = features.mean(axis=0, dtype=np.float64).astype(np.float32)
        scaled = np.subtract(features, mean, dtype=np.float32)
    else:
        scaled = features.toarray().astype(np.float32, copy=False)
        mean = scaled.mean(axis=0, dtype=np.float64).astype(np.float32)
        scaled -= mean
    squares, rows = np.zeros(scaled.shape[1]), max(1, BLOCK // max(1, scaled.shape[1]))
    for start in range(0, len(scaled), rows):
        squares += np.square(scaled[start : start + rows], dtype=np.float64).sum(axis=0)
    deviation = np.sqrt(squares / max(1, len(scaled))).astype(np.float32)
    constant = deviation <= 1e-6 * np.maximum(1.0, np.abs(mean))
    scaled /= np.where(constant, np.float32(1), deviation)
    scaled[:, constant] = 0
    return scaled
