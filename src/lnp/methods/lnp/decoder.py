r"""The decoder :math:`P_\varphi(Y \mid \bar Y, G)` of v1 and :math:`P_\varphi(Y \mid \bar Y, G, Y_N)` of v2.

Section "Decoder" of the paper. With H and prototypes :math:`r_j` of its own network and :math:`q_i = \mathrm{softmax}
(\bar y_i)`,

.. math::
    \hat y_i = \tfrac12 (h_i + \hat r_i), \qquad
    \hat r_i = \begin{cases}
        \sum_j (\beta_i [y_i = j] + (1 - \beta_i) q_{ij})\, r_j    & i \in T_N \text{, v2 only} \\
        \sum_j q_{ij}\, r_j                                        & \text{otherwise}
    \end{cases}
    \qquad \beta_i = \cos(q_i, \text{one-hot}(y_i))

:math:`\hat y_i` are logits; the predicted label distribution of every node is :math:`\mathrm{softmax}(\hat y_i)`.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from lnp.methods.batch import Batch
from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.embedding import Labelled, OnEmbeddings
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.prototypes import WholeSums, class_prototypes
from lnp.nn.softmax import softmax
from lnp.seeds import Generator

__all__ = ["Decoded", "Decoder", "mix_given_labels"]


class Decoded:
    r"""The decoder's outputs for one :math:`\bar Y`: logits, and what they would be for any single class."""

    def __init__(self, embeddings: Tensor, prototypes: Tensor, mixture: Tensor) -> None:
        self.embeddings = embeddings
        self.prototypes = prototypes
        self.mixture = mixture
        self.logits = (embeddings + mixture @ prototypes) / 2

    def untold(self, nodes: Tensor, posterior: Tensor) -> Tensor:
        """The logits that these nodes would have without a label, and without gradient.

        Args:
            nodes: Node numbers.
            posterior: The logits of Q that these nodes would have without a label.
        """
        return (self.embeddings.detach()[nodes] + softmax(posterior) @ self.prototypes.detach()) / 2

    def expected_log_likelihood(self, observed: Labelled) -> Tensor:
        r""":math:`E_Q \log P(y_i \mid \bar y_i, G) = \sum_j q_{ij} \log\mathrm{softmax}(\frac12(h_i + r_j))_{y_i}`.

        Exact, one value per observed node: given its class, a node's reconstruction depends on no other node's.
        """
        rows = self.embeddings[observed.nodes].unsqueeze(1) + self.prototypes.unsqueeze(0)  # (k, c, c)
        log_probabilities = (rows / 2).log_softmax(dim=2)
        index = observed.labels.view(-1, 1, 1).expand(-1, rows.shape[1], 1)
        return (self.mixture[observed.nodes] * log_probabilities.gather(2, index).squeeze(2)).sum(dim=1)


class Decoder(OnEmbeddings):
    """From embeddings, prototypes and the posterior to label logits."""

    def __init__(self, config: LNPConfig, batch: Batch, generator: Generator) -> None:
        super().__init__(config, batch, generator)
        self.beta = config.beta

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
        r"""Decodes :math:`\bar y`.

        Args:
            graph: G.
            posterior: The logits :math:`\bar y`.
            trusted: Y_C, with the nodes that joined it; its nodes make the prototypes.
            noisy: Y_N in v2, ``None`` in v1.
            generator: Source of dropout in training.
            sampling: Source of the released code's random β, in training.
            whole: Where ``graph`` is a part: turns sums over its members into those of the whole graph.
        """
        embeddings = self.embedding(graph, generator)
        prototypes = class_prototypes(embeddings, *trusted, self.class_count, whole)
        mixture = softmax(posterior)
        if noisy is not None:
            random = None
            if self.beta == "random" and sampling is not None:
                random = torch.from_numpy(sampling.random(noisy.nodes.numel(), dtype=np.float32)).to(mixture.device)
            mixture = mix_given_labels(mixture, noisy, random)
        return Decoded(embeddings, prototypes.vectors, mixture)


def mix_given_labels(mixture: Tensor, noisy: Labelled, random: Tensor | None = None) -> Tensor:
    r""":math:`\beta y + (1 - \beta) q` on the rows of T_N.

    ``random`` replaces β by the given numbers and applies a second softmax to those rows, as the released code does.
    """
    rows = mixture[noisy.nodes]
    given = F.one_hot(noisy.labels, mixture.shape[1]).to(mixture.dtype)
    beta = F.cosine_similarity(rows, given, dim=1) if random is None else random
    mixed = beta.unsqueeze(1) * given + (1 - beta).unsqueeze(1) * rows
    return mixture.index_copy(0, noisy.nodes, mixed if random is None else mixed.softmax(dim=1))
