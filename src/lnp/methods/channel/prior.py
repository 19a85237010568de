r"""The prior :math:`P_\theta(y \mid G)`: a backbone, and what a graph may need beside it.

============  ===================================================================================================
``plain``     :math:`Z = B(G)`
``smooth``    :math:`Z_{t+1} = (1 - a) S Z_t + a Z_0` from :math:`Z_0 = B(G)`: labels that reach further (homophily)
``features``  :math:`Z = B(G) + \mathrm{relu}(X W + b)\,V`: a node's own features, unmixed with its neighbours'
``links``     :math:`Z = B(G) + \mathrm{relu}(A W + b)\,V`: *who* the neighbours are, whatever their features
``similar``   as ``smooth`` with :math:`A + K` for A: ten nodes with similar features count as one neighbour more
============  ===================================================================================================

B is any backbone, S its propagation matrix and A the adjacency matrix; for A a row of W belongs to each node. V starts
at zero, so every variant but the smooth ones starts as the plain one. K is that of :mod:`lnp.nn.similar_links`; with a
backbone other than a GCN it is in the averages alone. Where labels are rare, "smooth" averages more often and
with a smaller a: most nodes have no labelled one within the reach of the backbone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from torch import Tensor, nn

from lnp.methods.batch import Batch
from lnp.methods.channel.config import ChannelConfig
from lnp.nn.diffusion import diffused
from lnp.nn.gcn import GCN
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.path import Path
from lnp.nn.sparse import SparseMatrix
from lnp.seeds import Generator

__all__ = ["Prior", "logit_bound"]

FEW = 7
"""Up to so many classes a bound is taken as it is."""


def logit_bound(bound: float, classes: int) -> float:
    r"""The bound for so many classes: :math:`b + \log\frac{c - 1}{6}` where c is more than seven.

    One class is as likely as all others together when its logit exceeds theirs by :math:`\log(c - 1)`. Logits no longer
    than 3 let the likeliest of seven classes have 0.81, but that of forty 0.35, and a network that cannot be sure takes
    the labels that it cannot foretell for noise.
    """
    return bound + math.log((classes - 1) / (FEW - 1)) if bound > 0 and classes > FEW else bound


class Prior(nn.Module):
    """One network of any variant. It holds the weights of all; those that a variant does not use never move.

    Args:
        config: Backbone and sizes.
        batch: For the sizes, and for how rare labels are.
        generator: Draws the initial weights.
        hidden: Hidden width of the backbone.

    Attributes:
        far: Whether labels are rare. It is kept with the weights: they were learnt so, whatever graph comes later.
    """

    far: Tensor

    def __init__(self, config: ChannelConfig, batch: Batch, generator: Generator, *, hidden: int) -> None:
        super().__init__()
        inputs, classes, width = batch.graph.features.shape[1], batch.class_count, config.path_width
        self.config = config
        self.backbone = replace(config, hidden=hidden).network(batch, generator)
        self.features = Path(inputs, width, classes, config.dropout, generator)
        self.links = Path(batch.node_count, width, classes, config.dropout, generator)
        self.register_buffer("far", (batch.given >= 0).sum() < config.rare * batch.node_count)

    def weights_of(self, variant: str) -> Iterator[nn.Parameter]:
        """What moves when the variant learns."""
        yield from self.backbone.parameters()
        if variant in ("features", "links"):
            yield from getattr(self, variant).parameters()

    def forward(self, graph: GraphTensors, variant: str, generator: Generator | None, *, bound: float = 0.0) -> Tensor:
        r"""The logits Z.

        Args:
            graph: G.
            variant: One of :data:`~lnp.methods.channel.config.VARIANTS`.
            generator: Source of dropout in training.
            bound: b, if not 0: z becomes :math:`z / \sqrt{1 + \lVert z \rVert^2 / b^2}`, which is shorter than b.
        """
        similar = graph.propagation(self.config.similar_propagation) if variant == "similar" else None
        if similar is not None and isinstance(self.backbone, GCN):
            logits = self.backbone(graph, generator, propagation=similar)
        else:
            logits = self.backbone(graph, generator)
        if variant in ("smooth", "similar"):
            logits = self.smooth(logits, similar or graph.propagation(self.config.propagation))
        elif variant == "features":
            logits = logits + self.features(graph.features, generator)
        elif variant == "links":
            logits = logits + self.links(graph.links, generator)
        return self.bounded(logits, bound)

    def smooth(self, logits: Tensor, propagation: SparseMatrix) -> Tensor:
        """The averages of the variant "smooth"."""
        config = self.config
        near = config.smoothing_steps, config.restart
        steps, restart = (config.far_steps, config.far_restart) if self.far else near
        return diffused(propagation, logits, alpha=1 - restart, steps=steps)

    def bounded(self, logits: Tensor, bound: float) -> Tensor:
        """Logits ``(…, c)`` shorter than the bound, if it is not 0."""
        return logits if bound == 0 else logits * (1 + logits.square().sum(dim=-1, keepdim=True) / bound**2).rsqrt()
