r"""Relu and dropout as one step: every further copy of a hidden layer takes time, and on a large graph room.

.. math:: y = f \odot \mathrm{relu}(a), \qquad
    \frac{\partial L}{\partial a} = \frac{256}{256 - t} \, [y > 0] \odot \frac{\partial L}{\partial y},

f the factors of :func:`~lnp.nn.dropout.dropout`: 0 or 256 / (256 − t), t = 256 · rate rounded. Where y > 0 the entry
was positive and not dropped, elsewhere the gradient is 0: y, which the next layer needs anyway, is all that has to be
kept. Taken one after the other, relu and dropout keep three matrices of this size: relu(a), f and y.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from lnp.nn.dropout import dropout
from lnp.nn.sparse import transformed
from lnp.seeds import Generator

__all__ = ["relu_dropout", "relu_dropout_"]

BLOCK = 2**16
"""Entries whose factors are drawn at a time; a multiple of the eight that one random number serves."""


def relu_dropout(values: Tensor, rate: float, generator: Generator | None) -> Tensor:
    """``dropout(values.relu(), rate, generator)`` of values that nobody else needs: in place where that can be.

    Args:
        values: a.
        rate: Share of entries that are dropped.
        generator: Source of dropout; ``None`` in evaluation.
    """
    if transformed():
        return dropout(values.relu(), rate, generator)
    return relu_dropout_(values, rate, generator)


def relu_dropout_(values: Tensor, rate: float, generator: Generator | None, *, block: int = BLOCK) -> Tensor:
    """``dropout(values.relu(), rate, generator)`` in place, to the same bits and from the same random numbers.

    Args:
        values: a, contiguous; overwritten by y.
        rate: Share of entries that are dropped.
        generator: Source of dropout; ``None`` in evaluation.
        block: Entries whose factors are drawn at a time, a multiple of 8.
    """
    threshold = 0 if generator is None else round(rate * 256)
    result: Tensor = _ReluDropout.apply(values, threshold, generator, block)  # type: ignore[no-untyped-call]
    return result


class _ReluDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, threshold: int, generator: Generator | None, block: int) -> Tensor:
        values.relu_()
        ctx.scale = 256 / (256 - threshold)
        if generator is not None and threshold > 0:
            flat = values.view(-1)
            for start in range(0, flat.numel(), block):
                part = flat[start : start + block]
                words = generator.integers(0, 2**64, size=-(-part.numel() // 8), dtype=np.uint64)
                factors = (words.view(np.uint8)[: part.numel()] >= threshold).astype(np.float32)
                factors *= ctx.scale
                part.mul_(torch.from_numpy(factors).to(values.device))
        ctx.mark_dirty(values)
        ctx.save_for_backward(values)
        return values

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        (result,) = ctx.saved_tensors
        passed = torch.ops.aten.threshold_backward(gradient, result, 0)
        return passed.mul_(ctx.scale), None, None, None
