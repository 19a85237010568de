r"""The posterior :math:`Q_\phi(\bar Y \mid Y_C, G)` of v1 and :math:`Q_\phi(\bar Y \mid Y_C, G, Y_N)` of v2.

Section "Encoder" of the paper. Prototypes :math:`r_j` are means of H over T_C; :math:`\bar r_i` is the prototype most
similar to :math:`h_i`.

.. math::
    \bar y_i = \begin{cases}
        \frac12 (h_i + r_{y_i})                                        & i \in T_C \\
        \frac12 (h_i + \alpha_i r_{y_i} + (1 - \alpha_i) \bar r_i)     & i \in T_N \text{, v2 only} \\
        \frac12 (h_i + \bar r_i)                                       & \text{otherwise}
    \end{cases}
    \qquad \alpha_i = \cos(h_i, r_{y_i})

:math:`\bar y_i` are logits: Q is the categorical distribution :math:`\mathrm{softmax}(\bar y_i)` at every node. By the
last rule every node also has the logits that it would have without a label, which may judge the one that it has.
"""

from __future__ import annotations

from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor

from lnp.methods.batch import Batch
from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.embedding import Labelled, OnEmbeddings
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.prototypes import Prototypes, WholeSums, class_prototypes
from lnp.seeds import Generator

__all__ = ["Encoded", "Posterior", "agreement", "fuse"]


class Encoded(NamedTuple):
    r"""The logits :math:`\bar y` of Q, with the embeddings h and the nearest prototypes :math:`\bar r` behind them."""

    logits: Tensor
    embeddings: Tensor
    nearest: Tensor

    def untold(self, nodes: Tensor) -> Tensor:
        """The logits that these nodes would have without a label, and without gradient."""
        return (self.embeddings.detach()[nodes] + self.nearest.detach()[nodes]) / 2


class Posterior(OnEmbeddings):
    """From embeddings and prototypes to the logits of Q."""

    def __init__(self, config: LNPConfig, batch: Batch, generator: Generator) -> None:
        super().__init__(config, batch, generator)
        self.alpha = config.alpha
        self.grown_as = config.grown_as

    def forward(
        self,
        graph: GraphTensors,
        trusted: Labelled,
        noisy: Labelled | None,
        generator: Generator | None,
        whole: WholeSums | None = None,
    ) -> Encoded:
        r"""Encodes labels and graph.

        Args:
            graph: G.
            trusted: Y_C, with the nodes that joined it.
            noisy: Y_N in v2, ``None`` in v1.
            generator: Source of dropout in training.
            whole: Where ``graph`` is a part: turns sums over its members into those of the whole graph.
        """
        embeddings = self.embedding(graph, generator)
        prototypes = class_prototypes(embeddings, *trusted, self.class_count, whole)
        return fuse(embeddings, prototypes, trusted, noisy, alpha=self.alpha, grown_as=self.grown_as)


def fuse(
    embeddings: Tensor,
    prototypes: Prototypes,
    trusted: Labelled,
    noisy: Labelled | None,
    *,
    alpha: str = "cosine",
    grown_as: str = "trusted",
) -> Encoded:
    """The three rules above. Nodes that joined T_C are in both sets; ``grown_as`` says whose rule they follow."""
    nearest = prototypes.nearest(embeddings)
    rules = [(trusted.nodes, prototypes.vectors[trusted.labels])]
    if noisy is not None:
        given = prototypes.vectors[noisy.labels]
        share = agreement(embeddings[noisy.nodes], given, alpha).unsqueeze(1)
        rules.insert(0, (noisy.nodes, share * given + (1 - share) * nearest[noisy.nodes]))
    anchors = nearest
    for nodes, rows in rules if grown_as == "trusted" else reversed(rules):  # the last rule holds
        anchors = anchors.index_copy(0, nodes, rows)
    return Encoded((embeddings + anchors) / 2, embeddings, nearest)


def agreement(embeddings: Tensor, prototypes: Tensor, kind: str) -> Tensor:
    r""":math:`\alpha_i`, how far a noisy label's prototype is believed.

    A cosine below 0 counts as 0, so that the anchor stays between the two prototypes. ``dot`` is the released form:
    the inner product of the unit embedding with a prototype of unit embeddings, whose norm is below 1, without bounds.
    """
    if kind == "cosine":
        return F.cosine_similarity(embeddings, prototypes, dim=1).clamp(min=0)
    return (embeddings * prototypes).sum(dim=1)
