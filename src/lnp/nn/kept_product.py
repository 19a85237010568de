r"""The product of a first layer, computed once for each state of its weights.

Every epoch ends with an evaluation, and the next one begins with the same weights. A first layer multiplies them by
matrices that never change, :math:`S (X W)` for instance, before anything is dropped: the same numbers in both passes,
and on most graphs the dearest ones of a pass. So evaluation keeps them, and the next training pass takes them:

.. math::
    Y = M_k \cdots M_1 W, \qquad
    \frac{\partial L}{\partial W} = M_1^\top \cdots M_k^\top \frac{\partial L}{\partial Y}

needs nothing of how Y came about. All to the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from lnp.nn.linear import multiply
from lnp.nn.sparse import Multiplier, SparseMatrix, transformed

__all__ = ["KeptProduct"]

Factors = tuple[Tensor | SparseMatrix, ...]


class KeptProduct:
    """Remembers one product from a pass without gradient to the next pass with one.

    Nothing is kept where a factor may change or carry a gradient, and nothing longer than until it is taken. Weights
    are compared number by number with what they were: that takes little beside a product, and PyTorch's own count of
    changes misses those that a fused optimiser makes.
    """

    def __init__(self) -> None:
        self._known: _Known | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> KeptProduct:
        return KeptProduct()  # nobody wants a copy of the matrices along with one of a network

    def __call__(self, factors: Sequence[Tensor | Multiplier], *weights: Tensor) -> Tensor:
        """The factors, applied one after the other to the weights.

        Args:
            factors: M₁, …, M_k: X and S, for instance.
            weights: W; several, of networks that read the same, stand side by side.
        """
        fixed = _fixed(factors)
        if fixed is None or transformed() or not all(weight.is_leaf for weight in weights):
            return _product(factors, weights)
        known = self._known if self._known is not None and self._known.matches(fixed, weights) else None
        if not torch.is_grad_enabled():
            if known is None:
                known = self._known = _Known.of(fixed, weights)
            return known.value.detach()
        self._known = None  # the step that follows moves the weights
        if known is None:
            return _product(factors, weights)
        product: Tensor = _Taken.apply(fixed, known.value, *weights)  # type: ignore[no-untyped-call]
        return product


class _Known(NamedTuple):
    factors: Factors
    weights: list[Tensor]
    value: Tensor

    @classmethod
    def of(cls, factors: Factors, weights: Sequence[Tensor]) -> _Known:
        return cls(factors, [weight.detach().clone() for weight in weights], _product(factors, weights))

    def matches(self, factors: Factors, weights: Sequence[Tensor]) -> bool:
        """Whether this is the product of the same matrices as they are now."""
        return (
            len(self.factors) == len(factors)
            and len(self.weights) == len(weights)
            and all(one is other for one, other in zip(self.factors, factors, strict=True))
            and all(torch.equal(one, other) for one, other in zip(self.weights, weights, strict=True))
        )


class _Taken(torch.autograd.Function):
    """A known product, with the gradient of its weights."""

    @staticmethod
    def forward(ctx: Any, factors: Factors, value: Tensor, *weights: Tensor) -> Tensor:
        ctx.factors = factors
        ctx.widths = [weight.shape[1] for weight in weights]
        return value.detach()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        for factor in reversed(ctx.factors):
            # A dense product in the order that `multiply` sees to.
            gradient = (gradient.T @ factor).T if isinstance(factor, Tensor) else factor.turned() @ gradient
        return None, None, *torch.split(gradient, ctx.widths, dim=1)


def _fixed(factors: Sequence[Tensor | Multiplier]) -> Factors | None:
    """The factors where all are constants; ``None`` otherwise."""
    known = tuple(
        factor
        for factor in factors
        if isinstance(factor, SparseMatrix) or (isinstance(factor, Tensor) and not factor.requires_grad)
    )
    return known if len(known) == len(factors) else None


def _product(factors: Sequence[Tensor | Multiplier], weights: Sequence[Tensor]) -> Tensor:
    product = weights[0] if len(weights) == 1 else torch.cat(list(weights), dim=1)
    for factor in factors:
        product = multiply(factor, product)
    return product
