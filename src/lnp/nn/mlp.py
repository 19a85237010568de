"""The multilayer perceptron: what a GCN is without the graph."""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn

from lnp.nn.backbone import Backbone, BackboneSpec
from lnp.nn.batch_norm import BatchNorm
from lnp.nn.dropout import dropout
from lnp.nn.graph_tensors import GraphTensors, InputFeatures
from lnp.nn.linear import Linear
from lnp.seeds import Generator

__all__ = ["MLP"]


class MLP(Backbone):
    r"""Linear – ReLU – BatchNorm – dropout, repeated, then a linear map (the order used in LINKX).

    .. math:: Z = \mathrm{BN}(\mathrm{relu}(X W_0 + b_0))\,W_1 + b_1

    for two layers; one layer is logistic regression.
    """

    propagates = False

    def __init__(self, spec: BackboneSpec, generator: Generator) -> None:
        super().__init__()
        widths = [spec.inputs, *[spec.hidden] * (spec.layers - 1), spec.outputs]
        self.layers = nn.ModuleList(
            Linear(inputs, outputs, generator, initialisation=spec.initialisation)
            for inputs, outputs in pairwise(widths)
        )
        self.norms = nn.ModuleList(BatchNorm(spec.hidden) for _ in range(spec.layers - 1))
        self.dropout = spec.dropout

    def embed(self, graph: GraphTensors, generator: Generator | None = None) -> Tensor:
        """The last hidden layer after normalisation and dropout."""
        source = self.dropout_source(generator)
        hidden: InputFeatures = graph.features
        for layer, norm in zip(list(self.layers)[:-1], self.norms, strict=True):
            hidden = dropout(norm(layer(hidden).relu()), self.dropout, source)
        return hidden  # type: ignore[return-value]

    def forward(self, graph: GraphTensors, generator: Generator | None = None) -> Tensor:
        """The outputs Z."""
        outputs: Tensor = self.layers[-1](self.embed(graph, generator))
        return outputs
