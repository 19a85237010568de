r"""A GCN of two layers on a large graph as one step with one gradient.

.. math::
    H = \mathrm{relu\,dropout}(F W_0 + b_0), \qquad Z = S (H W_1) + b_1, \qquad F = S X ,

and with :math:`G = S^\top \partial L / \partial Z`,

.. math::
    \frac{\partial L}{\partial W_1} = H^\top G, \qquad
    D = \frac{256}{256 - t} [H > 0] \odot G W_1^\top, \qquad
    \frac{\partial L}{\partial W_0} = F^\top D .

These are the numbers of :mod:`lnp.nn.gcn`, layer by layer. In one step :math:`H W_1` and D are nobody else's, so they
are written to a :class:`~lnp.nn.scratch.Scratch`, which the networks of a method may share; and D needs no second
matrix to be masked in. Of n × h numbers only H is kept.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from lnp.nn.activation import relu_dropout_
from lnp.nn.scratch import Scratch
from lnp.nn.sparse import SparseMatrix
from lnp.seeds import Generator

__all__ = ["two_layers"]


def two_layers(
    propagated: Tensor,
    weights: tuple[Tensor, Tensor, Tensor, Tensor],
    propagation: SparseMatrix,
    rate: float,
    generator: Generator | None,
    scratch: Scratch,
) -> Tensor:
    """Z.

    Args:
        propagated: F, ``(n, d)``.
        weights: W₀, b₀, W₁, b₁.
        propagation: S, or those of its rows for which Z is wanted.
        rate: Share of hidden entries that are dropped.
        generator: Source of dropout; ``None`` in evaluation.
        scratch: Room for what is not kept.
    """
    options = (propagation, rate, generator, scratch)
    outputs: Tensor = _TwoLayers.apply(propagated, *weights, options)  # type: ignore[no-untyped-call]
    return outputs


class _TwoLayers(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        propagated: Tensor,
        first: Tensor,
        first_bias: Tensor,
        second: Tensor,
        second_bias: Tensor,
        options: tuple[SparseMatrix, float, Generator | None, Scratch],
    ) -> Tensor:
        propagation, rate, generator, scratch = options
        (n, _), (width, classes) = propagated.shape, second.shape
        if any(ctx.needs_input_grad):
            hidden = propagated.new_empty(n, width)
            product = scratch.matrix("turn", (n, classes), propagated, room=width)
        else:
            hidden = scratch.matrix("hidden", (n, width), propagated)
            product = scratch.matrix("turn", (n, classes), propagated)
        torch.mm(propagated, _by_column(first), out=hidden).add_(first_bias)
        relu_dropout_(hidden, rate, generator)
        outputs = (propagation @ torch.mm(hidden, _by_column(second), out=product)).add_(second_bias)
        ctx.scale = 256 / (256 - (0 if generator is None else round(rate * 256)))
        ctx.propagation, ctx.scratch = propagation, scratch
        ctx.save_for_backward(propagated, second, hidden)
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        propagated, second, hidden = ctx.saved_tensors
        of_product = ctx.propagation.turned() @ gradient
        of_second = torch.mm(of_product.T, hidden).T
        of_hidden = ctx.scratch.matrix("turn", hidden.shape, hidden)
        torch.mm(of_product, second.T.contiguous(), out=of_hidden)
        torch.ops.aten.threshold_backward.grad_input(of_hidden, hidden, 0, grad_input=of_hidden)
        of_hidden.mul_(ctx.scale)
        of_first = torch.mm(of_hidden.T, propagated).T
        return None, of_first, of_hidden.sum(dim=0), of_second, gradient.sum(dim=0), None


def _by_column(weight: Tensor) -> Tensor:
    """The layout in memory with which narrow products are fastest (:func:`lnp.nn.linear.multiply`)."""
    return weight.T.contiguous().T
