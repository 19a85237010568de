r"""RTGNN: two networks on a reinforced graph sort the given labels into clean, corrected and doubtful ones.

The graph gets links between labelled and unlabelled nodes of similar features, weighted by a learned edge predictor.
With :math:`l_i` the summed cross entropy of both networks and :math:`q_1, q_2` their largest probabilities, epoch e of
E minimises

.. math::
    L_{lab} = \frac{1}{N} \Big[ \sum_{clean} l_i + \sum_{corrected} (q_1 q_2)^{\frac12 - \frac{e}{2E}}
    \big(\mathrm{CE}(z^1_i, k_i) + \mathrm{CE}(z^2_i, k_i)\big) + 0.1 \sum_{rest} l_i \Big]
    + \lambda\, \mathrm{KL}_{sym}(p^1, p^2)

together with the edge predictor's loss, cross entropy on confident pseudo labels outside T_N, and
:math:`\lambda\, \frac1N \sum_i \sum_j w_{ji} \mathrm{KL}(p_j \,\|\, p_i)` over the neighbours j of labelled nodes i.

Reference: Qian et al., *Robust training of graph neural networks via noise governance*, WSDM 2023. Where the public
code slips we follow the intention: labelled node 0 is used, the bar for corrections falls to 1/c (not 1/N), neighbours
are weighted one by one, and links repeat no edge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lnp.errors import check_range
from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.base import Epoch, Stage, Terms
from lnp.methods.batch import Batch
from lnp.methods.fine_tuning import fine_tuning_stage
from lnp.methods.learnt_links import LearnsLinks, LearntLinksConfig, listed_pairs
from lnp.nn.similarity import top_cosines
from lnp.nn.softmax import softmax
from lnp.nn.weighted_graph import PairCache, Pairs, WeightedGraph
from lnp.seeds import Generator, Randomness

__all__ = ["RTGNN", "RTGNNConfig", "neighbour_divergence", "sort_labels", "symmetric_divergence"]

DOUBTFUL = 0.1
"""Weight of a given label that is neither clean nor corrected."""


@dataclass(frozen=True, kw_only=True)
class RTGNNConfig(LearntLinksConfig):
    """Options of RTGNN; its networks are always GCNs.

    The paper has K = 100, τ = 0.05 and width 128; with 40 % of the nodes labelled so many links blur the classes.

    Args:
        candidates: K, links that each node may get to nodes of the other kind (labelled, unlabelled).
        link_threshold: τ, below which a link's weight counts as 0.
        confidence: Both networks' probability above which a common prediction is a pseudo label (their product is
            compared with its square).
        edge_term: Weight of the edge predictor's loss.
        agreement: λ, the weight of agreement between the networks and with neighbours.
        negatives: Non-edges per node that the edge predictor learns from (half of them count).
        edge_hidden: Width of the edge predictor.
    """

    candidates: int = 5
    link_threshold: float = 0.5
    confidence: float = 0.95
    agreement: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("link_threshold", self.link_threshold, 0, 1)
        check_range("confidence", self.confidence, 0, 1)
        check_range("agreement", self.agreement, 0, math.inf)
        self.check_at_least(candidates=0)


class RTGNN(LearnsLinks):
    """Edge predictor and two classifiers that govern each other's labels."""

    Config = RTGNNConfig
    config: RTGNNConfig
    candidates: Tensor
    epochs_done: Tensor

    def __init__(self, config: RTGNNConfig, batch: Batch, generator: Generator) -> None:
        super().__init__()
        self.config = config
        self.first = config.network(batch, generator)
        self.second = config.network(batch, generator)
        self.prepare_links(batch, generator, unit_length=True)
        # The nodes that each node may be linked to (−1: nobody), and e.
        self.register_buffer("candidates", torch.full((batch.node_count, config.candidates), -1, dtype=torch.int32))
        self.register_buffer("epochs_done", torch.tensor(0))
        self._pairs = PairCache()

    def stages(self, batch: Batch) -> list[Stage]:
        """Everything on T_N, then both classifiers on T_C, links as they are."""
        main = self.main_stage(self.loss, begin=self.find_candidates)
        networks: dict[str, nn.Module] = {"first": self.first, "second": self.second}
        return [main, *fine_tuning_stage(self.config, batch, networks, self._stored_graph_logits)]

    def find_candidates(self, batch: Batch, randomness: Randomness) -> None:
        """For each labelled node the unlabelled ones of largest feature cosine, and the other way round."""
        labelled, outside = batch.noisy.cpu().numpy(), batch.outside_noisy.cpu().numpy()
        for queries, keys in ((labelled, outside), (outside, labelled)):
            nearest = top_cosines(batch.graph.graph.features, queries, keys, self.config.candidates)
            self.candidates[queries] = torch.from_numpy(nearest).to(self.candidates)

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """The loss of the labelled nodes, of the edges, of pseudo labels and of neighbours."""
        config, progress = self.config, self.epochs_done.item() / max(1, self.config.epochs)
        vectors = self.edge_predictor(batch.graph, randomness.dropout)
        graph = self.reinforced_graph(batch, vectors)
        z1 = self.first(batch.graph, randomness.dropout, propagation=graph)
        z2 = self.second(batch.graph, randomness.dropout, propagation=graph)
        terms = {"noisy_ce": labelled_loss(z1[batch.noisy], z2[batch.noisy], batch.noisy_labels, progress)}
        if progress > 0:
            together = symmetric_divergence(z1[batch.noisy], z2[batch.noisy]).mean()
            terms["agreement"] = config.agreement * together
        terms |= self.edge_terms(batch, vectors)
        pseudo, labels = self._pseudo_labels(batch, z1.detach(), z2.detach())
        if pseudo.numel() > 0:
            both = cross_entropy(z1[pseudo], labels) + cross_entropy(z2[pseudo], labels)
            together = symmetric_divergence(z1[pseudo], z2[pseudo])
            terms["pseudo_ce"] = (both + config.agreement * together).mean()
        if config.agreement > 0:
            apart = neighbour_divergence(graph, z1) + neighbour_divergence(graph, z2)
            terms["neighbours"] = config.agreement * apart[batch.noisy].mean()
        return terms

    def predict(self, batch: Batch) -> Tensor:
        """The mean of both networks' probabilities."""
        graph = self.reinforced_graph(batch, self.edge_predictor(batch.graph))
        first = softmax(self.first(batch.graph, propagation=graph))
        second = softmax(self.second(batch.graph, propagation=graph))
        mean: Tensor = (first + second) / 2
        return mean

    def end_epoch(self, batch: Batch, epoch: Epoch) -> None:
        """Counts e."""
        if epoch.stage == "train":
            self.epochs_done.fill_(epoch.index + 1)

    def reinforced_graph(self, batch: Batch, vectors: Tensor) -> WeightedGraph:
        """A with the links that the edge predictor's vectors weight."""
        return self.with_links(batch, self.weigh(self.candidate_pairs(batch), vectors))

    def candidate_pairs(self, batch: Batch) -> Pairs:
        """The links there may be beyond A."""
        return self._pairs.get(self.candidates, lambda: listed_pairs(self.candidates, batch))

    def _pseudo_labels(self, batch: Batch, z1: Tensor, z2: Tensor) -> tuple[Tensor, Tensor]:
        """Nodes outside T_N on which both networks surely agree, and what they agree on."""
        outside = batch.outside_noisy
        q1, k1 = z1[outside].softmax(dim=1).max(dim=1)
        q2, k2 = z2[outside].softmax(dim=1).max(dim=1)
        sure = (k1 == k2) & (q1 * q2 > self.config.confidence**2)
        return outside[sure], k1[sure]

    def _stored_graph_logits(self, batch: Batch, randomness: Randomness) -> list[Tensor]:
        with torch.no_grad():
            graph = self.reinforced_graph(batch, self.edge_predictor(batch.graph, randomness.dropout))
        return [network(batch.graph, randomness.dropout, propagation=graph) for network in (self.first, self.second)]


