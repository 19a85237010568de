r"""Features from the edges alone, for graphs whose nodes come without any.

Three kinds of numbers that a person would look at first:

- ``log degree``: :math:`\log(1 + d_i)`, and ``neighbours' log degree``, its mean over the neighbours, both centred and
  scaled to unit variance;
- ``position 1 … k``: the k smoothest functions on the graph, that is the leading eigenvectors of
  :math:`\tfrac12 (I + D^{-1/2} A D^{-1/2})`, scaled to unit mean square. Nodes close to each other get alike values, so
  that they say where in the graph a node is.

The eigenvectors come from orthogonal iteration, a few products with A: exact enough for features, and quick on millions
of edges. They depend on the graph and on a fixed seed, on nothing else.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lnp.seeds import Generator

__all__ = ["POSITIONS", "structural_features"]

POSITIONS = 32
"""The number k of positions; a graph with fewer nodes gets fewer."""

ROUNDS = 20


def structural_features(
    adjacency: sp.csr_array, generator: Generator, *, positions: int = POSITIONS, rounds: int = ROUNDS
) -> tuple[NDArray[np.float32], tuple[str, ...]]:
    """``(n, 2 + k)`` features and their names.

    Args:
        adjacency: A, symmetric.
        generator: Source of the start of the iteration.
        positions: k.
        rounds: Steps of the iteration.
    """
    n = adjacency.shape[0]
    counts = np.diff(adjacency.indptr).astype(np.float64)
    own = np.log1p(counts)
    around = (sp.csr_array((np.ones_like(adjacency.data), adjacency.indices, adjacency.indptr), adjacency.shape)) @ own
    around /= np.maximum(counts, 1)
    k = min(positions, n)
    basis = _orthonormal(generator.standard_normal((n, k), dtype=np.float32))
    strengths = np.asarray(adjacency.sum(axis=1), np.float64).ravel()
    scale = np.divide(1.0, np.sqrt(strengths), out=np.zeros(n), where=strengths > 0).astype(np.float32)[:, None]
    for step in range(1, rounds + 1):
        # The same eigenvectors as in the formula, eigenvalues in [0.05, 1]: no column shrinks to nothing.
        basis = 0.525 * basis + 0.475 * scale * (adjacency @ (scale * basis))
        if step % 2 == 0:
            basis = _orthonormal(basis)
    basis = _orthonormal(_orthonormal(basis))  # the second time for the last digits
    names = ("log degree", "neighbours' log degree", *(f"position {i + 1}" for i in range(k)))
    columns = np.column_stack([_standard(own), _standard(around), np.sqrt(n) * basis])
    return columns.astype(np.float32), names


def _orthonormal(columns: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same space with orthonormal columns, through their small Gram matrix: on tall ones far quicker than QR."""
    values, vectors = np.linalg.eigh((columns.T @ columns).astype(np.float64))
    turn = (vectors / np.sqrt(np.maximum(values, 1e-12 * values[-1]))).astype(np.float32)
    turned: NDArray[np.float32] = columns @ turn
    return turned


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    deviation = values.std()
    return (values - values.mean()) / deviation if deviation > 1e-12 else np.zeros_like(values)
