r"""A backbone whose outputs spread to their neighbours.

.. math:: Z_0 = B(G), \qquad Z_{t+1} = (1 - a)\, S Z_t + a\, Z_0

S is the propagation matrix of the options, self-loops and similar nodes included. Each node's output becomes an average
over a neighbourhood wider than the layers of the network reach, and no weight is added: with labels that cannot be
trusted, an average over many is worth more than the few nearby. It is the prediction of APPNP (Gasteiger et al., ICLR
2019), with its usual a, behind any network; behind an MLP it is APPNP itself.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from lnp.nn.backbone import Backbone, BackboneSpec
from lnp.nn.diffusion import diffused
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.sparse import Multiplier
from lnp.seeds import Generator

__all__ = ["RESTART", "WithDiffusion"]

RESTART = 0.1
"""a, the share of a node's own output in every step."""


class WithDiffusion(Backbone):
    """A backbone and the steps behind it.

    Args:
        backbone: B.
        spec: ``diffusion_steps`` is their number, ``propagation`` names S.
    """

    def __init__(self, backbone: Backbone, spec: BackboneSpec) -> None:
        super().__init__()
        self.backbone = backbone
        self.steps = spec.diffusion_steps
        self.propagation = spec.propagation

    def embed(self, graph: GraphTensors, generator: Generator | None = None) -> Tensor:
        """The hidden vectors of the backbone, which the steps come after."""
        return self.backbone.embed(graph, generator)

    def forward(
        self, graph: GraphTensors, generator: Generator | None = None, *, propagation: Multiplier | None = None
    ) -> Tensor:
        """The outputs Z.

        Args:
            graph: Features and matrices.
            generator: Source of dropout in training mode.
            propagation: Takes the place of S, in the backbone and behind it.
        """
        options: dict[str, Any] = {} if propagation is None else {"propagation": propagation}
        outputs: Tensor = self.backbone(graph, generator, **options)
        matrix = graph.propagation(self.propagation) if propagation is None else propagation
        return diffused(matrix, outputs, alpha=1 - RESTART, steps=self.steps)
