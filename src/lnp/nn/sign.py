"""SIGN (Frasca et al., 2020): scalable inception graph networks, which propagate before they learn."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lnp.nn.activation import relu_dropout_
from lnp.nn.backbone import Backbone, BackboneSpec
from lnp.nn.dropout import dropout
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.hops import hop_products
from lnp.nn.linear import Linear
from lnp.nn.sparse import transformed
from lnp.seeds import Generator

__all__ = ["SIGN"]


class SIGN(Backbone):
    r"""One linear map for every hop, side by side, then one more.

    .. math:: Z = \mathrm{relu}([X W_0 \,\|\, S X W_1 \,\|\, \dots \,\|\, S^L X W_L] + b)\,W_o + b_o

    with dropout before the last map, S symmetric or row-normalised, and L the number of layers. The hops :math:`S^k X`
    are computed once (:mod:`lnp.nn.hops`). A node's output depends on its own rows of them alone: any part of the nodes
    can be computed apart from the rest.
    """

    propagates = False

    def __init__(self, spec: BackboneSpec, generator: Generator) -> None:
        super().__init__()
        maps = [
            Linear(spec.inputs, spec.hidden, generator, initialisation=spec.initialisation)
            for _ in range(spec.layers + 1)
        ]
        self.weights = nn.ParameterList(one.weight for one in maps)
        self.bias = nn.Parameter(torch.cat([one.bias.detach() for one in maps if one.bias is not None]))
        width = spec.hidden * (spec.layers + 1)
        self.readout = Linear(width, spec.outputs, generator, initialisation=spec.initialisation)
        self.dropout = spec.dropout
        self.propagation = spec.propagation

    def embed(self, graph: GraphTensors, generator: Generator | None = None) -> Tensor:
        """All hops side by side after activation and dropout, ``(n, hidden · (L + 1))``."""
        source = self.dropout_source(generator)
        products = hop_products(graph, self.propagation, list(self.weights))
        values = torch.cat(products, dim=1)
        if graph.lean and not transformed():  # many rows: fewer copies, the same bits
            return relu_dropout_(values.add_(self.bias), self.dropout, source)
        return dropout((values + self.bias).relu(), self.dropout, source)

    def forward(self, graph: GraphTensors, generator: Generator | None = None) -> Tensor:
        """The outputs Z."""
        outputs: Tensor = self.readout(self.embed(graph, generator))
        return outputs
