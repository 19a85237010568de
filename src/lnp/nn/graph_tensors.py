r"""A graph on a device, with every matrix that networks multiply by, each built once.

Large graphs are computed leanly. Nothing else is computed, but in another order, so results differ in rounding; below
:data:`LARGE` nodes, where neither time nor memory is short, the order stays as it is written in the networks.

- **S X once.** The first layer of a GCN is :math:`S (X W)`: two products of S with width h in every step and one more
  in every evaluation. :math:`(S X) W` needs none of them, and its product with the dense X is the same for any d. It
  costs :math:`d / h` such products once, made up for within :math:`d / 3h` epochs, and 4 d bytes a node. So it is taken
  where X is dense and :math:`d \le` :data:`WIDTHS` :math:`h`: paid within three epochs, and no larger than eight hidden
  layers. Sparse X stays as it is: S X has a multiple of its entries, and multiplying by those costs more than S does.
- **Fewer copies.** A hidden layer is kept once and not three times (:mod:`lnp.nn.activation`), with ``recompute`` not
  at all (:mod:`lnp.nn.recompute`); two layers with S X known are one step (:mod:`lnp.nn.two_layers`), and networks that
  are computed one after the other share room for what they throw away. All to the same bits.
- **Only rows that are wanted.** Where a loss reads the outputs of some nodes, the last product takes their rows of S.
"""

from __future__ import annotations

import copy
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from lnp.graph.graph import Graph
from lnp.nn.propagation import is_symmetric, propagation_matrix
from lnp.nn.sparse import Multiplier, SparseMatrix, transformed
from lnp.nn.two_hop_matrix import TwoHopMatrix

__all__ = ["LARGE", "WIDTHS", "GraphTensors", "InputFeatures", "SideBySide"]

LARGE = 100_000
"""Nodes from which on a graph is computed leanly."""

WIDTHS = 8
"""S X is computed once where X has at most this many times the columns of a hidden layer."""


class SideBySide:
    """Fixed features and a dense block that may carry gradient, side by side: ``[X ‖ E] W = X W₁ + E W₂``."""

    def __init__(self, fixed: Tensor | SparseMatrix, extra: Tensor) -> None:
        self.fixed = fixed
        self.extra = extra

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.fixed.shape[0], self.fixed.shape[1] + self.extra.shape[1]

    def __matmul__(self, weight: Tensor) -> Tensor:
        width = self.fixed.shape[1]
        return self.fixed @ weight[:width] + self.extra @ weight[width:]


InputFeatures = Tensor | SparseMatrix | SideBySide
"""What a first layer multiplies its weights with; all three support ``@``."""


class GraphTensors:
    """What networks see of a graph: features X and propagation matrices S.

    Args:
        graph: The graph.
        device: Where the matrices are put.
        lean: Whether to compute leanly (see above); ``None`` decides by the number of nodes.
        recompute: Whether to compute activations again in the backward pass instead of keeping them. Slower, and no
            result changes; the pre-flight check (:mod:`lnp.engine.memory`) asks for it where memory is short.

    Attributes:
        features: X as a dense tensor or a :class:`SparseMatrix`; both multiply with ``@``.
    """

    lean: bool = False
    recompute: bool = False

    def __init__(
        self,
        graph: Graph,
        device: torch.device | str = "cpu",
        *,
        lean: bool | None = None,
        recompute: bool = False,
    ) -> None:
        self.graph = graph
        self.lean = graph.node_count >= LARGE if lean is None else lean
        self.recompute = recompute
        self.device = torch.device(device)
        self.features: InputFeatures
        if isinstance(graph.features, np.ndarray):
            self.features = torch.from_numpy(graph.features).to(self.device)
        else:
            self.features = SparseMatrix.from_scipy(graph.features, device=self.device)
        self._propagations: dict[str, SparseMatrix] = {}
        self._two_hops: dict[str, TwoHopMatrix] = {}
        self._propagated: dict[str, Tensor] = {}
        self._rows: dict[str, tuple[Tensor, SparseMatrix]] = {}

    @property
    def node_count(self) -> int:
        """The number of nodes n."""
        return self.graph.node_count

    @cached_property
    def links(self) -> SparseMatrix:
        """A itself, whose rows say who a node's neighbours are."""
        return SparseMatrix.from_scipy(self.graph.adjacency, symmetric=True, device=self.device)

    def propagation(self, kind: str) -> SparseMatrix:
        """S of the given kind (see :mod:`lnp.nn.propagation`), built at the first call."""
        if kind not in self._propagations:
            matrix = propagation_matrix(self.graph.adjacency, kind, self.graph.features)
            self._propagations[kind] = SparseMatrix.from_scipy(matrix, symmetric=is_symmetric(kind), device=self.device)
        return self._propagations[kind]

    def two_hop(self, kind: str) -> Multiplier:
        """S of the kind "two-hop" or "two-hop-with-self" as a product that counts twins once."""
        if kind not in self._two_hops:
            include_self = kind == "two-hop-with-self"
            self._two_hops[kind] = TwoHopMatrix(self.graph, include_self=include_self, device=self.device)
        return self._two_hops[kind]

    def propagation_rows(self, kind: str, rows: Tensor) -> SparseMatrix:
        """Some rows of S, for outputs that are wanted nowhere else; those asked for last are kept.

        Args:
            kind: Which S.
            rows: Node numbers.
        """
        known = self._rows.get(kind)
        if known is None or not torch.equal(known[0], rows):
            known = self._rows[kind] = rows, self.propagation(kind).rows(rows)
        return known[1]

    def propagated(self, kind: str, width: int) -> Tensor | None:
        """S X, computed at the first call and shared by all networks; ``None`` where :math:`S (X W)` is cheaper.

        Args:
            kind: Which S.
            width: h, the columns of W.
        """
        features = self.features
        if not self.lean or not isinstance(features, Tensor) or features.shape[1] > WIDTHS * width:
            return None
        if kind not in self._propagated:
            if transformed():  # a tensor made in there must not outlive it
                return None
            with torch.no_grad():
                self._propagated[kind] = self.propagation(kind) @ features
        return self._propagated[kind]

    def with_columns(self, extra: Tensor) -> GraphTensors:
        """The same graph with further feature columns, which may carry gradient; the matrices are shared."""
        if isinstance(self.features, SideBySide):
            raise TypeError("with_columns was called twice; concatenate the columns first.")
        widened = copy.copy(self)
        widened.features = SideBySide(self.features, extra)
        return widened
