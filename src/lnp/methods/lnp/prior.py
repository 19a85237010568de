r"""The prior :math:`P_\theta(\bar Y \mid G)` of v1 and :math:`P_\theta(\bar Y \mid G, Y_N)` of v2.

Section "Prior knowledge" of the paper. v1: :math:`\bar y_i = h_i`. v2, with prototypes :math:`r_j` from T_N grouped by
given label:

.. math::
    \bar y_i = \begin{cases}
        \frac12 (h_i + r_{y_i})    & i \in T_N \\
        h_i                        & \text{otherwise}
    \end{cases}
"""

from __future__ import annotations

from torch import Tensor

from lnp.methods.lnp.embedding import Labelled, OnEmbeddings
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.prototypes import WholeSums, class_prototypes
from lnp.seeds import Generator

__all__ = ["Prior", "inform"]


class Prior(OnEmbeddings):
    """From embeddings (and, in v2, noisy labels) to the prior's logits."""

    def forward(
        self,
        graph: GraphTensors,
        noisy: Labelled | None,
        generator: Generator | None,
        whole: WholeSums | None = None,
    ) -> Tensor:
        r"""The logits :math:`\bar y`, ``(n, c)``.

        Args:
            graph: G.
            noisy: Y_N in v2, ``None`` in v1.
            generator: Source of dropout in training.
            whole: Where ``graph`` is a part: turns sums over its members into those of the whole graph.
        """
        embeddings: Tensor = self.embedding(graph, generator)
        return embeddings if noisy is None else inform(embeddings, noisy, self.class_count, whole)


def inform(embeddings: Tensor, noisy: Labelled, class_count: int, whole: WholeSums | None = None) -> Tensor:
    """The rule of v2: rows of T_N move half-way to the prototype of their given label."""
    prototypes = class_prototypes(embeddings, *noisy, class_count, whole)
    informed = (embeddings[noisy.nodes] + prototypes.vectors[noisy.labels]) / 2
    return embeddings.index_copy(0, noisy.nodes, informed)
