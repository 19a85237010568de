"""The graph convolutional network of Kipf and Welling (ICLR 2017)."""

from __future__ import annotations

from torch import Tensor, nn

from lnp.nn.backbone import Backbone, BackboneSpec
from lnp.nn.dropout import dropout
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.linear import Linear
from lnp.seeds import Generator

__all__ = ["GCN"]


class GCN(Backbone):
    r"""Rounds of neighbour averaging with linear maps.

    .. math:: Z = S\,\mathrm{relu}(S X W_0 + b_0)\,W_1 + b_1

    for two layers, with S symmetric or row-normalised (:mod:`lnp.nn.propagation`) and dropout after every hidden
    layer. Products are taken from the right (:math:`S (X W)`), so no matrix wider than a layer is ever propagated.
    """

    def __init__(self, spec: BackboneSpec, generator: Generator) -> None:
        super().__init__()
        widths = [spec.inputs, *[spec.hidden] * (spec.layers - 1), spec.outputs]
        self.layers = nn.ModuleList(
            Linear(inputs, outputs, generator, initialisation=spec.initialisation)
            for inputs, outputs in zip(widths[:-1], widths[1:], strict=True)
        )
        self.dropout = spec.dropout
        self.normalisation = spec.normalisation

    def embed(self, graph: GraphTensors, generator: Generator | None = None) -> Tensor:
        """The hidden layer after activation and dropout."""
        source = self.dropout_source(generator)
        propagation = graph.propagation(self.normalisation)
        hidden = graph.features
        for layer in list(self.layers)[:-1]:
            hidden = dropout(
                (propagation @ (hidden @ layer.weight) + layer.bias).relu(), self.dropout, source
            )
        return hidden

    def forward(self, graph: GraphTensors, generator: Generator | None = None) -> Tensor:
        """The outputs Z."""
        last = self.layers[-1]
        hidden = self.embed(graph, generator)
        return graph.propagation(self.normalisation) @ (hidden @ last.weight) + last.bias
