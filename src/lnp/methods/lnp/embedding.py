r"""H: the node embeddings that posterior, decoder and prior each compute with a network of their own."""

from __future__ import annotations

from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from lnp.methods.batch import Batch
from lnp.methods.lnp.config import LNPConfig
from lnp.nn.graph_tensors import GraphTensors
from lnp.seeds import Generator

__all__ = ["Embedding", "Labelled", "OnEmbeddings"]


class Labelled(NamedTuple):
    """Nodes and their labels: Y_C on T_C, or Y_N on T_N."""

    nodes: Tensor
    labels: Tensor


class Embedding(nn.Module):
    r""":math:`H = \mathrm{GNN}(G) \in \mathbb{R}^{n \times c}`, rows scaled to a common norm unless ``raw``.

    .. math:: h_i = s \, f_i / \|f_i\|

    With :math:`s = 1` softmax of h is nearly uniform; s is what lets a prediction become confident.
    """

    def __init__(self, config: LNPConfig, batch: Batch, generator: Generator, *, extra: int = 0) -> None:
        super().__init__()
        self.network = config.network(batch, generator, extra=extra)
        self.unit = config.embedding == "unit"
        self.scale = config.scale

    def forward(self, graph: GraphTensors, generator: Generator | None) -> Tensor:
        """H, ``(n, c)``."""
        outputs: Tensor = self.network(graph, generator)
        return self.scale * F.normalize(outputs, dim=1) if self.unit else outputs


class OnEmbeddings(nn.Module):
    """What posterior, decoder and prior have in common: embeddings of their own, one column for each class."""

    def __init__(self, config: LNPConfig, batch: Batch, generator: Generator, *, extra: int = 0) -> None:
        super().__init__()
        self.embedding = Embedding(config, batch, generator, extra=extra)
        self.class_count = batch.class_count
