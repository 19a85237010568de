r"""A network that learns which nodes belong together, from the edges there are.

:math:`Q = \mathrm{GCN}_E(X, A)`; two nodes are linked with weight :math:`s_{ij} = \max(0, q_i \cdot q_j)`, cut to 0
below a threshold t. It learns from edges P and non-edges N:

.. math::
    L_E = \frac{n}{|P| + |N|}
    \Big[ \sum_{(i,j) \in P} (q_i \cdot q_j - 1)^2 + \sum_{(i,j) \in N} (q_i \cdot q_j)^2 \Big]

Authors draw N anew in every epoch, :math:`n_n` pairs for each node. The sum over *all* non-edges needs no draw: squared
dot products of all pairs are the squared entries of a k × k matrix,

.. math:: \sum_{i,j} (q_i \cdot q_j)^2 = \lVert Q^\top Q \rVert_F^2 ,

less those of nodes with themselves and of edges. So the second sum is its mean over draws, exactly, in O(n k²) instead
of dot products on millions of pairs.

Reference: Dai, Aggarwal and Wang, *NRGNN: learning a label noise resistant graph neural network on sparsely and noisily
labeled graphs*, KDD 2021.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from lnp.nn.backbone import BackboneSpec
from lnp.nn.gcn import GCN
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.weighted_graph import Pairs
from lnp.seeds import Generator

__all__ = ["EdgePredictor", "edge_loss", "link_weights"]


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


def edge_loss(vectors: Tensor, edges: Pairs, draws: float) -> Tensor:
    r"""L_E of the vectors Q, as if non-edges were drawn.

    Args:
        vectors: Q, ``(n, k)``.
        edges: P, every edge once.
        draws: How many ordered pairs (i, j) would be drawn, of which those with i < j count that are no edge: about
            half. Each non-edge is expected in N ``draws`` / n² times.
    """
    n, linked = vectors.shape[0], edges.dots(vectors)
    own = vectors.square().sum(dim=1)
    everyone = ((vectors.T @ vectors).square().sum() - own.square().sum()) / 2
    apart = (everyone - linked.square().sum()) * (draws / n**2)
    expected = (n * (n - 1) / 2 - len(edges)) * (draws / n**2)
    return ((linked - 1).square().sum() + apart) * (n / max(1.0, len(edges) + expected))
