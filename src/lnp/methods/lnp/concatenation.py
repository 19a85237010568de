r"""The three networks without prototypes, for the ablation ``nv``.

Labels are put beside the features: posterior and prior read :math:`[X \| \text{one-hot labels}]`,
the decoder :math:`[X \| \mathrm{softmax}(\bar y) \| \text{one-hot}(Y_N)]`, and each network's output is its answer.
There are no prototypes, hence no sums over the whole graph: ``whole`` is not used.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from lnp.methods.lnp.decoder import Decoded
from lnp.methods.lnp.embedding import Labelled, OnEmbeddings
from lnp.methods.lnp.posterior import Encoded
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.prototypes import WholeSums
from lnp.nn.softmax import softmax
from lnp.seeds import Generator

__all__ = ["ConcatenatedDecoder", "ConcatenatedPosterior", "ConcatenatedPrior", "one_hot_columns"]


class ConcatenatedPosterior(OnEmbeddings):
    """Q with its labels at the input."""

    def forward(
        self,
        graph: GraphTensors,
        trusted: Labelled,
        noisy: Labelled | None,
        generator: Generator | None,
        whole: WholeSums | None = None,
    ) -> Encoded:
        """The logits of Q; what a node would be without its label is not known."""
        columns = one_hot_columns(graph, self.class_count, *([noisy] if noisy is not None else []), trusted)
        logits: Tensor = self.embedding(graph.with_columns(columns), generator)
        return Encoded(logits, logits, logits)


class ConcatenatedDecoder(OnEmbeddings):
    """The decoder with Q's probabilities and, in v2, the noisy labels at the input."""

    def forward(
        self,
        graph: GraphTensors,
        posterior: Tensor,
        trusted: Labelled,
        noisy: Labelled | None,
        generator: Generator | None,
        sampling: Generator | None,
        whole: WholeSums | None = None,
    ) -> Decoded:
        """The label logits; there are no prototypes to mix, so the mixture adds nothing."""
        mixture = softmax(posterior)
        columns = mixture
        if noisy is not None:
            columns = torch.cat([mixture, one_hot_columns(graph, self.class_count, noisy)], dim=1)
        logits = self.embedding(graph.with_columns(columns), generator)
        return Decoded(2 * logits, torch.zeros(self.class_count, self.class_count, device=logits.device), mixture)


class ConcatenatedPrior(OnEmbeddings):
    """The prior with, in v2, the noisy labels at the input."""

    def forward(
        self,
        graph: GraphTensors,
        noisy: Labelled | None,
        generator: Generator | None,
        whole: WholeSums | None = None,
    ) -> Tensor:
        """The prior's logits."""
        if noisy is not None:
            graph = graph.with_columns(one_hot_columns(graph, self.class_count, noisy))
        logits: Tensor = self.embedding(graph, generator)
        return logits


def one_hot_columns(graph: GraphTensors, class_count: int, *sets: Labelled) -> Tensor:
    """One-hot labels of the given nodes, ``(n, c)``, zero elsewhere; later sets overwrite earlier ones."""
    columns = torch.zeros(graph.node_count, class_count, device=graph.device)
    for nodes, labels in sets:
        columns[nodes] = F.one_hot(labels, class_count).to(columns.dtype)
    return columns
