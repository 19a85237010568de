"""A graph on a device, with every matrix that networks multiply by, each built once."""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch import Tensor

from lnp.graph.graph import Graph
from lnp.nn.propagation import propagation_matrix
from lnp.nn.sparse import SparseMatrix

__all__ = ["GraphTensors", "InputFeatures", "SideBySide"]


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

    Attributes:
        features: X as a dense tensor or a :class:`SparseMatrix`; both multiply with ``@``.
    """

    def __init__(self, graph: Graph, device: torch.device | str = "cpu") -> None:
        self.graph = graph
        self.device = torch.device(device)
        self.features: InputFeatures
        if isinstance(graph.features, np.ndarray):
            self.features = torch.from_numpy(graph.features).to(self.device)
        else:
            self.features = SparseMatrix.from_scipy(graph.features, device=self.device)
        self._propagations: dict[str, SparseMatrix] = {}

    @property
    def node_count(self) -> int:
        """The number of nodes n."""
        return self.graph.node_count

    def propagation(self, kind: str) -> SparseMatrix:
        """S of the given kind (see :mod:`lnp.nn.propagation`), built at the first call."""
        if kind not in self._propagations:
            matrix = propagation_matrix(self.graph.adjacency, kind)
            self._propagations[kind] = SparseMatrix.from_scipy(matrix, symmetric=kind != "row", device=self.device)
        return self._propagations[kind]

    def with_columns(self, extra: Tensor) -> GraphTensors:
        """The same graph with further feature columns, which may carry gradient; the matrices are shared."""
        if isinstance(self.features, SideBySide):
            raise TypeError("with_columns was called twice; concatenate the columns first.")
        widened = copy.copy(self)
        widened.features = SideBySide(self.features, extra)
        return widened
