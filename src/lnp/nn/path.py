r"""A small path beside a network: a node's own row of a fixed matrix, unmixed with its neighbours'."""

from __future__ import annotations

from torch import Tensor, nn

from lnp.nn.activation import relu_dropout
from lnp.nn.kept_product import KeptProduct
from lnp.nn.linear import Linear
from lnp.nn.sparse import Multiplier
from lnp.seeds import Generator

__all__ = ["Path"]


class Path(nn.Module):
    r""":math:`\mathrm{relu}(M W + b)\,V` for a fixed matrix M; V starts at zero, so at first nothing is added.

    Args:
        inputs: The columns of M.
        width: The columns of W.
        outputs: The columns of V.
        rate: Share of hidden entries dropped in training.
        generator: Draws the initial weights.
    """

    def __init__(self, inputs: int, width: int, outputs: int, rate: float, generator: Generator) -> None:
        super().__init__()
        self.inner = Linear(inputs, width, generator)
        self.outer = Linear(width, outputs, generator, bias=False)
        nn.init.zeros_(self.outer.weight)
        self.rate = rate
        self.first_product = KeptProduct()

    def forward(self, matrix: Tensor | Multiplier, generator: Generator | None) -> Tensor:
        """What is added to a network's outputs."""
        assert self.inner.bias is not None
        inner = self.first_product((matrix,), self.inner.weight) + self.inner.bias
        hidden = relu_dropout(inner, self.rate, generator if self.training else None)
        outputs: Tensor = self.outer(hidden)
        return outputs
