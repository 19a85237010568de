"""LNP's objective and predictions on many nodes, put together from the steps beside this file.

The numbers are those of :mod:`lnp.methods.lnp.objective` but for rounding, and for the contrastive loss, of which an
epoch asks only some of the nodes (:data:`ANCHORS`). What is not the paper's objective (the
options of the released code, ablations, mini-batches) takes the plain way, and so do graphs of fewer nodes. A process
that has a share of the rows computes its own; sums over the members of a class, and the means that the terms are, are
those of the whole graph (:class:`~lnp.methods.batch.Across`), with their gradients.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.base import Terms
from lnp.methods.batch import Batch
from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.large.divergence import Negatives, divergence
from lnp.methods.lnp.large.labelled import labelled_loss
from lnp.methods.lnp.large.posterior import PosteriorLogits, Rules
from lnp.methods.lnp.large.predict import predicted
from lnp.methods.lnp.large.prior import PriorLogits
from lnp.nn.gcn import GCN
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.scratch import Scratch
from lnp.nn.sparse import transformed
from lnp.seeds import Generator, Randomness

if TYPE_CHECKING:
    from lnp.methods.lnp.model import LNP

__all__ = ["MANY", "MOST", "applies", "large_predictions", "large_terms", "written_out"]

MANY = 100_000
"""Nodes of the whole graph from which on it pays: however many processes share them, all take the same way."""

ANCHORS = 4_096
"""About so many nodes are asked for the contrastive loss in an epoch, others in the next: twice the error of
four times as many, whose mean is known to 1 %."""

MOST = 0.75
"""Up to this share of labelled nodes the decoder computes their outputs alone, with rows of S that are kept for it."""


def applies(config: LNPConfig, batch: Batch) -> bool:
    """Whether this is a large graph, or a process's share of one, and the objective is the one written out here.

    Mini-batches have neighbours or visitors behind their own rows.
    """
    return batch.population >= MANY and batch.own is None and not transformed() and written_out(config)


def written_out(config: LNPConfig) -> bool:
    """Whether the objective is the one that is written out here."""
    return (
        (config.fusion, config.embedding, config.alpha, config.beta) == ("prototypes", "unit", "cosine", "cosine")
        and (config.expectation, config.kl_direction, config.kl_nodes) == ("plug-in", "QP", "all")
        and config.similarity != "random"
        and config.told
        and config.negatives > 0
        and config.lambda_3 > 0
    )


def large_terms(model: LNP, batch: Batch, randomness: Randomness) -> Terms:
    """All terms of the objective; also proposes the nodes that join T_C in the next epoch."""
    config, scale = model.config, model.config.scale
    trusted, noisy = model.trusted_set.members(batch), model.condition(batch)
    count = batch.noisy.numel()
    rows = torch.cat([batch.noisy, batch.trusted])
    scratch = Scratch()
    posterior = _outputs(model, "posterior", batch, scratch, randomness.dropout)
    decoder = _outputs(model, "decoder", batch, scratch, randomness.dropout, rows)
    prior = _outputs(model, "prior", batch, scratch, randomness.dropout)
    rules, prior_labels = Rules.of(batch.given, trusted, noisy, config.grown_as, posterior), model.prior_labels(batch)
    drawn = torch.from_numpy(randomness.sampling.integers(0, batch.node_count, size=config.negatives))
    log_mass = math.log(batch.population / config.negatives)
    every = -(-batch.population // ANCHORS)
    anchors = int(randomness.sampling.integers(0, every)), every
    probabilities, prior_rows, kl, contrastive = divergence(
        posterior,
        prior,
        PosteriorLogits(posterior.detach(), trusted, rules, scale, partial(batch.class_sums, "posterior")),
        PriorLogits(prior.detach(), noisy, scale, partial(batch.class_sums, "prior")),
        rows,
        prior_labels.nodes,
        Negatives(drawn.to(rows.device), config.tau, log_mass, config.lambda_3, anchors),
    )
    inputs = probabilities.new_zeros(rows.numel(), 1)
    if noisy is not None:
        inputs[:count] = 1
    # The decoder's prototypes by position in `rows`: T_C stands last, what joined it is among T_N.
    grown = model.trusted_set.grown[batch.numbers(batch.noisy)].nonzero().squeeze(1)
    positions = torch.cat([torch.arange(count, rows.numel(), device=rows.device), grown])
    labels = batch.given[rows]
    members = Labelled(positions, labels[positions])
    whole = partial(batch.class_sums, "decoder")
    losses, predictions = labelled_loss(decoder, probabilities, labels, inputs, members, scale, whole)
    weights = model.weigh(batch, predictions[:count], randomness)
    terms = {"reconstruction": batch.mean(losses[count:], "trusted"), "kl": _over_all(batch, kl)}
    if config.lambda_1 > 0:
        terms["weighted_ce"] = config.lambda_1 * batch.mean(weights * losses[:count], "noisy")
    if config.lambda_2 > 0:
        losses = cross_entropy(prior_rows, prior_labels.labels)
        terms["prior_ce"] = config.lambda_2 * batch.mean(losses, model.prior_over)
    terms["contrastive"] = _over_all(batch, contrastive)
    return terms


def large_predictions(model: LNP, batch: Batch) -> Tensor:
    """The decoder's label distribution of every node, in evaluation mode without gradient."""
    trusted, noisy = model.trusted_set.members(batch), model.condition(batch)
    scratch = Scratch()
    posterior, decoder = (_outputs(model, name, batch, scratch) for name in ("posterior", "decoder"))
    rules = Rules.of(batch.given, trusted, noisy, model.config.grown_as, posterior)
    inputs = posterior.new_zeros(batch.node_count, 1)
    if noisy is not None:
        inputs[noisy.nodes] = 1
    whole = partial(batch.class_sums, "posterior"), partial(batch.class_sums, "decoder")
    return predicted(posterior, decoder, trusted, rules, inputs, model.config.scale, whole)


def _over_all(batch: Batch, mean: Tensor) -> Tensor:
    """The mean over all nodes from that over the batch's, as if each of these had it."""
    return mean if batch.across is None else batch.mean(mean.expand(batch.node_count), "all")


def _outputs(
    model: LNP,
    name: str,
    batch: Batch,
    scratch: Scratch,
    dropout: Generator | None = None,
    rows: Tensor | None = None,
) -> Tensor:
    """F of one network, or some rows of it."""
    network = model.get_submodule(f"{name}.embedding.network")
    few = rows is not None and rows.numel() <= MOST * batch.node_count
    outputs: Tensor
    if isinstance(network, GCN) and type(batch.graph) is GraphTensors:
        outputs = network(batch.graph, dropout, rows=rows if few else None, scratch=scratch)
        return outputs if rows is None or few else outputs.index_select(0, rows)
    outputs = network(batch.graph, dropout)
    return outputs if rows is None else outputs.index_select(0, rows)
