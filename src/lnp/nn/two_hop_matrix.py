r"""The normalised two-hop matrix of a whole graph, with twins counted once.

Nodes with the same neighbours (:mod:`lnp.graph.twins`) have the same nodes two steps away, themselves included. With P
of a row for each of the m sets of twins, 1 where a node is in it, and C the two-hop matrix of one node of each set,

.. math:: S_2 = F (P^\top C P - O) F,

where F has :math:`1 / \sqrt{d_2}` on its diagonal and O takes each node out of its own two-hop set. C has a third of
the entries of :math:`A_2` on Squirrel and a fifth on Chameleon, where it is what H2GCN spends its time on; without
twins P is a permutation and nothing is lost.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from lnp.graph.graph import Graph
from lnp.graph.twins import twin_sets
from lnp.nn.propagation import two_hop_neighbours
from lnp.nn.sparse import SparseMatrix

__all__ = ["TwoHopMatrix"]


class TwoHopMatrix:
    """S_2, to be multiplied with dense matrices.

    Args:
        graph: The graph.
        include_self: Whether a node is in its own two-hop set, as in public code.
        device: Where the matrices are put.

    >>> star = Graph.from_edges([[0, 0, 0], [1, 2, 3]], np.eye(4), class_count=2)
    >>> (TwoHopMatrix(star) @ torch.tensor([[1.0], [2.0], [2.0], [4.0]])).round(decimals=3).flatten().tolist()
    [0.0, 3.0, 3.0, 2.0]
    """

    def __init__(self, graph: Graph, *, include_self: bool = False, device: torch.device | str = "cpu") -> None:
        sets = twin_sets(graph)
        members, first = np.bincount(sets), np.unique(sets, return_index=True)[1]
        core = two_hop_neighbours(graph.adjacency, first, include_self=True)
        linked = np.diff(graph.adjacency.indptr) > 0  # whoever has a neighbour comes back to itself in two steps
        own = linked & (not include_self)
        degrees = (core @ members.astype(np.float64))[sets] - own
        root = np.power(degrees, -0.5, out=np.zeros_like(degrees), where=degrees > 0)
        collect = sp.csr_array((root, (sets, np.arange(sets.size))), shape=(first.size, sets.size))
        self.collect = SparseMatrix.from_scipy(collect, device=device)
        self.core = SparseMatrix.from_scipy(core, symmetric=True, device=device)
        self.own = None if include_self else torch.from_numpy((own * root**2).astype(np.float32)[:, None]).to(device)

    def __matmul__(self, dense: Tensor) -> Tensor:
        product = self.collect.turned() @ (self.core @ (self.collect @ dense))
        return product if self.own is None else product - self.own * dense
