r"""The matrices with which networks pass messages.

====================  =====================================================================
``symmetric``         :math:`\tilde D^{-1/2} (A + I) \tilde D^{-1/2}`, Kipf and Welling's GCN
``row``               :math:`\tilde D^{-1} (A + I)`, the released LNP code's GCN
``one-hop``           :math:`D_1^{-1/2} A_1 D_1^{-1/2}`, :math:`A_1 = A`
``two-hop``           the same for :math:`A_2`: nodes reached in two steps, but not in one and not oneself
====================  =====================================================================

:math:`\tilde D` is the degree matrix of :math:`A + I`; rows without a neighbour stay zero in the last two.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from lnp.errors import check_choice
from lnp.graph.graph import sorted_csr

__all__ = ["PROPAGATIONS", "propagation_matrix", "two_hop_neighbours"]

PROPAGATIONS = ("symmetric", "row", "one-hop", "two-hop", "two-hop-with-self")
"""The names :func:`propagation_matrix` knows."""


def propagation_matrix(adjacency: sp.csr_array, kind: str) -> sp.csr_array:
    """The matrix S of the given ``kind`` for a symmetric adjacency matrix without self-loops."""
    check_choice("propagation", kind, PROPAGATIONS)
    if kind in ("symmetric", "row"):
        looped = sp.csr_array(adjacency + sp.eye_array(adjacency.shape[0], dtype=np.float32, format="csr"))
        return _scaled(looped, power=-0.5) if kind == "symmetric" else _scaled(looped, power=-1.0, both_sides=False)
    if kind == "one-hop":
        return _scaled(adjacency, power=-0.5)
    return _scaled(two_hop_neighbours(adjacency, include_self=kind == "two-hop-with-self"), power=-0.5)


def two_hop_neighbours(adjacency: sp.csr_array, *, include_self: bool = False) -> sp.csr_array:
    """A_2: 1 where j is two steps from i, not a neighbour of i, and not i itself.

    ``include_self`` leaves the node in its own two-hop set, as the public LINKX code does by a slip.
    """
    pattern = sp.csr_array(
        (np.ones(adjacency.nnz, np.float32), adjacency.indices, adjacency.indptr), shape=adjacency.shape
    )
    paths = sp.csr_array(pattern @ pattern)
    paths.data[:] = 1.0
    strict = paths - paths.multiply(pattern)  # drop what is one step away
    if not include_self:
        strict = strict - sp.diags_array(strict.diagonal(), format="csr")
    return sorted_csr(strict)


def _scaled(matrix: sp.csr_array, *, power: float, both_sides: bool = True) -> sp.csr_array:
    degree = np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
    factor = np.power(degree, power, out=np.zeros_like(degree), where=degree > 0)
    left = sp.diags_array(factor, format="csr")
    scaled = left @ matrix @ left if both_sides else left @ matrix
    return sp.csr_array(scaled.astype(np.float32))
