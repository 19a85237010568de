"""The graph convolutional network of Kipf and Welling (ICLR 2017)."""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn

from lnp.nn.backbone import Backbone, BackboneSpec
from lnp.nn.dropout import dropout
from lnp.nn.graph_tensors import GraphTensors, InputFeatures
from lnp.nn.linear import Linear, multiply
from lnp.nn.sparse import Multiplier
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
            for inputs, outputs in pairwise(widths)
        )
        self.dropout = spec.dropout
        self.normalisation = spec.normalisation

    def embed(
        self, graph: GraphTensors, generator: Generator | None = None, *, propagation: Multiplier | None = None
    ) -> Tensor:
        """The hidden layer after activation and dropout; X itself where there is one layer only."""
        source = self.dropout_source(generator)
        if propagation is None:
            propagation = graph.propagation(self.normalisation)
        hidden: InputFeatures = graph.features
        for layer in list(self.layers)[:-1]:
            hidden = dropout(self._convolve(layer, hidden, propagation).relu(), self.dropout, source)
        return hidden  # type: ignore[return-value]

    def forward(
        self, graph: GraphTensors, generator: Generator | None = None, *, propagation: Multiplier | None = None
    ) -> Tensor:
        """The outputs Z.

        Args:
            graph: Features and propagation matrices.
            generator: Source of dropout in training mode.
            propagation: Takes the place of S, for methods that learn or change the graph.
        """
        if propagation is None:
            propagation = graph.propagation(self.normalisation)
        hidden = self.embed(graph, generator, propagation=propagation)
        return self._convolve(self.layers[-1], hidden, propagation)

    @staticmethod
    def _convolve(layer: nn.Module, features: InputFeatures, propagation: Multiplier) -> Tensor:
        assert isinstance(layer, Linear)
        assert layer.bias is not None
        return propagation @ multiply(features, layer.weight) + layer.bias
