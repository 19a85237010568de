"""The graph convolutional network of Kipf and Welling (ICLR 2017)."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from torch import Tensor, nn

from lnp.nn.activation import relu_dropout
from lnp.nn.backbone import Backbone, BackboneSpec
from lnp.nn.graph_tensors import GraphTensors, InputFeatures
from lnp.nn.kept_product import KeptProduct
from lnp.nn.linear import Linear, multiply
from lnp.nn.recompute import recomputed
from lnp.nn.scratch import Scratch
from lnp.nn.sparse import Multiplier, SparseMatrix, transformed
from lnp.nn.two_layers import two_layers
from lnp.seeds import Generator

__all__ = ["GCN"]


class GCN(Backbone):
    r"""Rounds of neighbour averaging with linear maps.

    .. math:: Z = S\,\mathrm{relu}(S X W_0 + b_0)\,W_1 + b_1

    for two layers, with S symmetric or row-normalised (:mod:`lnp.nn.propagation`) and dropout after every hidden
    layer. Products are taken from the right (:math:`S (X W)`), so no matrix wider than a layer is ever propagated; on
    large graphs with dense features :math:`S X` is computed once instead (:mod:`lnp.nn.graph_tensors`).
    """

    def __init__(self, spec: BackboneSpec, generator: Generator) -> None:
        super().__init__()
        widths = [spec.inputs, *[spec.hidden] * (spec.layers - 1), spec.outputs]
        self.layers = nn.ModuleList(
            Linear(inputs, outputs, generator, initialisation=spec.initialisation)
            for inputs, outputs in pairwise(widths)
        )
        self.dropout = spec.dropout
        self.propagation = spec.propagation
        self.first_product = KeptProduct()

    def embed(
        self, graph: GraphTensors, generator: Generator | None = None, *, propagation: Multiplier | None = None
    ) -> Tensor:
        """The hidden layer after activation and dropout; X itself where there is one layer only."""
        count = len(self.layers) - 1
        if count == 0:
            return graph.features  # type: ignore[return-value]
        return self._compute(count, graph, propagation, self.dropout_source(generator))

    def forward(
        self,
        graph: GraphTensors,
        generator: Generator | None = None,
        *,
        propagation: Multiplier | None = None,
        rows: Tensor | None = None,
        scratch: Scratch | None = None,
    ) -> Tensor:
        """The outputs Z.

        Args:
            graph: Features and propagation matrices.
            generator: Source of dropout in training mode.
            propagation: Takes the place of S, for methods that learn or change the graph.
            rows: Nodes whose outputs are wanted, in this order; ``None`` for all. Others are not computed.
            scratch: Room that networks of one step share on a large graph.
        """
        compute = partial(self._compute, len(self.layers), graph, propagation, rows=rows, scratch=scratch)
        source = self.dropout_source(generator)
        if graph.recompute and len(self.layers) > 1 and not transformed():
            return recomputed(compute, source)
        return compute(source)

    def _compute(
        self,
        count: int,
        graph: GraphTensors,
        propagation: Multiplier | None,
        source: Generator | None,
        *,
        rows: Tensor | None = None,
        scratch: Scratch | None = None,
    ) -> Tensor:
        """The first ``count`` layers, at least one; of the last one the wanted rows."""
        layers = [layer for layer in self.layers if isinstance(layer, Linear)]
        first = None if propagation is not None else graph.propagated(self.propagation, layers[0].weight.shape[1])
        if propagation is None:
            propagation = graph.propagation(self.propagation)
        ends = propagation if rows is None else graph.propagation_rows(self.propagation, rows)
        lean = graph.lean and not transformed()
        if lean and first is not None and count == len(layers) == 2 and isinstance(ends, SparseMatrix):
            (one, one_bias), (two, two_bias) = ((layer.weight, layer.bias) for layer in layers)
            assert one_bias is not None
            assert two_bias is not None
            weights = one, one_bias, two, two_bias
            return two_layers(first, weights, ends, self.dropout, source, scratch or Scratch())
        hidden: InputFeatures = graph.features
        for number, layer in enumerate(layers[:count]):
            assert layer.bias is not None
            last = number == len(layers) - 1
            if number == 0 and first is not None:
                product = multiply(first if rows is None or not last else first[rows], layer.weight)
            elif number == 0 and not last and not lean and not graph.recompute:
                product = self.first_product((graph.features, propagation), layer.weight)
            else:
                product = (ends if last else propagation) @ multiply(hidden, layer.weight)
            values = product.add_(layer.bias) if lean else product + layer.bias
            if last:
                return values
            hidden = relu_dropout(values, self.dropout, source)
        assert isinstance(hidden, Tensor)
        return hidden
