"""Softmax over few classes."""

from __future__ import annotations

from torch import Tensor

__all__ = ["NARROW", "softmax"]

NARROW = 10
"""Up to this many classes the detour pays."""


def softmax(logits: Tensor) -> Tensor:
    """Class probabilities of each row of ``(n, c)`` logits.

    PyTorch's kernel works along rows, and rows of three or seven numbers leave its vector units idle. Along the columns
    of the transpose it takes all nodes at once: two to four times faster, copies included, forward and backward.
    """
    if logits.shape[1] > NARROW:
        return logits.softmax(dim=1)
    return logits.T.contiguous().softmax(dim=0).T.contiguous()
