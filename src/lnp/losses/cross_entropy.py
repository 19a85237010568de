"""Cross entropy, one value per node."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

__all__ = ["cross_entropy"]


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    r""":math:`-\log \mathrm{softmax}(z)_y` for each row.

    >>> import torch
    >>> cross_entropy(torch.zeros(1, 4), torch.tensor([2])).round(decimals=4).tolist()
    [1.3863]
    """
    return F.cross_entropy(logits, labels, reduction="none")
