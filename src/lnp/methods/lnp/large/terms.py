"""LNP's objective and predictions on many nodes, put together from the steps beside this file.

The numbers are those of :mod:`lnp.methods.lnp.objective` but for rounding. What is not the paper's objective (the
options of the released code, ablations, a part of a graph) takes the plain way, and so do graphs of fewer nodes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lnp.losses.cross_entropy import cross_entropy
from lnp.losses.divergence_sweep import divergence_sweep
from lnp.methods.base import Terms
from lnp.methods.batch import Batch
from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.large.labelled import labelled_loss
from lnp.methods.lnp.large.posterior import Rules, posterior_logits
from lnp.methods.lnp.large.predict import predicted
from lnp.methods.lnp.large.prior import prior_logits
from lnp.nn.sparse import transformed
from lnp.seeds import Generator, Randomness

if TYPE_CHECKING:
    from lnp.methods.lnp.model import LNP

__all__ = ["applies", "large_predictions", "large_terms"]

MANY = 100_000
"""Nodes from which on it pays."""

NETWORKS = ("posterior", "decoder", "prior")
"""In the order in which they draw their dropout."""


def applies(config: LNPConfig, batch: Batch) -> bool:
    """Whether this batch is the whole of a large graph and the objective is the one that is written out here."""
    return (
        batch.node_count >= MANY
        and batch.across is None
        and batch.own is None
        and batch.nodes is None
        and not transformed()
        and (config.fusion, config.embedding, config.alpha, config.beta) == ("prototypes", "unit", "cosine", "cosine")
        and (config.expectation, config.kl_direction, config.kl_nodes) == ("plug-in", "QP", "all")
        and config.similarity != "random"
        and config.negatives > 0
        and config.lambda_3 > 0
    )


def large_terms(model: LNP, batch: Batch, randomness: Randomness) -> Terms:
    """All terms of the objective; also proposes the nodes that join T_C in the next epoch."""
    config, scale = model.config, model.config.scale
    trusted, noisy = model.trusted_set.members(batch), model.condition(batch)
    posterior, decoder, prior = (_outputs(model, name, batch, randomness.dropout) for name in NETWORKS)
    rules = Rules.of(batch.given, trusted, noisy, config.grown_as, posterior)
    posterior = posterior_logits(posterior, trusted, rules, scale)
    prior_labels = model.prior_labels(batch)
    prior, prior_rows = prior_logits(prior, noisy, prior_labels.nodes, scale)

    count = batch.noisy.numel()
    rows = torch.cat([batch.noisy, batch.trusted])
    drawn = torch.from_numpy(randomness.sampling.integers(0, batch.node_count, size=config.negatives))
    probabilities, kl, contrastive = divergence_sweep(
        posterior,
        prior,
        rows,
        drawn.to(rows.device),
        config.tau,
        math.log(batch.node_count / config.negatives),
        config.lambda_3,
        scale,
    )
    inputs = probabilities.new_zeros(rows.numel(), 1)
    if noisy is not None:
        inputs[:count] = 1
    # The decoder's prototypes by position in `rows`: T_C stands last, what joined it is among T_N.
    grown = model.trusted_set.grown[batch.noisy].nonzero().squeeze(1)
    positions = torch.cat([torch.arange(count, rows.numel(), device=rows.device), grown])
    labels = batch.given[rows]
    losses, predictions = labelled_loss(
        decoder.index_select(0, rows), probabilities, labels, inputs, Labelled(positions, labels[positions]), scale
    )
    weights = model.weigh(batch, predictions[:count], randomness)
    terms = {"reconstruction": losses[count:].mean(), "kl": kl}
    if config.lambda_1 > 0:
        terms["weighted_ce"] = config.lambda_1 * (weights * losses[:count]).mean()
    if config.lambda_2 > 0:
        terms["prior_ce"] = config.lambda_2 * cross_entropy(prior_rows, prior_labels.labels).mean()
    terms["contrastive"] = contrastive
    return terms


def large_predictions(model: LNP, batch: Batch) -> Tensor:
    """The decoder's label distribution of every node, in evaluation mode without gradient."""
    trusted, noisy = model.trusted_set.members(batch), model.condition(batch)
    posterior, decoder = (_outputs(model, name, batch, None) for name in NETWORKS[:2])
    rules = Rules.of(batch.given, trusted, noisy, model.config.grown_as, posterior)
    inputs = posterior.new_zeros(batch.node_count, 1)
    if noisy is not None:
        inputs[noisy.nodes] = 1
    return predicted(posterior, decoder, trusted, rules, inputs, model.config.scale)


def _outputs(model: LNP, name: str, batch: Batch, dropout: Generator | None) -> Tensor:
    """F of one network."""
    outputs: Tensor = model.get_submodule(f"{name}.embedding.network")(batch.graph, dropout)
    return outputs
