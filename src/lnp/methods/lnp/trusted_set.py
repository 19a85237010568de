r"""Which noisy labels to believe: the similarity w of prediction and given label, and the growth of T_C by δ.

Every epoch starts from the initial T_C, and nodes of T_N whose similarity exceeds δ join it for the next epoch:

.. math:: T_C^{(t+1)} = T_C \cup \{ i \in T_N : w_i^{(t)} > \delta \}.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from lnp.methods.batch import Batch
from lnp.methods.lnp.embedding import Labelled
from lnp.seeds import Generator

__all__ = ["TrustedSet", "believed_labels", "cosine_similarity", "label_similarity"]

Extremes = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""From the smallest and the largest value of a part of the graph to those of the whole."""


def believed_labels(probabilities: Tensor, labels: Tensor) -> Tensor:
    """:math:`p_y`, the predicted probability of each given label, ``(k,)``, without gradient."""
    return probabilities.detach().gather(1, labels.unsqueeze(1)).squeeze(1)


def cosine_similarity(probabilities: Tensor, labels: Tensor) -> Tensor:
    r""":math:`p_y / \|p\|`, the cosine of a prediction and its one-hot label, ``(k,)``, without gradient."""
    return believed_labels(probabilities, labels) / probabilities.detach().square().sum(dim=1).sqrt()


def label_similarity(
    probabilities: Tensor, labels: Tensor, kind: str, generator: Generator, extremes: Extremes | None = None
) -> Tensor:
    r"""w: how far each prediction agrees with the given label, in [0, 1], without gradient.

    Args:
        probabilities: Predictions p of the nodes of T_N, ``(k, c)``.
        labels: Their given labels y, ``(k,)``.
        kind: "cosine" :math:`p_y / \|p\|`; "minmax", the same stretched to [0, 1] over all rows; "probability"
            :math:`p_y`; "random", numbers from U(0, 1) that look at nothing, as in the released code.
        generator: Source of the random kind.
        extremes: Where the rows are those of a part of the graph: the stretch is that of the whole graph.
    """
    if kind == "random":
        return torch.from_numpy(generator.random(labels.numel(), dtype=np.float32)).to(probabilities.device)
    if kind == "probability":
        return believed_labels(probabilities, labels)
    similarity = cosine_similarity(probabilities, labels)
    if kind == "cosine" or (similarity.numel() == 0 and extremes is None):
        return similarity
    if similarity.numel() == 0:
        low, high = similarity.new_tensor(torch.inf), similarity.new_tensor(-torch.inf)
    else:
        low, high = similarity.min(), similarity.max()
    if extremes is not None:
        low, high = extremes(low, high)
    return (similarity - low) / (high - low).clamp(min=1e-12)


class TrustedSet(nn.Module):
    """T_C as it is in the current epoch. Its two masks are buffers, so a snapshot of the method includes them."""

    grown: Tensor
    proposed: Tensor

    def __init__(self, node_count: int) -> None:
        super().__init__()
        self.register_buffer("grown", torch.zeros(node_count, dtype=torch.bool))
        self.register_buffer("proposed", torch.zeros(node_count, dtype=torch.bool))

    def members(self, batch: Batch) -> Labelled:
        """The initial T_C and the nodes that joined it in the last epoch."""
        grown = self.grown if batch.nodes is None else self.grown[batch.nodes]
        rows = torch.cat([batch.trusted, batch.own_rows(grown).nonzero().squeeze(1)])
        return Labelled(rows, batch.given[rows])

    def propose(self, nodes: Tensor, similarity: Tensor, threshold: float) -> None:
        """Marks which of these nodes of T_N are similar enough to join in the next epoch; other nodes stay as they are.

        In an epoch every node of T_N is asked about once, all together or part by part.
        """
        self.proposed[nodes] = similarity > threshold

    def renew(self) -> None:
        """Starts the next epoch: the initial T_C and what was proposed; earlier growth is forgotten."""
        self.grown.copy_(self.proposed)
