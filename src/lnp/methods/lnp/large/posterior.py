r"""The posterior's logits of many nodes from its network's outputs, and the way back of their gradient.

Every rule of :mod:`lnp.methods.lnp.posterior` is

.. math::
    \bar y_i = \tfrac12 \left( h_i + \alpha_i r_{y_i} + (1 - \alpha_i) r_{b_i} \right), \qquad
    b_i = \arg\max_j \langle h_i, r_j \rangle ,

with :math:`\alpha_i = 1` on T_C, 0 where no label is given, and
:math:`\max(0, \langle h_i, r_{y_i} \rangle / (s \|r_{y_i}\|))` on T_N: the products that choose b hold the cosine, too.
With :math:`g = \frac12 \partial L / \partial \bar y`, the gradient of :math:`\alpha_i` is
:math:`\langle g_i, r_{y_i} - r_{b_i} \rangle`. What it makes of h along h itself is lost where rows are scaled to unit
norm, so it is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.large.unit import ClassMeans, factors_of, slices, to_outputs_
from lnp.nn.prototypes import WholeSums

__all__ = ["Anchors", "PosteriorLogits", "Rules"]

BY_COSINE = -1.0
"""Where a share is to be computed."""

SMALLEST = 1e-8
"""Norms of prototypes below this count as this in a cosine."""


class Rules(NamedTuple):
    """Which rule each node follows: its given label (0 where there is none), and its share or :data:`BY_COSINE`."""

    given: Tensor
    share: Tensor

    @classmethod
    def of(cls, given: Tensor, trusted: Labelled, noisy: Labelled | None, grown_as: str, like: Tensor) -> Rules:
        """Nodes that joined T_C are in both sets; ``grown_as`` says whose rule they follow."""
        share = like.new_zeros(given.numel(), 1)
        sets = [(trusted, 1.0)] if noisy is None else [(noisy, BY_COSINE), (trusted, 1.0)]
        for labelled, value in sets if grown_as == "trusted" else reversed(sets):
            share[labelled.nodes] = value
        return cls(given.clamp(min=0).unsqueeze(1), share)


class Anchors:
    """Prototypes, and what blocks of rows make of them."""

    def __init__(self, means: ClassMeans) -> None:
        vectors = means.vectors
        self.means, self.vectors = means, vectors
        self.half, self.turned = vectors / 2, vectors.T.contiguous()
        absent = (means.counts == 0).T
        self.absent = absent if bool(absent.any()) else None
        self.inverse = 1 / torch.linalg.vector_norm(vectors, dim=1).clamp(min=SMALLEST).mul(means.scale)

    def block(self, unit: Tensor, given: Tensor, share: Tensor, result: Tensor) -> tuple[Tensor, Tensor]:
        """Fills ``result`` with the logits of a block and gives b and α, ``(k, 1)``."""
        products = unit @ self.turned
        cosines = products.gather(1, given).mul_(self.inverse[given])
        if self.absent is not None:
            products.masked_fill_(self.absent, -torch.inf)
        nearest = _places_of_largest(products)
        alpha = torch.where(share < 0, cosines.clamp_(min=0), share)
        base = self.half.index_select(0, nearest)
        offset = self.half.index_select(0, given.squeeze(1)).sub_(base)
        torch.addcmul(base, alpha, offset, out=result).add_(unit, alpha=0.5)
        return nearest.unsqueeze(1), alpha


class PosteriorLogits:
    r""":math:`\bar y` of all nodes and its derivative. The outputs themselves are not kept here.

    Args:
        outputs: f of the posterior's network, ``(n, c)``.
        trusted: Y_C with the nodes that joined it; they make the prototypes.
        rules: Which rule each node follows.
        scale: s.
        whole: Where the rows are those of a part of the graph: turns sums over members into those of the whole.
    """

    def __init__(
        self, outputs: Tensor, trusted: Labelled, rules: Rules, scale: float, whole: WholeSums | None = None
    ) -> None:
        self.rules, self.scale = rules, scale
        self.anchors = Anchors(ClassMeans(outputs, trusted, scale, whole))
        self.factors, self.alpha = torch.empty_like(rules.share), torch.empty_like(rules.share)
        self.nearest = torch.empty_like(rules.given)

    def logits(self, outputs: Tensor) -> Tensor:
        r""":math:`\bar y`, ``(n, c)``, from f."""
        (given, share), result = self.rules, torch.empty_like(outputs)
        for rows in slices(*outputs.shape):
            self.factors[rows] = factors_of(outputs[rows], self.scale)
            unit = outputs[rows] * self.factors[rows]
            self.nearest[rows], self.alpha[rows] = self.anchors.block(unit, given[rows], share[rows], result[rows])
        return result

    def to_outputs_(self, gradient: Tensor, outputs: Tensor) -> Tensor:
        r"""From the gradient of :math:`\bar y` to that of f, in place; after :meth:`logits` of the same f."""
        (given, share), anchors = self.rules, self.anchors
        vectors = anchors.vectors
        of_vectors, pulled = torch.zeros_like(vectors), torch.zeros_like(vectors)
        for rows in slices(*outputs.shape):
            half = gradient[rows].mul_(0.5)
            y, b, a = given[rows], self.nearest[rows], self.alpha[rows]
            unit = outputs[rows] * self.factors[rows]
            weights = torch.zeros_like(unit).scatter_(1, b, 1 - a).scatter_add_(1, y, a)
            of_vectors.addmm_(weights.T, half)
            products = half @ anchors.turned
            of_alpha = (products.gather(1, y) - products.gather(1, b)).mul_((share[rows] < 0) & (a > 0))
            of_alpha.mul_(anchors.inverse[y])
            pulled.addmm_(weights.zero_().scatter_(1, y, of_alpha).T, unit)
            half.addcmul_(of_alpha, vectors.index_select(0, y.squeeze(1)))
            to_outputs_(half, unit, self.factors[rows], self.scale)
        # A cosine does not change with the length of its prototype.
        squares = vectors.square().sum(dim=1, keepdim=True)
        along = (pulled * vectors).sum(dim=1, keepdim=True) / squares.clamp(min=SMALLEST**2)
        of_vectors += pulled - along * vectors
        anchors.means.pass_to_members_(gradient, outputs, of_vectors)
        return gradient


def _places_of_largest(values: Tensor) -> Tensor:
    """The column of the largest entry of each row; of several the first."""
    if values.device.type != "cpu":
        return values.argmax(dim=1)
    return torch.from_numpy(values.numpy().argmax(axis=1))  # a third of the time of PyTorch's on rows this short
