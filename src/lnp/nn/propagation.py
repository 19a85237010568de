r"""The matrices with which networks pass messages.

====================  =====================================================================
``symmetric``         :math:`\tilde D^{-1/2} (A + \lambda I) \tilde D^{-1/2}`, Kipf and Welling's GCN
``row``               :math:`\tilde D^{-1} (A + \lambda I)`, the released LNP code's GCN
``one-hop``           :math:`D_1^{-1/2} A_1 D_1^{-1/2}`, :math:`A_1 = A`
``two-hop``           the same for :math:`A_2`: nodes reached in two steps, but not in one and not oneself
====================  =====================================================================

:math:`\tilde D` is the degree matrix of :math:`A + \lambda I`; rows without a neighbour stay zero in the last two.

λ is what a node counts beside one neighbour. A GCN has 1, and its authors (Section 7.2) suggest others where that fits
better: where neighbours are unlike, a node's own features tell more than a neighbour's, and on some graphs less. A
matrix with another λ goes by the name of its kind and λ, "row+3".
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from lnp.errors import check_choice
from lnp.graph.graph import sorted_csr

__all__ = ["PROPAGATIONS", "kind_and_loops", "propagation_matrix", "propagation_name", "two_hop_neighbours"]

PROPAGATIONS = ("symmetric", "row", "one-hop", "two-hop", "two-hop-with-self")
"""The kinds :func:`propagation_matrix` knows."""


def propagation_name(kind: str, loops: float) -> str:
    """What S of this kind with self-loops of weight λ is called.

    >>> propagation_name("row", 1.0), propagation_name("row", 3.0)
    ('row', 'row+3')
    """
    return kind if loops == 1 else f"{kind}+{loops:g}"


def kind_and_loops(name: str) -> tuple[str, float]:
    """The reverse of :func:`propagation_name`; kinds without self-loops have λ = 0.

    >>> kind_and_loops("symmetric"), kind_and_loops("row+0.3"), kind_and_loops("one-hop")
    (('symmetric', 1.0), ('row', 0.3), ('one-hop', 0.0))
    """
    kind, _, loops = name.partition("+")
    check_choice("propagation", kind, PROPAGATIONS)
    return kind, float(loops or kind in ("symmetric", "row"))


def propagation_matrix(adjacency: sp.csr_array, name: str) -> sp.csr_array:
    """The matrix S of the given name for a symmetric adjacency matrix without self-loops."""
    kind, loops = kind_and_loops(name)
    if kind in ("symmetric", "row"):
        itself = sp.eye_array(adjacency.shape[0], dtype=np.float32, format="csr") * np.float32(loops)
        looped = sp.csr_array(adjacency + itself)
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
