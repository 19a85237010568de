"""Dropout from an explicit stream of random numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from lnp.seeds import Generator

__all__ = ["dropout", "dropout_factors"]


def dropout(values: Tensor, rate: float, generator: Generator | None) -> Tensor:
    """Zeroes each entry with probability ``rate`` and scales the rest so that the expectation stays.

    ``generator=None`` means evaluation: nothing is dropped.
    """
    factors = dropout_factors(values.shape, rate, generator)
    return values if factors is None else values * factors.to(values.device)


def dropout_factors(shape: Sequence[int], rate: float, generator: Generator | None) -> Tensor | None:
    """What :func:`dropout` multiplies values of that shape by; ``None`` where nothing is dropped.

    The rate is rounded to a multiple of 1/256 (0.5 is exact): one random byte per entry is several times faster than
    one random number per entry, and dropout is otherwise the dearest part of a step on a small graph. The scale uses
    the rounded rate, so the expectation is exact.
    """
    threshold = round(rate * 256)
    if generator is None or threshold == 0:
        return None
    count = math.prod(shape)
    words = generator.integers(0, 2**64, size=-(-count // 8), dtype=np.uint64)
    bytes_ = words.view(np.uint8)[:count].reshape(shape)
    factors = (bytes_ >= threshold).astype(np.float32)
    factors *= 256 / (256 - threshold)
    return torch.from_numpy(factors)
