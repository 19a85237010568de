r"""NRGNN: links to similar labelled nodes, mined pseudo labels, and a classifier that learns from both.

- An edge predictor gives every pair of nodes a weight :math:`s_{ij}` (:mod:`lnp.nn.edge_predictor`).
- The miner is a GCN on :math:`A_P`: A with links from every node to labelled nodes of similar features.
- Its best predictions so far, :math:`P^*`, make the pseudo-labelled set
  :math:`Y_a = \{i \notin T_N : \max_k P^*_{ik} > p_u\}`.
- The classifier is a GCN on :math:`A_G`: :math:`A_P` with links from nodes outside T_N to nodes of :math:`Y_a`.

.. math::
    L = L_G + L_P + \alpha L_E + \beta\, \frac{1}{|Y_a|} \sum_{i \in Y_a} \sum_k -P^*_{ik} \log p_{ik}

with :math:`L_G, L_P` the mean cross entropy of classifier and miner on T_N. Links are undirected: messages flow both
ways. Where :math:`A_G` would need all pairs, each node keeps those with the largest s (on large graphs of every m-th
node of :math:`Y_a`), so that the cost of an epoch is linear in the number of nodes; ``pseudo_links=-1`` and
``candidates=-1`` give the exact form for small graphs.

Reference: Dai, Aggarwal and Wang, *NRGNN: learning a label noise resistant graph neural network on sparsely and noisily
labeled graphs*, KDD 2021.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lnp.errors import check_range
from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.base import Epoch, Stage, Terms
from lnp.methods.batch import Batch
from lnp.methods.fine_tuning import fine_tuning_stage
from lnp.methods.learnt_links import LearnsLinks, LearntLinksConfig, listed_pairs
from lnp.nn.similarity import top_cosines, top_products
from lnp.nn.softmax import softmax
from lnp.nn.weighted_graph import PairCache, Pairs, WeightedGraph, WeightedPairs, new_pairs
from lnp.seeds import Generator, Randomness

__all__ = ["NRGNN", "NRGNNConfig"]

LOOKED_AT = 2**14
"""Pseudo-labelled nodes among which links are looked for. Where there are more, it is every m-th of them: the search,
made again whenever the miner gets better, would take time with the square of the number of nodes."""


@dataclass(frozen=True, kw_only=True)
class NRGNNConfig(LearntLinksConfig):
    """Options of NRGNN; its networks are always GCNs.

    Args:
        epochs: Epochs of the main stage; links slow learning down, so more than elsewhere.
        candidates: n_p, labelled nodes that each node may be linked to, by cosine of features; −1 for all of them.
        pseudo_links: Pseudo-labelled nodes that each node outside T_N may be linked to, by s; −1 for all of them.
        link_threshold: t, below which s counts as 0.
        confidence: p_u, above which a prediction of the miner becomes a pseudo label; 1 for none.
        edge_term: α, the weight of the edge predictor's loss.
        pseudo_term: β, the weight of the loss on pseudo labels.
        negatives: n_n, non-edges per node that the edge predictor learns from (half of them count).
        edge_hidden: Width of the edge predictor.
        edge_gradient: Whether the classification losses reach the edge predictor through the weights of links.
        refresh_every: Epochs between looks at the miner; more saves time on large graphs.
    """

    epochs: int = 300
    candidates: int = 5
    pseudo_links: int = 5
    confidence: float = 0.8
    edge_term: float = 0.3
    pseudo_term: float = 1.0
    edge_gradient: bool = True
    refresh_every: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("link_threshold", self.link_threshold, 0, math.inf)
        check_range("confidence", self.confidence, 0, 1)
        check_range("pseudo_term", self.pseudo_term, 0, math.inf)
        self.check_at_least(candidates=-1, pseudo_links=-1, refresh_every=1)


class NRGNN(LearnsLinks):
    """Edge predictor, pseudo-label miner and classifier, trained together."""

    Config = NRGNNConfig
    config: NRGNNConfig
    labelled: Tensor
    candidates: Tensor
    mined: Tensor
    miner_score: Tensor
    pseudo_links: Tensor

    def __init__(self, config: NRGNNConfig, batch: Batch, generator: Generator) -> None:
        super().__init__()
        self.config = config
        n = batch.node_count
        self.classifier = config.network(batch, generator)
        self.miner = config.network(batch, generator)
        self.prepare_links(batch, generator)
        # T_N, the labelled nodes that each node may be linked to, P* with its score, and the pseudo-labelled nodes that
        # each node may be linked to; −1 stands for nobody.
        self.register_buffer("labelled", torch.zeros(n, dtype=torch.bool))
        self.register_buffer("candidates", torch.full((n, max(0, config.candidates)), -1, dtype=torch.int32))
        self.register_buffer("mined", torch.zeros(n, batch.class_count))
        self.register_buffer("miner_score", torch.tensor(-math.inf, dtype=torch.float64))
        self.register_buffer("pseudo_links", torch.full((n, max(0, config.pseudo_links)), -1, dtype=torch.int32))
        self._candidate_pairs, self._pseudo_pairs = PairCache(), PairCache()

    def stages(self, batch: Batch) -> list[Stage]:
        """All three networks on T_N and pseudo labels, then the classifier alone on T_C, links as they are."""
        main = self.main_stage(self.loss, begin=self.find_candidates)
        return [
            main,
            *fine_tuning_stage(self.config, batch, {"classifier": self.classifier}, self._stored_graph_logits),
        ]

    def find_candidates(self, batch: Batch, randomness: Randomness) -> None:
        """Notes T_N and, for each node, the labelled nodes of largest feature cosine."""
        self.labelled.zero_()
        self.labelled[batch.noisy] = True
        if self.config.candidates > 0:
            labelled, everyone = batch.noisy.cpu().numpy(), np.arange(batch.node_count)
            nearest = top_cosines(batch.graph.graph.features, everyone, labelled, self.config.candidates)
            self.candidates.copy_(torch.from_numpy(nearest))

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """L_G, L_P, α L_E and β L_a."""
        config = self.config
        vectors = self.edge_predictor(batch.graph, randomness.dropout)
        miner_graph, classifier_graph = self.graphs(batch, vectors if config.edge_gradient else vectors.detach())
        logits = self.classifier(batch.graph, randomness.dropout, propagation=classifier_graph)
        mined = self.miner(batch.graph, randomness.dropout, propagation=miner_graph)
        terms = {
            "noisy_ce": cross_entropy(logits[batch.noisy], batch.noisy_labels).mean(),
            "miner_ce": cross_entropy(mined[batch.noisy], batch.noisy_labels).mean(),
        }
        terms |= self.edge_terms(batch, vectors)
        pseudo = self.pseudo_labelled()
        if config.pseudo_term > 0 and pseudo.numel() > 0:
            soft = -(self.mined[pseudo] * logits[pseudo].log_softmax(dim=1)).sum(dim=1)
            terms["pseudo_ce"] = config.pseudo_term * soft.mean()
        return terms

    def predict(self, batch: Batch) -> Tensor:
        """Softmax of the classifier on A_G."""
        _, classifier_graph = self.graphs(batch, self.edge_predictor(batch.graph))
        probabilities: Tensor = softmax(self.classifier(batch.graph, propagation=classifier_graph))
        return probabilities

    def end_epoch(self, batch: Batch, epoch: Epoch) -> None:
        """Keeps the miner's predictions when they score better than ever (always when nothing is scored)."""
        if epoch.stage != "train" or epoch.index % self.config.refresh_every:
            return
        vectors = self.edge_predictor(batch.graph)
        probabilities = softmax(self.miner(batch.graph, propagation=self._miner_graph(batch, vectors)[0]))
        score = epoch.score(probabilities)
        if math.isnan(score) or score > self.miner_score.item():
            self.mined.copy_(probabilities)
            if not math.isnan(score):
                self.miner_score.fill_(score)
            self._choose_pseudo_links(vectors)

    def pseudo_labelled(self) -> Tensor:
        """Y_a as node numbers."""
        return ((self.mined.amax(dim=1) > self.config.confidence) & ~self.labelled).nonzero().squeeze(1)

    def graphs(self, batch: Batch, vectors: Tensor) -> tuple[WeightedGraph, WeightedGraph]:
        """A_P and A_G with the weights that the edge predictor's vectors give."""
        miner_graph, links = self._miner_graph(batch, vectors)
        return miner_graph, self.with_links(batch, links, self.weigh(self.pseudo_pairs(batch), vectors))

    def candidate_pairs(self, batch: Batch) -> Pairs:
        """The links that A_P may have beyond A."""
        if self.config.candidates >= 0:
            return self._candidate_pairs.get(self.candidates, lambda: listed_pairs(self.candidates, batch))
        everyone = torch.ones_like(self.labelled)
        return self._candidate_pairs.get(self.labelled, lambda: _all_pairs(everyone, self.labelled, batch))

    def pseudo_pairs(self, batch: Batch) -> Pairs:
        """The links that A_G may have beyond A_P."""
        if self.config.pseudo_links >= 0:
            return self._pseudo_pairs.get(self.pseudo_links, lambda: listed_pairs(self.pseudo_links, batch))
        pseudo = torch.zeros_like(self.labelled)
        pseudo[self.pseudo_labelled()] = True
        return self._pseudo_pairs.get(pseudo, lambda: _all_pairs(~self.labelled, pseudo, batch))

    def _choose_pseudo_links(self, vectors: Tensor) -> None:
        if self.config.pseudo_links <= 0:
            return
        pseudo, outside = self.pseudo_labelled(), (~self.labelled).nonzero().squeeze(1)
        pseudo = pseudo[:: max(1, math.ceil(pseudo.numel() / LOOKED_AT))]
        position = torch.full((self.labelled.numel(),), -1, device=pseudo.device)
        position[pseudo] = torch.arange(pseudo.numel(), device=pseudo.device)
        best = top_products(vectors[outside], vectors[pseudo], self.config.pseudo_links, skip=position[outside])
        chosen = torch.from_numpy(best).to(pseudo.device)
        self.pseudo_links.fill_(-1)
        if pseudo.numel() > 0:
            partners = torch.where(chosen >= 0, pseudo[chosen], -1)
            self.pseudo_links[outside] = partners.to(torch.int32)

    def _miner_graph(self, batch: Batch, vectors: Tensor) -> tuple[WeightedGraph, WeightedPairs]:
        links = self.weigh(self.candidate_pairs(batch), vectors)
        return self.with_links(batch, links), links

    def _stored_graph_logits(self, batch: Batch, randomness: Randomness) -> list[Tensor]:
        with torch.no_grad():
            vectors = self.edge_predictor(batch.graph, randomness.dropout)
            _, classifier_graph = self.graphs(batch, vectors)
        return [self.classifier(batch.graph, randomness.dropout, propagation=classifier_graph)]


def _all_pairs(left: Tensor, right: Tensor, batch: Batch) -> Pairs:
    first, second = (mask.nonzero().squeeze(1).cpu().numpy() for mask in (left, right))
    adjacency, device = batch.graph.graph.adjacency, batch.graph.device
    return new_pairs(np.repeat(first, second.size), np.tile(second, first.size), adjacency, device)
