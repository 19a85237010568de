"""Label prototypes: the mean embedding of the nodes that carry a label."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["Prototypes", "WholeSums", "class_prototypes", "class_sums"]

WholeSums = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""From the sums and counts of a part of the graph to those of the whole."""


class Prototypes(NamedTuple):
    """One vector per class, and which classes have any node behind theirs."""

    vectors: Tensor
    present: Tensor

    def nearest(self, embeddings: Tensor) -> Tensor:
        r"""For every node the prototype with the largest inner product, :math:`\bar r_i = \arg\max_{r_j} h_i^\top r_j`.

        Classes without a prototype are never the nearest.
        """
        similarity = (embeddings @ self.vectors.T).masked_fill(~self.present, -torch.inf)
        return self.vectors[similarity.argmax(dim=1)]


def class_prototypes(
    embeddings: Tensor, nodes: Tensor, labels: Tensor, class_count: int, whole: WholeSums | None = None
) -> Prototypes:
    r""":math:`r_j = \frac{1}{|\{i : y_i = j\}|} \sum_{i : y_i = j} h_i` over the given nodes.

    Args:
        embeddings: H, ``(n, d)``.
        nodes: Node numbers, ``(k,)``.
        labels: The class of each of those nodes, ``(k,)``.
        class_count: The number of classes c. A class without nodes gets the zero vector and ``present = False``.
        whole: Where the embeddings are those of a part of the graph: turns their sums into those of the whole.
    """
    if whole is not None:
        sums, counts = whole(*class_sums(embeddings[nodes], labels, class_count))
        return Prototypes(sums / counts.clamp(min=1).unsqueeze(1), counts > 0)
    # A (c, k) averaging matrix times (k, d): dense, because c is small, and its backward pass is a matrix product.
    members = _members(labels, class_count)
    counts = members.sum(dim=1)
    average = members / counts.clamp(min=1).unsqueeze(1)
    return Prototypes(average.to(embeddings.dtype) @ embeddings[nodes], counts > 0)


def class_sums(values: Tensor, labels: Tensor, class_count: int) -> tuple[Tensor, Tensor]:
    """The sum of the rows of each class, ``(c, d)``, and how many there are, ``(c,)``.

    >>> class_sums(torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([1, 0, 1]), 3)
    (tensor([[2.],
            [5.],
            [0.]]), tensor([1, 2, 0]))
    """
    members = _members(labels, class_count)
    return members.to(values.dtype) @ values, members.sum(dim=1)


def _members(labels: Tensor, class_count: int) -> Tensor:
    return labels.unsqueeze(0) == torch.arange(class_count, device=labels.device).unsqueeze(1)
