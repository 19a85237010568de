r"""A network that learns which nodes belong together, from the edges there are.

:math:`Q = \mathrm{GCN}_E(X, A)`; two nodes are linked with weight :math:`s_{ij} = \max(0, q_i \cdot q_j)`, cut to 0
below a threshold t. It learns from edges P and sampled non-edges N:

.. math::
    L_E = \frac{n}{|P| + |N|}
    \Big[ \sum_{(i,j) \in P} (q_i \cdot q_j - 1)^2 + \sum_{(i,j) \in N} (q_i \cdot q_j)^2 \Big]

Reference: Dai, Aggarwal and Wang, *NRGNN: learning a label noise resistant graph neural network on sparsely and noisily
labeled graphs*, KDD 2021.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from lnp.nn.backbone import BackboneSpec
from lnp.nn.gcn import GCN
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.weighted_graph import Pairs, is_edge
from lnp.seeds import Generator

__all__ = ["EdgePredictor", "edge_loss", "link_weights", "sample_non_edges"]


class EdgePredictor(nn.Module):
    """GCN_E: two layers, no dropout.

    Args:
        inputs: d, the number of features.
        hidden: Width of both layers.
        generator: Draws the initial weights.
        normalisation: "symmetric" or "row" propagation.
        loop_weight: What a node counts beside one neighbour.
        unit_length: Whether the vectors are scaled to length 1, so that dot products are cosines.
    """

    def __init__(
        self,
        inputs: int,
        hidden: int,
        generator: Generator,
        *,
        normalisation: str = "symmetric",
        loop_weight: float = 1.0,
        unit_length: bool = False,
    ) -> None:
        super().__init__()
        spec = BackboneSpec(
            inputs=inputs,
            outputs=hidden,
            hidden=hidden,
            dropout=0.0,
            normalisation=normalisation,
            loop_weight=loop_weight,
        )
        self.network = GCN(spec, generator)
        self.unit_length = unit_length

    def forward(self, graph: GraphTensors, generator: Generator | None = None) -> Tensor:
        """The vectors Q, ``(n, hidden)``."""
        vectors: Tensor = self.network(graph, generator)
        return F.normalize(vectors, dim=1, eps=1e-6) if self.unit_length else vectors


def link_weights(products: Tensor, threshold: float) -> Tensor:
    """S of each pair from its dot product: 0 below the threshold (and never negative).

    >>> import torch
    >>> link_weights(torch.tensor([-1.0, 0.05, 0.5]), 0.1).tolist()
    [0.0, 0.0, 0.5]
    """
    return products.where(products >= threshold, products.new_zeros(())).relu()


def edge_loss(vectors: Tensor, edges: Pairs, non_edges: Pairs) -> Tensor:
    """L_E of the vectors Q."""
    linked, apart = edges.dots(vectors), non_edges.dots(vectors)
    total = (linked - 1).square().sum() + apart.square().sum()
    return total * (vectors.shape[0] / max(1, linked.numel() + apart.numel()))


def sample_non_edges(
    adjacency: sp.csr_array, count: int, generator: Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draws ``count`` ordered pairs of nodes and keeps those with i < j that are no edge of A (about half)."""
    n = adjacency.shape[0]
    drawn = generator.integers(0, n, size=(2, count))
    first, second = drawn[:, drawn[0] < drawn[1]]
    keys = np.sort(first * n + second)  # ascending keys make the search for edges fast
    keys = keys[~is_edge(keys, adjacency)]
    return keys // n, keys % n
