r"""The prior's logits of many nodes from its network's outputs, and the way back of their gradient.

Both rules of :mod:`lnp.methods.lnp.prior` are :math:`\bar y_i = (1 - \sigma_i) h_i + \sigma_i r_{y_i}`, with
:math:`\sigma_i = \frac12` on T_N in v2 and 0 elsewhere.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.large.unit import ClassMeans, factors_of, slices, to_outputs_
from lnp.nn.prototypes import WholeSums

__all__ = ["PriorLogits"]


class PriorLogits:
    r""":math:`\bar y` of all nodes and its derivative. The outputs themselves are not kept here.

    Args:
        outputs: f of the prior's network, ``(n, c)``.
        noisy: Y_N in v2, ``None`` in v1.
        scale: s.
        whole: Where the rows are those of a part of the graph: turns sums over members into those of the whole.
    """

    def __init__(self, outputs: Tensor, noisy: Labelled | None, scale: float, whole: WholeSums | None = None) -> None:
        self.scale = scale
        self.share = outputs.new_zeros(outputs.shape[0], 1)
        self.given = torch.zeros(outputs.shape[0], dtype=torch.int64, device=outputs.device)
        self.factors = torch.empty_like(self.share)
        self.means: ClassMeans | None = None
        if noisy is not None:
            self.share[noisy.nodes] = 0.5
            self.given[noisy.nodes] = noisy.labels
            self.means = ClassMeans(outputs, noisy, scale, whole)

    def logits(self, outputs: Tensor) -> Tensor:
        r""":math:`\bar y`, ``(n, c)``, from f."""
        share, result = self.share, torch.empty_like(outputs)
        for rows in slices(*outputs.shape):
            self.factors[rows] = factors_of(outputs[rows], self.scale)
            torch.mul(outputs[rows], self.factors[rows] * (1 - share[rows]), out=result[rows])
            if self.means is not None:
                result[rows].addcmul_(share[rows], self.means.vectors.index_select(0, self.given[rows]))
        return result

    def to_outputs_(self, gradient: Tensor, outputs: Tensor) -> Tensor:
        r"""From the gradient of :math:`\bar y` to that of f, in place; after :meth:`logits` of the same f."""
        share, given, shares = self.share, self.given, None
        if self.means is not None:
            shares = torch.zeros_like(self.means.vectors)
            for rows in slices(*outputs.shape):
                shares += torch.zeros_like(shares).index_add_(0, given[rows], gradient[rows] * share[rows])
            shares = self.means.to_rows(shares).mul_(2)  # times σ = 1/2 below
        for rows in slices(*outputs.shape):
            part = gradient[rows].mul_(1 - share[rows])
            if shares is not None:
                part.addcmul_(share[rows], shares.index_select(0, given[rows]))
            to_outputs_(part, outputs[rows] * self.factors[rows], self.factors[rows], self.scale)
        return gradient
