r"""UnionNET: the labels of similar nodes nearby weight the given label and propose a corrected one.

Every node i of T_N has a support set :math:`S_i \subset T_N` of k nodes met by random walks from i. With h the hidden
layer of the network,

.. math::
    a_{ij} &= \frac{\exp(h_i^\top h_j)}{\sum_{l \in S_i} \exp(h_i^\top h_l)}, \qquad
    P_i(k) = \sum_{j \in S_i} a_{ij} 1[\tilde y_j = k] \\
    L_r &= \operatorname{mean}_i P_i(\tilde y_i)\,\mathrm{CE}(z_i, \tilde y_i), \qquad
    L_c = \operatorname{mean}_i P_i(k_i)\,\mathrm{CE}(z_i, k_i), \quad k_i = \arg\max_k P_i(k) \\
    L_p &= \sum_k \pi_k \log \frac{\pi_k}{\operatorname{mean}_i p_{ik}} \\
    L &= a L_r + (1 - a) L_c + b L_p

with π the class shares of the given labels. Means are over T_N, P carries no gradient, and the first epochs minimise
plain cross entropy. A node is not in its own support set unless the walks meet no other node of T_N: its own label
would confirm itself. No code of the authors is public; walk length, number of walks, k and warm-up are our choice.

Reference: Li, Yin and Chen, *Unified robust training for graph neural networks against label noise*, PAKDD 2021.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lnp.errors import ConfigError, check_range
from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.base import Epoch, Stage, Terms
from lnp.methods.batch import Batch
from lnp.methods.fine_tuning import FineTunedConfig
from lnp.methods.one_network import FineTunedNetwork
from lnp.nn.random_walks import most_visited, random_walks
from lnp.seeds import Generator, Randomness

__all__ = ["UnionNET", "UnionNETConfig", "class_distributions", "prior_divergence", "union_losses"]


@dataclass(frozen=True, kw_only=True)
class UnionNETConfig(FineTunedConfig):
    """Options of UnionNET.

    Args:
        support_size: k, nodes in a support set.
        walks: Random walks from every node of T_N.
        walk_length: Steps of a walk.
        reweighting: a, the share of the reweighting loss against the correction loss.
        prior_weight: b, the weight of the prior loss.
        warm_up: First epochs, which minimise plain cross entropy.
    """

    support_size: int = 10
    walks: int = 10
    walk_length: int = 10
    reweighting: float = 0.5
    prior_weight: float = 1.0
    warm_up: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("reweighting", self.reweighting, 0, 1)
        check_range("prior_weight", self.prior_weight, 0, 1e6)
        if self.layers < 2 and self.backbone in ("gcn", "mlp"):  # others have a hidden layer besides
            raise ConfigError(
                f"Expected `layers` to be at least 2 with the backbone {self.backbone}, since nodes are compared by a "
                "hidden layer, but got 1. Use more layers, or the backbone sign or h2gcn."
            )
        for name, least in (("support_size", 1), ("walks", 1), ("walk_length", 1), ("warm_up", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"Expected `{name}` to be at least {least}, but got {getattr(self, name)}.")


class UnionNET(FineTunedNetwork):
    """One network whose training labels are weighted and corrected by those of its support sets."""

    Config = UnionNETConfig
    config: UnionNETConfig
    epoch: Tensor
    support: Tensor
    distribution: Tensor

    def __init__(self, config: UnionNETConfig, batch: Batch, generator: Generator) -> None:
        super().__init__(config, batch, generator)
        self.register_buffer("epoch", torch.zeros((), dtype=torch.int64))
        self.register_buffer("support", _support_sets(config, batch, generator))
        self.register_buffer("distribution", torch.zeros(batch.node_count, batch.class_count))

    def stages(self, batch: Batch) -> list[Stage]:
        """Training on T_N with warm-up, then fine-tuning on T_C."""
        return [self.main_stage(self.loss, begin=self._begin), *self.fine_tuning(batch)]

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """Plain cross entropy in the warm-up, then reweighting, correction and prior."""
        if batch.noisy.numel() == 0:
            return {}
        outputs = self.classifier(batch.graph, randomness.dropout)
        logits, labels, config = outputs[batch.noisy], batch.noisy_labels, self.config
        if int(self.epoch) < config.warm_up:
            return {"noisy_ce": cross_entropy(logits, labels).mean()}
        reweighted, corrected = union_losses(logits, labels, self.distribution[batch.noisy])
        shares = torch.bincount(labels, minlength=batch.class_count) / labels.numel()
        return {
            "reweighted_ce": config.reweighting * reweighted.mean(),
            "corrected_ce": (1 - config.reweighting) * corrected.mean(),
            "prior": config.prior_weight * prior_divergence(logits.softmax(dim=1), shares),
        }

    def end_epoch(self, batch: Batch, epoch: Epoch) -> None:
        """Counts the epoch and aggregates labels by the embeddings as they are now, for the next epoch."""
        if epoch.stage == "train":
            self.epoch.fill_(epoch.index + 1)
            self._aggregate(batch)

    def _begin(self, batch: Batch, randomness: Randomness) -> None:
        self._aggregate(batch)

    @torch.no_grad()
    def _aggregate(self, batch: Batch) -> None:
        """P of every node of T_N, from embeddings without dropout; nothing to do in the warm-up."""
        if int(self.epoch) < self.config.warm_up or batch.noisy.numel() == 0:
            return
        embeddings = self.classifier.embed(batch.graph)
        support = self.support[batch.noisy]
        self.distribution[batch.noisy] = class_distributions(
            embeddings, batch.noisy, support, batch.given[support], batch.class_count
        )


def class_distributions(embeddings: Tensor, nodes: Tensor, support: Tensor, labels: Tensor, class_count: int) -> Tensor:
    """P, the attention-weighted labels of the support sets, one row per node.

    Args:
        embeddings: h, ``(n, d)``.
        nodes: The nodes i, ``(s,)``.
        support: S_i as node numbers, ``(s, k)``.
        labels: The given labels of the support, ``(s, k)``.
        class_count: The number of classes c.
    """
    # One column of the support at a time: (s, d) instead of (s, k, d).
    anchors = embeddings[nodes]
    similarity = torch.stack([(anchors * embeddings[column]).sum(dim=1) for column in support.unbind(dim=1)], dim=1)
    attention = similarity.softmax(dim=1)
    return attention.new_zeros(nodes.numel(), class_count).scatter_add_(1, labels, attention)


def union_losses(logits: Tensor, labels: Tensor, distribution: Tensor) -> tuple[Tensor, Tensor]:
    """The reweighting and the correction loss of every node; ``distribution`` is P, one row per node."""
    trust = distribution.gather(1, labels.unsqueeze(1)).squeeze(1)
    weight, proposed = distribution.max(dim=1)
    return trust * cross_entropy(logits, labels), weight * cross_entropy(logits, proposed)


def prior_divergence(probabilities: Tensor, shares: Tensor) -> Tensor:
    """The KL divergence from the mean prediction to the class shares π: 0 where they are equal.

    >>> prior_divergence(torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([0.5, 0.5])).item()
    0.0
    """
    mean = probabilities.mean(dim=0).clamp(min=torch.finfo(probabilities.dtype).tiny)
    divergence: Tensor = torch.special.xlogy(shares, shares).sum() - (shares * mean.log()).sum()
    return divergence


def _support_sets(config: UnionNETConfig, batch: Batch, generator: Generator) -> Tensor:
    """S as node numbers, ``(n, k)``; a node outside T_N stands for itself and is never asked for."""
    adjacency, noisy = batch.graph.graph.adjacency, batch.noisy.cpu().numpy()
    allowed = torch.zeros(batch.node_count, dtype=torch.bool)
    allowed[batch.noisy.cpu()] = True
    visited = random_walks(adjacency, noisy, generator, walks=config.walks, length=config.walk_length)
    support = torch.arange(batch.node_count).unsqueeze(1).repeat(1, config.support_size)
    support[batch.noisy.cpu()] = torch.from_numpy(most_visited(visited, noisy, allowed.numpy(), config.support_size))
    return support
