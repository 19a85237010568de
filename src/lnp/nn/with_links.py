r"""A backbone that also sees *who* a node's neighbours are, whatever their features.

.. math:: Z = B(G) + \mathrm{relu}(A W + b)\,V

Every row of A is a node's list of neighbours, and W has a row for each of them. Where neighbours are unlike, averages
over them tell little, but nodes with the same neighbours are often alike. The idea is that of LINKX (Lim et al.,
NeurIPS 2021), here as a path beside any network rather than one of its own; V starts at zero, so training starts with
the network alone. W belongs to the nodes of one graph, so such a network cannot be taken to another.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from lnp.nn.backbone import Backbone, BackboneSpec
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.path import Path
from lnp.seeds import Generator

__all__ = ["WithLinks"]


class WithLinks(Backbone):
    """A backbone and a path from the rows of A.

    Args:
        backbone: B.
        spec: ``links_width`` is the width of W, ``nodes`` the number of its rows.
        generator: Draws the initial weights of the path.
    """

    def __init__(self, backbone: Backbone, spec: BackboneSpec, generator: Generator) -> None:
        super().__init__()
        if spec.nodes < 1:
            raise ValueError("A path from the links needs the number of nodes in `BackboneSpec.nodes`.")
        self.backbone = backbone
        self.links = Path(spec.nodes, spec.links_width, spec.outputs, spec.dropout, generator)

    def embed(self, graph: GraphTensors, generator: Generator | None = None) -> Tensor:
        """The hidden vectors of the backbone."""
        return self.backbone.embed(graph, generator)

    def forward(self, graph: GraphTensors, generator: Generator | None = None, **options: Any) -> Tensor:
        """The outputs Z.

        Args:
            graph: Features and matrices.
            generator: Source of dropout in training mode.
            options: For the backbone.
        """
        outputs: Tensor = self.backbone(graph, generator, **options)
        beside: Tensor = self.links(graph.links, self.dropout_source(generator))
        return outputs + beside
