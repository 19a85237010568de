r"""LNP for several seeds: T_C has another size in each of them.

Seen by ``vmap``, all seeds have tensors of the same shape, so T_C becomes a list of all nodes that might be in it,
:math:`T_C \cup T_N`, where those that did not join have the label −1. Prototypes take no notice of such a label by
themselves; the rule for trusted nodes has to be told. The contrastive loss is taken seed by seed: it is long enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import torch
from torch import Tensor, nn

from lnp.engine.lockstep.stack import on_stack
from lnp.losses.contrastive import sampled_contrastive_loss
from lnp.methods.base import Stage, Terms, Update
from lnp.methods.batch import Batch
from lnp.methods.config import MethodConfig
from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.model import LNP
from lnp.methods.lnp.objective import objective
from lnp.methods.lnp.posterior import Encoded, Posterior, agreement
from lnp.methods.lnp.trusted_set import TrustedSet
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.prototypes import WholeSums, class_prototypes
from lnp.nn.softmax import softmax
from lnp.seeds import Generator, Randomness

__all__ = ["adapt_lnp", "objection_to_lnp"]

OUTSIDE = -1
"""The label of a node that is not in T_C now."""


def objection_to_lnp(config: MethodConfig) -> str | None:
    """Which option, if any, has no form for several seeds."""
    assert isinstance(config, LNPConfig)
    wanted = {"fusion": "prototypes", "kl_nodes": "all"}
    unwanted = {"similarity": "random", "beta": "random"}
    for option, value in wanted.items():
        if getattr(config, option) != value:
            return f"{option}={getattr(config, option)} has no form for several seeds"
    for option, value in unwanted.items():
        if getattr(config, option) == value:
            return f"{option}={value} has no form for several seeds"
    if config.lambda_3 > 0 and config.negatives == 0:
        return "the exact contrastive loss (negatives=0) has no form for several seeds"
    return None


def adapt_lnp(method: LNP) -> Callable[[Batch], list[Stage]]:
    """Exchanges T_C and the posterior in ``method``, and returns its stages with the loss for several seeds."""
    assert isinstance(method.posterior, Posterior)
    method.posterior = MaskedPosterior(method.posterior)
    method.trusted_set = MaskedTrustedSet(method.trusted_set.grown.numel())

    def stages(batch: Batch) -> list[Stage]:
        return [replace(stage, updates=(Update(partial(_loss, method)),)) for stage in method.stages(batch)]

    return stages


class MaskedTrustedSet(TrustedSet):
    """T_C as a list of fixed length."""

    def members(self, batch: Batch) -> Labelled:
        """The initial T_C, then T_N, with the label −1 where a node has not joined."""
        joined = torch.where(self.grown[batch.noisy], batch.noisy_labels, OUTSIDE)
        return Labelled(torch.cat([batch.trusted, batch.noisy]), torch.cat([batch.trusted_labels, joined]))


class MaskedPosterior(nn.Module):
    """The :class:`~lnp.methods.lnp.posterior.Posterior` with a T_C of fixed length."""

    def __init__(self, posterior: Posterior) -> None:
        super().__init__()
        self.embedding = posterior.embedding
        self.class_count = posterior.class_count
        self.alpha, self.grown_as = posterior.alpha, posterior.grown_as

    def forward(
        self,
        graph: GraphTensors,
        trusted: Labelled,
        noisy: Labelled | None,
        generator: Generator | None,
        whole: WholeSums | None = None,
    ) -> Encoded:
        """Encodes labels and graph."""
        embeddings: Tensor = self.embedding(graph, generator)
        prototypes = class_prototypes(embeddings, *trusted, self.class_count, whole)
        anchors = nearest = prototypes.nearest(embeddings)
        if noisy is not None:
            given = prototypes.vectors[noisy.labels]
            share = agreement(embeddings[noisy.nodes], given, self.alpha).unsqueeze(1)
            mixed = share * given + (1 - share) * anchors[noisy.nodes]
            anchors = anchors.index_copy(0, noisy.nodes, mixed)
        inside = trusted.labels != OUTSIDE
        if noisy is not None and self.grown_as == "noisy":  # those that joined keep the rule of noisy nodes
            first = trusted.labels.numel() - noisy.labels.numel()
            inside = torch.cat([inside[:first], torch.zeros_like(inside[first:])])
        rows = prototypes.vectors[trusted.labels.clamp(min=0)]
        rows = torch.where(inside.unsqueeze(1), rows, anchors[trusted.nodes])
        return Encoded((embeddings + anchors.index_copy(0, trusted.nodes, rows)) / 2, embeddings, nearest)


def _loss(method: LNP, batch: Batch, randomness: Randomness) -> Terms:
    """:meth:`LNP.loss`, the contrastive term seed by seed."""
    config = method.config
    encoded, decoded = method.infer(batch, randomness)
    posterior = encoded.logits
    prior = method.prior(batch.graph, method.condition(batch), randomness.dropout)
    weights = method.weigh(batch, method.judgement(batch, encoded, decoded), randomness)
    rest = replace(config, lambda_3=0.0)
    labels = method.prior_labels(batch)
    over = method.prior_over
    terms = objective(rest, batch, posterior, decoded, prior, labels, weights, randomness.sampling, prior_over=over)
    if config.lambda_3 > 0:
        generators = cast("Sequence[Generator]", randomness.sampling)
        losses = on_stack(partial(_contrastive, config, generators), softmax(posterior), softmax(prior))
        terms["contrastive"] = config.lambda_3 * losses.mean()
    return terms


def _contrastive(config: LNPConfig, generators: Sequence[Generator], first: Tensor, second: Tensor) -> Tensor:
    losses = [
        sampled_contrastive_loss(one, other, config.tau, config.negatives, generator)
        for one, other, generator in zip(first.unbind(), second.unbind(), generators, strict=True)
    ]
    return torch.stack(losses)
