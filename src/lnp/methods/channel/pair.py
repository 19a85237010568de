r"""Two networks of one shape, computed side by side.

The halves (:mod:`lnp.methods.channel.halves`) read the same X, S and A in every step. One after the other they multiply
each twice; here once, by the weights of both:

.. math:: S X [W_0 \,\|\, W_0'] = [S X W_0 \,\|\, S X W_0']

and so on for every layer, average and path. Random numbers are drawn as the networks would draw them one after the
other, so outputs and gradients are the same up to rounding. That holds for graph convolutions on small graphs, where a
step is short and its overhead counts; others are computed one by one.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnp.methods.channel.prior import Prior
from lnp.nn.dropout import dropout_factors
from lnp.nn.gcn import GCN
from lnp.nn.graph_tensors import GraphTensors, InputFeatures
from lnp.nn.linear import Linear, multiply
from lnp.nn.path import Path
from lnp.nn.sparse import Multiplier
from lnp.seeds import Generator

__all__ = ["both_logits"]


def both_logits(
    networks: Sequence[Prior], graph: GraphTensors, variant: str, generator: Generator | None, *, bound: float
) -> Sequence[Tensor]:
    """The logits of both networks; arguments as in :meth:`~lnp.methods.channel.prior.Prior.forward`."""
    backbones = [network.backbone for network in networks]
    gcns = [backbone for backbone in backbones if isinstance(backbone, GCN)]
    if len(gcns) < len(networks) or graph.lean or graph.recompute:
        return [network(graph, variant, generator, bound=bound) for network in networks]
    paths = [getattr(network, variant) for network in networks] if variant in ("features", "links") else []
    hidden, beside = _draw(gcns, paths, graph.node_count, generator)
    first = networks[0]
    config = first.config
    propagation = graph.propagation(config.similar_propagation if variant == "similar" else config.propagation)
    logits = _convolve(gcns, graph, propagation, hidden)
    if variant in ("smooth", "similar"):
        logits = first.smooth(logits, propagation)
    elif paths:
        logits = logits + _add(paths, graph.features if variant == "features" else graph.links, beside)
    return first.bounded(logits.view(graph.node_count, len(networks), -1), bound).unbind(1)


def _draw(
    gcns: Sequence[GCN], paths: Sequence[Path], node_count: int, generator: Generator | None
) -> tuple[list[Tensor | None], Tensor | None]:
    """What the hidden layers and the paths are multiplied by, drawn network by network."""
    hidden: list[list[Tensor]] = [[] for _ in range(len(gcns[0].layers) - 1)]
    beside: list[Tensor] = []
    for number, gcn in enumerate(gcns):
        source = gcn.dropout_source(generator)
        for drawn, layer in zip(hidden, _linear(gcn)[:-1], strict=True):
            _keep(drawn, dropout_factors((node_count, layer.weight.shape[1]), gcn.dropout, source))
        if paths:
            path = paths[number]
            _keep(beside, dropout_factors((node_count, path.inner.weight.shape[1]), path.rate, source))
    return [_joined(drawn) for drawn in hidden], _joined(beside)


def _convolve(
    gcns: Sequence[GCN], graph: GraphTensors, propagation: Multiplier, factors: list[Tensor | None]
) -> Tensor:
    """The outputs of all graph convolutions, one behind the other in each row."""
    hidden: Tensor | None = None
    for number, layers in enumerate(zip(*map(_linear, gcns), strict=True)):
        if hidden is None:
            weights = (layer.weight for layer in layers)
            product = gcns[0].first_product((graph.features, propagation), *weights)
        else:
            product = propagation @ _each(hidden, layers)
        values = product + _biases(layers)
        if number == len(factors):
            return values
        hidden = _dropped(values.relu(), factors[number])
    raise AssertionError("A graph convolution has at least one layer.")


def _add(paths: Sequence[Path], matrix: InputFeatures, factors: Tensor | None) -> Tensor:
    """What all paths add to the logits, one behind the other in each row."""
    inner = [path.inner for path in paths]
    product = paths[0].first_product((matrix,), *(one.weight for one in inner))
    hidden = (product + _biases(inner)).relu()
    return _each(_dropped(hidden, factors), [path.outer for path in paths])


def _each(values: Tensor, linear: Sequence[Linear]) -> Tensor:
    """Every network's columns times its own weights."""
    parts = values.chunk(len(linear), dim=1)
    return torch.cat([multiply(part, one.weight) for part, one in zip(parts, linear, strict=True)], dim=1)


def _linear(gcn: GCN) -> list[Linear]:
    return [layer for layer in gcn.layers if isinstance(layer, Linear)]


def _biases(linear: Sequence[Linear]) -> Tensor:
    return torch.cat([one.bias for one in linear if one.bias is not None])


def _dropped(values: Tensor, factors: Tensor | None) -> Tensor:
    return values if factors is None else values * factors.to(values.device)


def _keep(drawn: list[Tensor], factors: Tensor | None) -> None:
    if factors is not None:
        drawn.append(factors)


def _joined(drawn: list[Tensor]) -> Tensor | None:
    return torch.cat(drawn, dim=1) if drawn else None
