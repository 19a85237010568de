"""What both versions of LNP share: three networks, one objective, and a T_C that grows.

A version says two things: which labels the three distributions are conditioned on, and which labels draw the prior.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import ClassVar

import torch
from torch import Tensor, nn

from lnp.errors import ConfigError
from lnp.methods.base import Epoch, Members, Method, Stage, Terms
from lnp.methods.batch import Batch
from lnp.methods.lnp.concatenation import ConcatenatedDecoder, ConcatenatedPosterior, ConcatenatedPrior
from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.decoder import Decoded, Decoder
from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.label_odds import label_odds
from lnp.methods.lnp.large.terms import applies, large_predictions, large_terms
from lnp.methods.lnp.objective import objective
from lnp.methods.lnp.posterior import Encoded, Posterior
from lnp.methods.lnp.prior import Prior
from lnp.methods.lnp.trusted_set import TrustedSet, cosine_similarity, label_similarity
from lnp.nn.prototypes import WholeSums
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
    """

    Config = LNPConfig
    needs_trusted = True
    in_parts = True
    prior_over: ClassVar[str]
    """Whose labels :meth:`prior_labels` are: those of the "noisy" or of the "trusted" nodes."""
    config: LNPConfig
    odds: Tensor

    def __init__(self, config: LNPConfig, batch: Batch, generator: Generator) -> None:
        super().__init__()
        self.config = config
        self.posterior: nn.Module
        self.decoder: nn.Module
        self.prior: nn.Module
        if config.fusion == "prototypes":
            self.posterior = Posterior(config, batch, generator)
            self.decoder = Decoder(config, batch, generator)
            self.prior = Prior(config, batch, generator)
        else:
            classes = batch.class_count
            given = classes if self.condition(batch) is not None else 0
            self.posterior = ConcatenatedPosterior(config, batch, generator, extra=classes)
            self.decoder = ConcatenatedDecoder(config, batch, generator, extra=classes + given)
            self.prior = ConcatenatedPrior(config, batch, generator, extra=given)
        self.trusted_set = TrustedSet(batch.node_count)
        odds = label_odds(batch) ** config.odds_power if config.odds_power > 0 else 1.0
        self.register_buffer("odds", torch.tensor(odds, dtype=torch.float32))

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
        if applies(self.config, batch):
            return large_terms(self, batch, randomness)
        encoded, decoded = self.infer(batch, randomness)
        prior = self.prior(batch.graph, self.condition(batch), randomness.dropout, _whole(batch, "prior"))
        weights = self.weigh(batch, self.judgement(batch, encoded, decoded), randomness)
        return objective(
            self.config,
            batch,
            encoded.logits,
            decoded,
            prior,
            self.prior_labels(batch),
            weights,
            randomness.sampling,
            prior_over=self.prior_over,
        )

    def judgement(self, batch: Batch, encoded: Encoded, decoded: Decoded) -> Tensor:
        """The label distributions at the nodes of T_N by which their given labels are judged, without gradient."""
        nodes = batch.noisy
        if self.config.told:
            return softmax(decoded.logits.detach()[nodes])
        return softmax(decoded.untold(nodes, encoded.untold(nodes)))

    def weigh(self, batch: Batch, predictions: Tensor, randomness: Randomness) -> Tensor:
        """W times the odds, one number per node of T_N; also proposes the nodes that join T_C.

        Args:
            batch: What the method sees.
            predictions: The distributions of :meth:`judgement`.
            randomness: Source of random weights, where they are asked for.
        """
        similarity = label_similarity(
            predictions,
            batch.noisy_labels,
            self.config.similarity,
            randomness.sampling,
            None if batch.across is None else partial(batch.extremes, "similarity"),
        )
        self.trusted_set.propose(batch.numbers(batch.noisy), similarity, self.config.delta)
        weights = similarity if self.config.weights == "similarity" else torch.ones_like(similarity)
        return weights * self.odds

    def infer(self, batch: Batch, randomness: Randomness | None) -> tuple[Encoded, Decoded]:
        """Encodes and decodes: Q, and the decoder's outputs."""
        dropout = randomness.dropout if randomness else None
        sampling = randomness.sampling if randomness else None
        trusted, noisy = self.trusted_set.members(batch), self.condition(batch)
        encoded: Encoded = self.posterior(batch.graph, trusted, noisy, dropout, _whole(batch, "posterior"))
        whole = _whole(batch, "decoder")
        return encoded, self.decoder(batch.graph, encoded.logits, trusted, noisy, dropout, sampling, whole)

    def check_parts(self) -> None:
        """Labels beside the features would have to be known of all neighbours, Q's own answers among them."""
        if self.config.fusion == "concatenation":
            raise ConfigError(
                "Expected `fusion` prototypes to train in parts, but got concatenation, whose decoder reads the "
                "posterior of all neighbours. Train on the full batch."
            )

    def remember(self, batch: Batch) -> dict[str, Members]:
        """The embeddings behind the prototypes, and how far predictions and given labels are alike."""
        trusted, noisy = self.trusted_set.members(batch), Labelled(batch.noisy, batch.noisy_labels)
        sums = {"posterior": (self.posterior, trusted), "decoder": (self.decoder, trusted)}
        if self.condition(batch) is not None:
            sums["prior"] = (self.prior, noisy)
        members = {
            name: Members(network.get_submodule("embedding")(batch.graph, None), _labels(batch, labelled))
            for name, (network, labelled) in sums.items()
        }
        if self.config.similarity == "minmax":
            cosines = cosine_similarity(self.judgement(batch, *self.infer(batch, None)), noisy.labels)
            members["similarity"] = Members(_column(batch, noisy, cosines), _labels(batch, noisy))
        return members

    def predict(self, batch: Batch) -> Tensor:
        """The decoder's label distribution of every node."""
        if not torch.is_grad_enabled() and not self.training and applies(self.config, batch):
            return large_predictions(self, batch)
        return softmax(self.infer(batch, None)[1].logits)

    def end_epoch(self, batch: Batch, epoch: Epoch) -> None:
        """T_C is reset and grows by what the epoch proposed."""
        self.trusted_set.renew()


def _whole(batch: Batch, name: str) -> WholeSums | None:
    """How sums over the members of that name become those of the whole graph, where the batch is only a part."""
    return None if batch.across is None else partial(batch.class_sums, name)


def _labels(batch: Batch, labelled: Labelled) -> Tensor:
    """``(n,)`` labels of the given nodes, −1 elsewhere."""
    labels = torch.full((batch.node_count,), -1, dtype=torch.int64, device=batch.given.device)
    labels[labelled.nodes] = labelled.labels
    return labels


def _column(batch: Batch, labelled: Labelled, values: Tensor) -> Tensor:
    """``(n, 1)`` values of the given nodes, 0 elsewhere."""
    column = torch.zeros(batch.node_count, 1, device=values.device)
    column[labelled.nodes, 0] = values
    return column
