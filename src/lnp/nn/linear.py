"""The affine map, initialised from an explicit generator."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn

from lnp.errors import check_choice
from lnp.nn.sparse import Multiplier
from lnp.seeds import Generator

__all__ = ["INITIALISATIONS", "Linear", "multiply"]

INITIALISATIONS = ("glorot", "fan-out")
"""``glorot``: weights U(±√(6/(in+out))), bias 0; ``fan-out``: both U(±1/√out), as in the released LNP code."""


class Linear(nn.Module):
    """:math:`X W + b` for X dense, sparse, or both side by side.

    Args:
        inputs: Columns of X.
        outputs: Columns of the result.
        generator: Draws the initial weights.
        bias: Whether there is a b.
        initialisation: One of :data:`INITIALISATIONS`.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        generator: Generator,
        *,
        bias: bool = True,
        initialisation: str = "glorot",
    ) -> None:
        super().__init__()
        check_choice("initialisation", initialisation, INITIALISATIONS)
        bound = math.sqrt(6 / (inputs + outputs)) if initialisation == "glorot" else 1 / math.sqrt(outputs)
        self.weight = nn.Parameter(_uniform((inputs, outputs), bound, generator))
        offset = _uniform((outputs,), 0.0 if initialisation == "glorot" else bound, generator)
        self.bias = nn.Parameter(offset) if bias else None

    def forward(self, features: Tensor | Multiplier) -> Tensor:
        """Applies the map."""
        product = multiply(features, self.weight)
        return product if self.bias is None else product + self.bias


def multiply(features: Tensor | Multiplier, weight: Tensor) -> Tensor:
    """:math:`X W`, for a narrow dense W two to three times faster than ``X @ W`` (forward and backward together).

    The gradient of W is a short and wide product either way. Where W lies in memory column by column, PyTorch takes it
    in the order that the linear algebra library is good at; turning a small W round costs next to nothing.
    """
    if isinstance(features, Tensor):
        return features @ weight.T.contiguous().T
    return features @ weight


def _uniform(shape: tuple[int, ...], bound: float, generator: Generator) -> Tensor:
    return torch.from_numpy(generator.uniform(-bound, bound, size=shape).astype(np.float32))
