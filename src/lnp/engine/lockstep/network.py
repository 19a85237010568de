"""The GCNs of all seeds as one: same weights, same draws, same outputs as each on its own, up to rounding."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from lnp.engine.lockstep.products import StackedGraph, StackedMatrix, multiply_stacks
from lnp.engine.lockstep.stack import on_stack
from lnp.nn.backbone import Backbone
from lnp.nn.gcn import GCN
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.linear import Linear
from lnp.seeds import Generator

__all__ = ["StackedGCN", "dropout_factors"]


class StackedGCN(Backbone):
    """A :class:`~lnp.nn.gcn.GCN` as ``vmap`` sees it: its parameters have the same names and hold one per seed.

    Args:
        network: The GCN of any of the seeds.
    """

    def __init__(self, network: GCN) -> None:
        super().__init__()
        self.layers = network.layers
        self.dropout = network.dropout
        self.propagation = network.propagation
        self._recent: Tensor | None = None

    def forget(self) -> None:
        """Must be called whenever the weights have changed."""
        self._recent = None

    def embed(self, graph: GraphTensors, generator: Generator | None = None) -> Tensor:
        """The hidden layer after activation and dropout."""
        return self._run(graph, generator, len(self.layers) - 1)

    def forward(self, graph: GraphTensors, generator: Generator | None = None) -> Tensor:
        """The outputs Z. ``graph`` is a :class:`StackedGraph`, ``generator`` a sequence with one for each seed."""
        return self._run(graph, generator, len(self.layers))

    def _run(self, graph: GraphTensors, generator: Generator | None, depth: int) -> Tensor:
        source = cast("Sequence[Generator] | None", self.dropout_source(generator))
        layers = cast("Sequence[Linear]", list(self.layers)[:depth])
        weights = [layer.weight for layer in layers]
        biases = [cast("nn.Parameter", layer.bias) for layer in layers]
        return on_stack(partial(self._compute, cast("StackedGraph", graph), source, depth), *weights, *biases)

    def _compute(
        self, graph: StackedGraph, generators: Sequence[Generator] | None, depth: int, *parameters: Tensor
    ) -> Tensor:
        propagation = graph.propagation(self.propagation)
        hidden: Any = graph.features
        for number, (weight, bias) in enumerate(zip(parameters[:depth], parameters[depth:], strict=True)):
            outputs = self._first(graph, weight) if number == 0 else propagation @ multiply_stacks(hidden, weight)
            if number == len(self.layers) - 1:
                return outputs + bias.unsqueeze(1)
            factors = None if generators is None else dropout_factors(generators, self.dropout, outputs.shape[1:])
            hidden = _Activation.apply(outputs, bias, factors, self.dropout)  # type: ignore[no-untyped-call]
        return cast("Tensor", hidden)

    def _first(self, graph: StackedGraph, weight: Tensor) -> Tensor:
        """S X W. An evaluation leaves it for the training step after it, which starts from the same weights."""
        features, propagation = graph.features, graph.propagation(self.propagation)
        if not isinstance(features, StackedMatrix):
            return propagation @ multiply_stacks(features, weight)
        if self._recent is not None:
            recalled: Tensor = _Recalled.apply(weight, self._recent, features, propagation)  # type: ignore[no-untyped-call]
            return recalled
        product = propagation @ (features @ weight)
        self._recent = None if torch.is_grad_enabled() else product
        return product


def dropout_factors(generators: Sequence[Generator], rate: float, shape: Sequence[int]) -> Tensor | None:
    """What :func:`lnp.nn.dropout.dropout` multiplies by, ``(S, *shape)``, drawn from each seed's own stream."""
    threshold = round(rate * 256)
    if threshold == 0:
        return None
    count = int(np.prod(shape))
    factors = np.empty((len(generators), count), np.float32)
    scale = np.float32(256 / (256 - threshold))
    for row, generator in zip(factors, generators, strict=True):
        words = generator.integers(0, 2**64, size=-(-count // 8), dtype=np.uint64)
        np.multiply(words.view(np.uint8)[:count] >= threshold, scale, out=row)
    return torch.from_numpy(factors.reshape(len(generators), *shape))


class _Recalled(torch.autograd.Function):
    """S X W where the product is known already."""

    @staticmethod
    def forward(
        ctx: Any, weight: Tensor, product: Tensor, features: StackedMatrix, propagation: StackedMatrix
    ) -> Tensor:
        ctx.matrices = features, propagation
        return product.detach()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        features, propagation = ctx.matrices
        passed = propagation.backward_block.multiply(gradient)
        return features.backward_block.multiply(passed), None, None, None


class _Activation(torch.autograd.Function):
    """relu(Z + b), then dropout. What is left above zero says by itself where the gradient passes."""

    @staticmethod
    def forward(ctx: Any, outputs: Tensor, bias: Tensor, factors: Tensor | None, rate: float) -> Tensor:
        hidden = (outputs + bias.unsqueeze(1)).relu_()
        ctx.scale = 1.0
        if factors is not None:
            hidden.mul_(factors)
            ctx.scale = 256 / (256 - round(rate * 256))
        ctx.save_for_backward(hidden)
        return hidden

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        (hidden,) = ctx.saved_tensors
        passed = torch.ops.aten.threshold_backward(gradient, hidden, 0)
        if ctx.scale != 1:
            passed.mul_(ctx.scale)
        return passed, passed.sum(dim=1), None, None
