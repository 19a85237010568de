"""Dropout from an explicit stream of random numbers."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lnp.seeds import Generator

__all__ = ["dropout"]


def dropout(values: Tensor, rate: float, generator: Generator | None) -> Tensor:
    """Zeroes each entry with probability ``rate`` and scales the rest so that the expectation stays.

    The rate is rounded to a multiple of 1/256 (0.5 is exact): one random byte per entry is several times faster than
    one random number per entry, and dropout is otherwise the dearest part of a step on a small graph. The scale uses
    the rounded rate, so the expectation is exact. ``generator=None`` means evaluation: nothing is dropped.
    """
    threshold = round(rate * 256)
    if generator is None or threshold == 0:
        return values
    words = generator.integers(0, 2**64, size=-(-values.numel() // 8), dtype=np.uint64)
    bytes_ = words.view(np.uint8)[: values.numel()].reshape(values.shape)
    factors = (bytes_ >= threshold).astype(np.float32)
    factors *= 256 / (256 - threshold)
    return values * torch.from_numpy(factors).to(values.device)
