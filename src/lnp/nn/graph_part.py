"""A sampled part of a graph in the shape that networks know."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnp.graph.graph import Graph
from lnp.nn.graph_tensors import GraphTensors, InputFeatures
from lnp.nn.propagation import parse_propagation
from lnp.nn.sampling import SampledNodes
from lnp.nn.sparse import SparseMatrix
from lnp.nn.two_hop import marked, two_hop_degrees

__all__ = ["GraphPart", "PartMatrix", "Scales"]


class Scales:
    """What the entries of S are made of: :math:`S_{ij} = l_i w_{ij} r_j`, for every kind of S.

    Args:
        graph: The whole graph; its degrees make l and r, so that a part's entries are those of the whole.
    """

    def __init__(self, graph: Graph) -> None:
        self.adjacency = graph.adjacency
        self._sides: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}

    @cached_property
    def marks(self) -> sp.csr_array:
        """What two-hop rows are made with."""
        return marked(self.adjacency)

    @cached_property
    def two_hop(self) -> NDArray[np.float64]:
        """Sizes of the two-hop sets."""
        return two_hop_degrees(self.adjacency, self.marks)

    def sides(self, kind: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """:math:`l` and :math:`r`, one number per node; computed at the first call."""
        if kind not in self._sides:
            self._sides[kind] = self._compute(kind)
        return self._sides[kind]

    def _compute(self, kind: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if kind in ("two-hop", "two-hop-with-self"):
            degrees = self.two_hop
            if kind == "two-hop-with-self":  # whoever has a neighbour comes back to itself in two steps
                degrees = degrees + (np.diff(self.adjacency.indptr) > 0)
        else:
            degrees = np.asarray(self.adjacency.sum(axis=1), np.float64).ravel() + parse_propagation(kind).loops
        if kind.startswith("row"):
            return 1 / degrees, np.ones_like(degrees)
        root = np.power(degrees, -0.5, out=np.zeros_like(degrees), where=degrees > 0)
        return root, root


class PartMatrix:
    """S of a part, which loses one hop with every product.

    Rows are those of the nodes up to some hop, in the order of the part's nodes: own nodes first. A product with a
    matrix that has a row for every node up to hop k gives the rows up to hop k − 1, which is all that the next product
    needs; after the last one the own rows are left. (Where a hop adds no node, more rows than needed may stay.)
    """

    def __init__(self, matrix: sp.csr_array, sizes: tuple[int, ...], device: torch.device) -> None:
        self.matrix = matrix
        self.sizes = sizes
        self.device = device
        self._blocks: dict[int, SparseMatrix] = {}

    def __matmul__(self, dense: Tensor) -> Tensor:
        matching = [hop for hop, size in enumerate(self.sizes) if size == dense.shape[0] and hop > 0]
        if not matching:
            raise ValueError(f"A part with {self.sizes} nodes up to each hop cannot propagate {len(dense)} rows.")
        return self._block(matching[-1]) @ dense

    def _block(self, hop: int) -> SparseMatrix:
        if hop not in self._blocks:
            block = self.matrix[: self.sizes[hop - 1], : self.sizes[hop]]
            self._blocks[hop] = SparseMatrix.from_scipy(block, device=self.device)
        return self._blocks[hop]


class GraphPart(GraphTensors):
    """What networks see of a part.

    Args:
        whole: The graph it is a part of.
        scales: That graph's.
        sampled: The part's nodes and links.
        device: Where the matrices are put.
        first: The rows of S X of the part's nodes, where the whole graph's is at hand. The first propagation of a GCN
            is then exact, and the part needs one hop less than the network has propagations.
    """

    def __init__(
        self,
        whole: Graph,
        scales: Scales,
        sampled: SampledNodes,
        device: torch.device | str = "cpu",
        *,
        first: Tensor | None = None,
    ) -> None:
        self.graph = whole
        self.sampled = sampled
        self.scales = scales
        self.device = torch.device(device)
        self.first = first
        self._parts: dict[str, PartMatrix] = {}

    @cached_property
    def features(self) -> InputFeatures:  # type: ignore[override]
        """X of the part's nodes; not read before somebody asks for it."""
        rows = self.graph.features[self.sampled.nodes]
        if isinstance(rows, np.ndarray):
            return torch.from_numpy(rows).to(self.device)
        return SparseMatrix.from_scipy(sp.csr_array(rows), device=self.device)

    @property
    def node_count(self) -> int:
        """The number of nodes of the part, neighbours included."""
        return int(self.sampled.nodes.size)

    def propagation(self, kind: str) -> PartMatrix:  # type: ignore[override]
        """S of the given kind, built at the first call."""
        if kind not in self._parts:
            self._parts[kind] = PartMatrix(self._matrix(kind), self.sampled.sizes, self.device)
        return self._parts[kind]

    def two_hop(self, kind: str) -> PartMatrix:
        """The part's share of it."""
        return self.propagation(kind)

    def propagated(self, kind: str, width: int) -> Tensor | None:
        """The rows of S X, where they were given."""
        return self.first

    def _matrix(self, kind: str) -> sp.csr_array:
        sampled = self.sampled
        links = sampled.two_hop if kind.startswith("two-hop") else sampled.one_hop
        if links is None:
            raise ValueError("This part was sampled without two-hop sets.")
        left, right = self.scales.sides(kind)
        rows = links.indptr.size - 1
        values = links.weights * right[sampled.nodes[links.columns]]
        values *= left[sampled.nodes[:rows]].repeat(np.diff(links.indptr))
        shape = (rows, sampled.nodes.size)
        matrix = sp.csr_array((values, links.columns, links.indptr), shape=shape)
        weight = 1.0 if kind == "two-hop-with-self" else parse_propagation(kind).loops
        if weight > 0:
            own = sampled.nodes[:rows]
            loops = sp.csr_array((weight * left[own] * right[own], np.arange(rows), np.arange(rows + 1)), shape=shape)
            matrix = sp.csr_array(matrix + loops)
        return matrix
