r"""GCE: generalised cross entropy on the given labels, whole or truncated.

.. math:: \min_w \; \frac{1}{|T_N|} \sum_{i \in T_N} L_q(z_i, \tilde y_i), \qquad L_q = (1 - p_{\tilde y}^q) / q

Truncated, a label counts only while it is believed: with keep weights :math:`v_i = 1[p_{\tilde y_i} > k]`,

.. math:: \min_w \; \frac{1}{|T_N|} \sum_{i \in T_N} v_i \, L_q(z_i, \tilde y_i) + (1 - v_i)\,L_q(k).

All v are 1 for the first share of the epochs (at the start every p is about 1/c, and nobody would be kept); then they
are read again every few epochs from the predictions of the epoch that the selection rule prefers so far. Fine-tuned on
T_C with cross entropy.

Reference: Zhang and Sabuncu, *Generalized cross entropy loss for training deep neural networks with noisy labels*,
NeurIPS 2018.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from lnp.errors import ConfigError, check_range
from lnp.losses.generalised_cross_entropy import generalised_cross_entropy, truncation_value
from lnp.methods.base import Epoch, Terms
from lnp.methods.batch import Batch
from lnp.methods.fine_tuning import FineTunedConfig
from lnp.methods.one_network import FineTunedNetwork
from lnp.seeds import Generator, Randomness

__all__ = ["GCE", "GCEConfig"]


@dataclass(frozen=True, kw_only=True)
class GCEConfig(FineTunedConfig):
    """Options of GCE.

    The damped gradient needs a weaker weight decay than cross entropy, or the network never leaves its start.

    Args:
        q: In (0, 1]: near 0 like cross entropy, at 1 like absolute error.
        truncated: Whether labels that are not believed are left out.
        k: The probability that a label must exceed to be kept.
        warm_up: Share of the epochs before the first choice.
        refresh: Epochs between two choices.
    """

    normalisation: str = "row"
    weight_decay: float = 5e-5
    q: float = 0.7
    truncated: bool = False
    k: float = 0.5
    warm_up: float = 0.2
    refresh: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("q", self.q, 1e-6, 1)
        check_range("k", self.k, 0, 1)
        check_range("warm_up", self.warm_up, 0, 1)
        if self.refresh < 1:
            raise ConfigError(f"Expected `refresh` to be at least 1, but got {self.refresh}.")


class GCE(FineTunedNetwork):
    """One network, generalised cross entropy on the given labels.

    Attributes:
        keep: v, ``(n,)``; true everywhere until the first choice.
        best_likelihood: ``(n,)`` probability of the given label in the epoch that the selection rule prefers so far.
    """

    Config = GCEConfig
    in_parts = True
    config: GCEConfig
    keep: Tensor
    best_likelihood: Tensor

    def __init__(self, config: GCEConfig, batch: Batch, generator: Generator) -> None:
        super().__init__(config, batch, generator)
        self.register_buffer("keep", torch.ones(batch.node_count, dtype=torch.bool))
        self.register_buffer("best_likelihood", torch.zeros(batch.node_count))

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """Mean generalised cross entropy on T_N, constant where a label is not kept."""
        config = self.config
        logits = self.classifier(batch.graph, randomness.dropout)
        losses = generalised_cross_entropy(logits[batch.noisy], batch.noisy_labels, q=config.q)
        if config.truncated:
            keep = self.keep[batch.numbers(batch.noisy)]
            losses = torch.where(keep, losses, truncation_value(q=config.q, k=config.k))
        return {"noisy_gce": batch.mean(losses, "noisy")}

    def end_epoch(self, batch: Batch, epoch: Epoch) -> None:
        """Remembers how well the best epoch fits each label, and chooses again when it is time."""
        if not self.config.truncated or epoch.stage != "train":
            return
        nodes = batch.noisy
        if epoch.improved:
            self.best_likelihood[nodes] = epoch.probabilities[nodes, batch.noisy_labels]
        since = epoch.index + 1 - math.ceil(self.config.warm_up * epoch.count)
        if since >= 0 and since % self.config.refresh == 0:
            believed = self.best_likelihood[nodes] > self.config.k
            # With nobody left there would be nothing to learn from: keep everybody and choose again later.
            self.keep[nodes] = believed if believed.any() else True
