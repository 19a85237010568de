r"""Which noisy labels to believe: the similarity w of prediction and given label, and the growth of T_C by δ.

Every epoch starts from the initial T_C, and nodes of T_N whose similarity exceeds δ join it for the next epoch:

.. math:: T_C^{(t+1)} = T_C \cup \{ i \in T_N : w_i^{(t)} > \delta \}.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from lnp.methods.batch import Batch
from lnp.methods.lnp.embedding import Labelled
from lnp.seeds import Generator

__all__ = ["TrustedSet", "label_odds", "label_similarity"]


def label_similarity(probabilities: Tensor, labels: Tensor, kind: str, generator: Generator) -> Tensor:
    r"""w: how far each prediction agrees with the given label, in [0, 1], without gradient.

    Args:
        probabilities: Predictions p of the nodes of T_N, ``(k, c)``.
        labels: Their given labels y, ``(k,)``.
        kind: "cosine" :math:`p_y / \|p\|`; "minmax", the same stretched to [0, 1] over all rows; "probability"
            :math:`p_y`; "random", numbers from U(0, 1) that look at nothing, as in the released code.
        generator: Source of the random kind.
    """
    if kind == "random":
        return torch.from_numpy(generator.random(labels.numel(), dtype=np.float32)).to(probabilities.device)
    probabilities = probabilities.detach()
    believed = probabilities.gather(1, labels.unsqueeze(1)).squeeze(1)
    if kind == "probability":
        return believed
    similarity = believed / probabilities.square().sum(dim=1).sqrt()
    if kind == "cosine" or similarity.numel() == 0:
        return similarity
    low, high = similarity.min(), similarity.max()
    return (similarity - low) / (high - low).clamp(min=1e-12)


def label_odds(probabilities: Tensor, labels: Tensor, power: float) -> Tensor:
    r""":math:`(\bar p / (1 - \bar p))^{\text{power}}`: how far the given labels as a whole deserve belief.

    :math:`\bar p` is the mean predicted probability of the given labels, kept in [0.02, 0.95] so that neither a start
    at random nor a perfect fit runs away.

    >>> round(label_odds(torch.tensor([[0.9, 0.1], [0.3, 0.7]]), torch.tensor([0, 1]), 2.0).item(), 3)
    16.0
    """
    mean = probabilities.detach().gather(1, labels.unsqueeze(1)).mean().clamp(0.02, 0.95)
    return (mean / (1 - mean)).pow(power)


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
        nodes = torch.cat([batch.trusted, self.grown.nonzero().squeeze(1)])
        return Labelled(nodes, batch.given[nodes])

    def propose(self, nodes: Tensor, similarity: Tensor, threshold: float) -> None:
        """Marks the nodes of T_N that are similar enough to join in the next epoch."""
        self.proposed.zero_()
        self.proposed[nodes] = similarity > threshold

    def renew(self) -> None:
        """Starts the next epoch: the initial T_C and what was proposed; earlier growth is forgotten."""
        self.grown.copy_(self.proposed)