def labelled_loss(z1: Tensor, z2: Tensor, given: Tensor, progress: float) -> Tensor:
    """L_lab without its divergence term, for labelled nodes at ``progress`` = e / E."""
    losses = cross_entropy(z1, given) + cross_entropy(z2, given)
    clean, corrected, doubtful = sort_labels(z1.detach(), z2.detach(), given, progress)
    total = losses[clean].sum() + DOUBTFUL * losses[doubtful].sum()
    if corrected.numel() > 0:
        q1, common = z1.detach()[corrected].softmax(dim=1).max(dim=1)
        q2 = z2.detach()[corrected].softmax(dim=1).amax(dim=1)
        towards = cross_entropy(z1[corrected], common) + cross_entropy(z2[corrected], common)
        total = total + ((q1 * q2) ** (0.5 - 0.5 * progress) * towards).sum()
    return total / max(1, given.numel())


def sort_labels(z1: Tensor, z2: Tensor, given: Tensor, progress: float) -> tuple[Tensor, Tensor, Tensor]:
    r"""Positions of clean, corrected and doubtful labels, each position in exactly one of them.

    Clean are the R N smallest losses, R = max(1 − progress / 2, share of losses below their mean). Of the others those
    are corrected whose networks agree on another class with :math:`q_1 q_2 > 1 - (1 - \min(1/2, 1/c))` progress.
    """
    losses = cross_entropy(z1, given) + cross_entropy(z2, given)
    share = max(1 - 0.5 * progress, (losses < losses.mean()).double().mean().item())
    order = losses.argsort(stable=True)
    kept = min(order.numel(), math.floor(share * order.numel() + 1e-9))
    clean, others = order[:kept], order[kept:]
    q1, k1 = z1[others].softmax(dim=1).max(dim=1)
    q2, k2 = z2[others].softmax(dim=1).max(dim=1)
    bar = 1 - (1 - min(0.5, 1 / z1.shape[1])) * progress
    corrected = (k1 == k2) & (k1 != given[others]) & (q1 * q2 > bar)
    return clean, others[corrected], others[~corrected]


def symmetric_divergence(z1: Tensor, z2: Tensor) -> Tensor:
    r""":math:`\mathrm{KL}(p^1 \| p^2) + \mathrm{KL}(p^2 \| p^1)` of each row, from logits."""
    log1, log2 = z1.log_softmax(dim=1), z2.log_softmax(dim=1)
    return ((log1.exp() - log2.exp()) * (log1 - log2)).sum(dim=1)


def neighbour_divergence(graph: WeightedGraph, logits: Tensor) -> Tensor:
    r""":math:`\sum_j w_{ji} \mathrm{KL}(p_j \| p_i)` of each node i over its neighbours, weights summing to 1.

    The neighbours' :math:`p_j` are taken as constant. With :math:`\bar p_i` their weighted mean, the sum is the
    weighted mean of :math:`\sum_k p_{jk} \log p_{jk}` minus :math:`\sum_k \bar p_{ik} \log p_{ik}`.
    """
    log = logits.log_softmax(dim=1)
    constant = log.detach()
    negative_entropy = (constant.exp() * constant).sum(dim=1, keepdim=True)
    mean = graph.neighbour_mean(torch.cat([constant.exp(), negative_entropy], dim=1))
    return mean[:, -1] - (mean[:, :-1] * log).sum(dim=1)
