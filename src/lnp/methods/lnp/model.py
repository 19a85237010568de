"""What both versions of LNP share: three networks, one objective, and a T_C that grows.

A version says two things: which labels the three distributions are conditioned on, and which labels draw the prior.
"""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor, nn

from lnp.methods.base import Epoch, Method, Stage, Terms
from lnp.methods.batch import Batch
from lnp.methods.lnp.concatenation import ConcatenatedDecoder, ConcatenatedPosterior, ConcatenatedPrior
from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.decoder import Decoded, Decoder
from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.objective import objective
from lnp.methods.lnp.posterior import Posterior
from lnp.methods.lnp.prior import Prior
from lnp.methods.lnp.trusted_set import TrustedSet, label_odds, label_similarity
from lnp.nn.softmax import softmax
from lnp.seeds import Generator, Randomness

__all__ = ["LNP"]


class LNP(Method):
    r"""Three networks, named by the distributions they stand for.

    Attributes:
        posterior: :math:`Q_\phi(\bar Y \mid \cdot)`.
        decoder: :math:`P_\varphi(Y \mid \bar Y, \cdot)`.
        prior: :math:`P_\theta(\bar Y \mid \cdot)`.
        trusted_set: T_C in the current epoch.
        odds: By how much λ1 is multiplied.
        epoch: Epochs trained so far.
    """

    Config = LNPConfig
    needs_trusted = True
    config: LNPConfig
    odds: Tensor
    epoch: Tensor

    def __init__(self, config: LNPConfig, batch: Batch, generator: Generator) -> None:
        super().__init__()
        self.config = config
        width, classes = batch.graph.features.shape[1], batch.class_count
        self.posterior: nn.Module
        self.decoder: nn.Module
        self.prior: nn.Module
        if config.fusion == "prototypes":
            self.posterior = Posterior(config, width, classes, generator)
            self.decoder = Decoder(config, width, classes, generator)
            self.prior = Prior(config, width, classes, generator)
        else:
            given = classes if self.condition(batch) is not None else 0
            self.posterior = ConcatenatedPosterior(config, width + classes, classes, generator)
            self.decoder = ConcatenatedDecoder(config, width + classes + given, classes, generator)
            self.prior = ConcatenatedPrior(config, width + given, classes, generator)
        self.trusted_set = TrustedSet(batch.node_count)
        self.register_buffer("odds", torch.ones(()))
        self.register_buffer("epoch", torch.zeros((), dtype=torch.int64))

    @abstractmethod
    def condition(self, batch: Batch) -> Labelled | None:
        """Y_N if the distributions are conditioned on it."""

    @abstractmethod
    def prior_labels(self, batch: Batch) -> Labelled:
        r"""The labels of the :math:`\lambda_2` term."""

    def stages(self, batch: Batch) -> list[Stage]:
        """One stage, one optimiser over the three networks."""
        return [self.main_stage(self.loss)]

    def loss(self, batch: Batch, randomness: Randomness) -> Terms:
        """All terms of the objective; also proposes the nodes that join T_C in the next epoch."""
        posterior, decoded = self.infer(batch, randomness)
        prior = self.prior(batch.graph, self.condition(batch), randomness.dropout)
        predictions = softmax(decoded.logits.detach()[batch.noisy])
        similarity = label_similarity(predictions, batch.noisy_labels, self.config.similarity, randomness.sampling)
        self.trusted_set.propose(batch.noisy, similarity, self.config.delta)
        weights = similarity if self.config.weights == "similarity" else torch.ones_like(similarity)
        if self.config.odds_power > 0:
            if int(self.epoch) < self.config.odds_epochs or self.config.odds_epochs == 0:
                self.odds.copy_(label_odds(predictions, batch.noisy_labels, self.config.odds_power))
            weights = weights * self.odds
        return objective(
            self.config, batch, posterior, decoded, prior, self.prior_labels(batch), weights, randomness.sampling
        )

    def infer(self, batch: Batch, randomness: Randomness | None) -> tuple[Tensor, Decoded]:
        """Encodes and decodes: the logits of Q, and the decoder's outputs."""
        dropout = randomness.dropout if randomness else None
        sampling = randomness.sampling if randomness else None
        trusted, noisy = self.trusted_set.members(batch), self.condition(batch)
        posterior = self.posterior(batch.graph, trusted, noisy, dropout)
        return posterior, self.decoder(batch.graph, posterior, trusted, noisy, dropout, sampling)

    def predict(self, batch: Batch) -> Tensor:
        """The decoder's label distribution of every node."""
        return softmax(self.infer(batch, None)[1].logits)

    def end_epoch(self, batch: Batch, epoch: Epoch) -> None:
        """T_C is reset and grows by what the epoch proposed."""
        self.trusted_set.renew()
        self.epoch.add_(1)
