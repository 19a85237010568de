r"""PI-GNN: whether two nodes are connected is a label that label noise cannot corrupt.

The classifier f learns from the given labels and from pairs of nodes (:mod:`lnp.losses.pairwise`), with logits
:math:`o_{ij} = z_i^\top z_j`. A second network f' learns from pairs only, and its confidence weights the pairs of f:

.. math::
    \min_{f'}\; & L(o'; 1), \qquad M_{ij} = s(o'_{ij}) \text{ if connected, else } 1 - s(o'_{ij}) \\
    \min_f\; & \operatorname{mean}_{T_N} \mathrm{CE}(z_i, \tilde y_i) + \lambda\, L(o; 1)
    \text{ before epoch } e_0, \text{ afterwards with } L(o; M).

Pair logits are taken on class logits, so connected nodes are pushed to equal classes: on a heterophilous graph give the
pair term a small weight.

Reference: Du et al., *Noise-robust graph learning by estimating and leveraging pairwise interactions*, 2021.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnp.errors import ConfigError, check_choice, check_range
from lnp.losses.cross_entropy import cross_entropy
from lnp.losses.pairwise import ConnectedPairs, pairwise_loss
from lnp.methods.base import Epoch, Stage, Terms
from lnp.methods.batch import Batch
from lnp.methods.fine_tuning import FineTunedConfig
from lnp.methods.one_network import FineTunedNetwork
from lnp.nn.graph_tensors import GraphTensors
from lnp.seeds import Generator, Randomness

__all__ = ["PIGNN", "PIGNNConfig"]

PAIRS = ("exact", "sampled", "auto")
EXACT_NODES = 1000
"""Up to how many nodes "auto" sums over all pairs."""


@dataclass(frozen=True, kw_only=True)
class PIGNNConfig(FineTunedConfig):
    """Options of PI-GNN.

    Args:
        pairs: "exact" sums over all pairs, O(n²) time in blocks; "sampled" takes all edges and as many random pairs,
            drawn anew in every epoch; "auto" is exact up to 1,000 nodes.
        pair_weight: λ, the weight of the pair term of the classifier.
        confidence_start: e_0, the first epoch in which the second network's confidence weights the pairs.
    """

    pairs: str = "auto"
    pair_weight: float = 1.0
    confidence_start: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("pairs", self.pairs, PAIRS)
        check_range("pair_weight", self.pair_weight, 0, 1e6)
        if self.confidence_start < 0:
            raise ConfigError(f"Expected `confidence_start` to be at least 0, but got {self.confidence_start}.")


class PIGNN(FineTunedNetwork):
    """A classifier that also tells connected pairs apart, and a network that does only that."""

    Config = PIGNNConfig
    config: PIGNNConfig
    epoch: Tensor

    def __init__(self, config: PIGNNConfig, batch: Batch, generator: Generator) -> None:
        super().__init__(config, batch, generator)
        self.pair_network = config.network(batch, generator)
        self.register_buffer("epoch", torch.zeros((), dtype=torch.int64))
        self._pairs: tuple[GraphTensors, ConnectedPairs] | None = None  # a function of the graph, hence no state

    def stages(self, batch: Batch) -> list[Stage]:
        """Both networks together, then fine-tuning of the classifier on T_C."""
        # One Adam for both: it treats every parameter by itself, and neither loss reaches the other network.
        return [self.main_stage(self.loss), *self.fine_tuning(batch)]

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """Cross entropy on T_N, the pair term of the classifier, and that of the second network."""
        pairs = self._connected(batch)
        logits = self.classifier(batch.graph, randomness.dropout)
        other = self.pair_network(batch.graph, randomness.dropout)
        exact = self.config.pairs == "exact" or (self.config.pairs == "auto" and batch.node_count <= EXACT_NODES)
        sampled = None if exact else pairs.sample(randomness.sampling)
        judge = other if int(self.epoch) >= self.config.confidence_start else None
        terms = {
            "pairs": self.config.pair_weight * pairwise_loss(logits, pairs, judge=judge, sampled=sampled),
            "pair_network": pairwise_loss(other, pairs, sampled=sampled),
        }
        if batch.noisy.numel():
            terms["noisy_ce"] = cross_entropy(logits[batch.noisy], batch.noisy_labels).mean()
        return terms

    def end_epoch(self, batch: Batch, epoch: Epoch) -> None:
        """Counts the epoch."""
        if epoch.stage == "train":
            self.epoch.fill_(epoch.index + 1)

    def _connected(self, batch: Batch) -> ConnectedPairs:
        if self._pairs is None or self._pairs[0] is not batch.graph:
            self._pairs = batch.graph, ConnectedPairs(batch.graph.graph.adjacency, batch.given.device)
        return self._pairs[1]
