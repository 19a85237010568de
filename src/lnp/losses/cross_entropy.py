"""Cross entropy, one value per node."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

__all__ = ["cross_entropy"]


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    r""":math:`-\log \mathrm{softmax}(z)_y` for each row.

    >>> import torch
    >>> round(cross_entropy(torch.zeros(1, 4), torch.tensor([2])).item(), 4)
    1.3863
    """
    return F.cross_entropy(logits, labels, reduction="none")
