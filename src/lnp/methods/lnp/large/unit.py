r"""Unit rows, class means and their gradients: what posterior, decoder and prior do block by block.

With :math:`h = s f / \|f\|` and :math:`g = \partial L / \partial h`,

.. math:: \frac{\partial L}{\partial f} = \frac{s}{\|f\|} \left( g - h \frac{\langle g, h \rangle}{s^2} \right) .

f is kept, h is not: a block of it is one product away.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lnp.methods.lnp.embedding import Labelled
from lnp.nn.prototypes import WholeSums

__all__ = ["ClassMeans", "factors_of", "slices", "to_outputs_"]

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


class ClassMeans:
    """The mean of h over the members of each class, and the way back of its gradient. The outputs are not kept here.

    Where the rows are those of a part of the graph, their sums become those of the whole, and the gradient of the sums
    goes back as automatic differentiation says, through messages to other processes where there are any.

    Args:
        outputs: f, ``(n, c)``, without gradient.
        members: Rows of the members, and their classes.
        scale: s.
        whole: Where the rows are those of a part of the graph: turns their sums into those of the whole.

    Attributes:
        vectors: ``(c, c)``.
        counts: How many members each class has, ``(c, 1)``.
    """

    def __init__(self, outputs: Tensor, members: Labelled, scale: float, whole: WholeSums | None = None) -> None:
        self.members, self.scale = members, scale
        (nodes, labels), width = members, outputs.shape[1]
        sums = outputs.new_zeros(width, width)
        for part in slices(labels.numel(), width):
            rows = outputs.index_select(0, nodes[part])
            sums += torch.zeros_like(sums).index_add_(0, labels[part], rows * factors_of(rows, scale))
        counts = torch.bincount(labels, minlength=width)
        self._ends: tuple[Tensor, Tensor] | None = None
        if whole is not None:
            with torch.enable_grad():
                own = sums.requires_grad_()
                total, counts = whole(own, counts)
            self._ends, sums = (own, total), total.detach().clone()
        self.counts = counts.to(sums.dtype).unsqueeze(1)
        self.vectors = sums.div_(self.counts.clamp(min=1))

    def to_rows(self, gradient: Tensor) -> Tensor:
        """From the gradient of the means to that of h at any member of each class, ``(c, c)``."""
        shares = gradient / self.counts.clamp(min=1)
        if self._ends is None:
            return shares
        own, total = self._ends
        return torch.autograd.grad(total, own, shares, retain_graph=True)[0]

    def pass_to_members_(self, gradient: Tensor, outputs: Tensor, of_means: Tensor) -> None:
        """Adds what the gradient of the means makes of the members' rows to ``gradient``, that of f."""
        shares, (nodes, labels) = self.to_rows(of_means), self.members
        for part in slices(labels.numel(), outputs.shape[1]):
            rows = outputs.index_select(0, nodes[part])
            factors = factors_of(rows, self.scale)
            passed = to_outputs_(shares.index_select(0, labels[part]), rows.mul_(factors), factors, self.scale)
            gradient.index_add_(0, nodes[part], passed)
