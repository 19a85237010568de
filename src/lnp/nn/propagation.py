r"""The matrices with which networks pass messages.

====================  =====================================================================
``symmetric``         :math:`\tilde D^{-1/2} (A + \lambda I + \mu K_s) \tilde D^{-1/2}`, Kipf and Welling's GCN
``row``               :math:`\tilde D^{-1} (A + \lambda I + \mu K)`, the released LNP code's GCN
``one-hop``           :math:`D_1^{-1/2} A_1 D_1^{-1/2}`, :math:`A_1 = A`
``two-hop``           the same for :math:`A_2`: nodes reached in two steps, but not in one and not oneself
====================  =====================================================================

:math:`\tilde D` is the degree matrix of what it stands beside; rows without a neighbour stay zero in the last two.

λ is what a node counts beside one neighbour. A GCN has 1, and its authors (Section 7.2) suggest others where that fits
better: where neighbours are unlike, a node's own features tell more than a neighbour's, and on some graphs less. A
matrix with another λ goes by the name of its kind and λ, "row+3".

μ is what the nodes with the most similar features count together (:mod:`lnp.nn.similar_links`), 0 unless it is asked
for; :math:`K_s = (K + K^\top) / 2`. A matrix with another μ has it at the end of its name, "row+3~1".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lnp.errors import check_choice
from lnp.graph.graph import Features, sorted_csr
from lnp.nn.similar_links import similar_links

__all__ = [
    "PROPAGATIONS",
    "Propagation",
    "is_symmetric",
    "parse_propagation",
    "propagation_matrix",
    "propagation_name",
    "two_hop_neighbours",
]

PROPAGATIONS = ("symmetric", "row", "one-hop", "two-hop", "two-hop-with-self")
"""The kinds :func:`propagation_matrix` knows."""


class Propagation(NamedTuple):
    """What a name says: the kind, λ and μ."""

    kind: str
    loops: float
    similar: float


def propagation_name(kind: str, loops: float, similar: float = 0.0) -> str:
    """What S of this kind is called, with self-loops of weight λ and similar nodes of weight μ.

    >>> propagation_name("row", 1.0), propagation_name("row", 3.0), propagation_name("row", 3.0, 0.5)
    ('row', 'row+3', 'row+3~0.5')
    """
    return (kind if loops == 1 else f"{kind}+{loops:g}") + (f"~{similar:g}" if similar else "")


def parse_propagation(name: str) -> Propagation:
    """The reverse of :func:`propagation_name`; kinds without self-loops have λ = 0.

    >>> parse_propagation("row+0.3~1"), parse_propagation("one-hop").loops
    (Propagation(kind='row', loops=0.3, similar=1.0), 0.0)
    """
    first, _, similar = name.partition("~")
    kind, _, loops = first.partition("+")
    check_choice("propagation", kind, PROPAGATIONS)
    return Propagation(kind, float(loops or kind in ("symmetric", "row")), float(similar or 0))


def is_symmetric(name: str) -> bool:
    """Whether S of this name is its own transpose."""
    return not name.startswith("row")


def propagation_matrix(adjacency: sp.csr_array, name: str, features: Features | None = None) -> sp.csr_array:
    """The matrix S of the given name.

    Args:
        adjacency: A, symmetric and without self-loops.
        name: Of :func:`propagation_name`.
        features: X, by which similar nodes are found where the name asks for them.
    """
    kind, loops, similar = parse_propagation(name)
    if kind in ("symmetric", "row"):
        weighted = adjacency + sp.eye_array(adjacency.shape[0], dtype=np.float32, format="csr") * np.float32(loops)
        if similar > 0:
            if features is None:
                raise ValueError(f"The matrix {name!r} needs features, to find similar nodes by.")
            links = similar_links(features) * np.float32(similar)
            weighted = weighted + (links if kind == "row" else (links + links.T) / 2)
        weighted = sorted_csr(weighted)
        return _scaled(weighted, power=-0.5) if kind == "symmetric" else _scaled(weighted, power=-1.0, both_sides=False)
    if kind == "one-hop":
        return _scaled(adjacency, power=-0.5)
    return _scaled(two_hop_neighbours(adjacency, include_self=kind == "two-hop-with-self"), power=-0.5)


def two_hop_neighbours(
    adjacency: sp.csr_array, nodes: NDArray[np.int64] | None = None, *, include_self: bool = False
) -> sp.csr_array:
    """A_2: 1 where j is two steps from i, not a neighbour of i, and not i itself.

    Args:
        adjacency: A, symmetric.
        nodes: Between whom; all by default.
        include_self: Leave a node in its own two-hop set, as the public LINKX code does by a slip.
    """
    near = sp.csr_array(
        (np.ones(adjacency.nnz, np.float32), adjacency.indices, adjacency.indptr), shape=adjacency.shape
    )
    among = near
    if nodes is not None:
        near = near[nodes]
        among = near[:, nodes]
    paths = sp.csr_array(near @ near.T)
    paths.data[:] = 1.0
    strict = paths - paths.multiply(among)  # drop what is one step away
    if not include_self:
        strict = strict - sp.diags_array(strict.diagonal(), format="csr")
    return sorted_csr(strict)


def _scaled(matrix: sp.csr_array, *, power: float, both_sides: bool = True) -> sp.csr_array:
    degree = np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
    factor = np.power(degree, power, out=np.zeros_like(degree), where=degree > 0)
    left = sp.diags_array(factor, format="csr")
    scaled = left @ matrix @ left if both_sides else left @ matrix
    return sp.csr_array(scaled.astype(np.float32))
