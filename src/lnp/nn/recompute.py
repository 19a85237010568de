"""Activations computed again in the backward pass instead of kept, with the same dropout."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from lnp.seeds import Generator

__all__ = ["recomputed"]


def recomputed(function: Callable[[Generator | None], Tensor], generator: Generator | None) -> Tensor:
    """``function(generator)``, of which only the result is kept; the rest is computed again when a gradient needs it.

    The second computation draws from a copy of the generator as it was before the first, so it gives the same bits and
    leaves the generator alone: training goes on exactly as if everything had been kept.

    Args:
        function: Computes a tensor, for instance the outputs of a network, from a source of dropout alone.
        generator: That source; ``None`` in evaluation.
    """
    if not torch.is_grad_enabled():
        return function(generator)
    source = generator if generator is None else _Replay(generator)

    def compute() -> Tensor:
        return function(source if source is None else source.take())

    result: Tensor = checkpoint(compute, use_reentrant=False, preserve_rng_state=False)
    return result


class _Replay:
    """Gives a generator the first time, and copies of it as it was then ever after."""

    def __init__(self, generator: Generator) -> None:
        self.generator = generator
        self.position = generator.bit_generator.state
        self.taken = False

    def take(self) -> Generator:
        if not self.taken:
            self.taken = True
            return self.generator
        again = Generator(type(self.generator.bit_generator)())
        again.bit_generator.state = self.position
        return again
