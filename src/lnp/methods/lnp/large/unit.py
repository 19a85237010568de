r"""Unit rows, class means and their gradients: what posterior, decoder and prior do block by block.

With :math:`h = s f / \|f\|` and :math:`g = \partial L / \partial h`,

.. math:: \frac{\partial L}{\partial f} = \frac{s}{\|f\|} \left( g - h \frac{\langle g, h \rangle}{s^2} \right) .

f is kept, h is not: a block of it is one product away.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["class_means", "factors_of", "pass_to_members_", "slices", "to_outputs_"]

ENTRIES = 2**18
"""Numbers in a block: 1 MiB, so that a handful of blocks fits into a cache."""

SMALLEST = 1e-12
"""Norms below this count as this."""


def slices(count: int, width: int, entries: int | None = None) -> list[slice]:
    """Blocks of rows of ``width`` numbers that cover ``count`` rows."""
    size = max(1, (entries or ENTRIES) // width)
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def factors_of(outputs: Tensor, scale: float) -> Tensor:
    r""":math:`s / \|f_i\|`, ``(k, 1)``."""
    norms: Tensor = torch.linalg.vector_norm(outputs, dim=1, keepdim=True)
    return scale / norms.clamp_(min=SMALLEST)


def to_outputs_(gradient: Tensor, unit: Tensor, factors: Tensor, scale: float) -> Tensor:
    """From the gradient of h to that of f, in place."""
    along = (gradient * unit).sum(dim=1, keepdim=True).mul_(-1 / scale**2)
    along.masked_fill_(factors >= scale / SMALLEST, 0)  # a norm that counts as the smallest is a constant
    return gradient.addcmul_(along, unit).mul_(factors)


def class_means(
    outputs: Tensor, nodes: Tensor | None, labels: Tensor, class_count: int, scale: float
) -> tuple[Tensor, Tensor]:
    """The mean of h over the members of each class, ``(c, c)``, and how many there are, ``(c, 1)``.

    Args:
        outputs: f, ``(n, c)``.
        nodes: Rows of the members; ``None`` for all.
        labels: Their classes.
        class_count: c.
        scale: s.
    """
    sums = outputs.new_zeros(class_count, outputs.shape[1])
    for part in slices(labels.numel(), outputs.shape[1]):
        rows = outputs[part] if nodes is None else outputs.index_select(0, nodes[part])
        sums += torch.zeros_like(sums).index_add_(0, labels[part], rows * factors_of(rows, scale))
    counts = torch.bincount(labels, minlength=class_count).to(sums.dtype).unsqueeze(1)
    return sums.div_(counts.clamp(min=1)), counts


def pass_to_members_(
    gradient: Tensor, outputs: Tensor, nodes: Tensor, labels: Tensor, of_means: Tensor, counts: Tensor, scale: float
) -> None:
    """Adds what the gradient of the class means makes of the members' rows to ``gradient``, that of f."""
    shares = of_means / counts.clamp(min=1)
    for part in slices(labels.numel(), outputs.shape[1]):
        rows = outputs.index_select(0, nodes[part])
        factors = factors_of(rows, scale)
        passed = to_outputs_(shares.index_select(0, labels[part]), rows.mul_(factors), factors, scale)
        gradient.index_add_(0, nodes[part], passed)
