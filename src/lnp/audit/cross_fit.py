r"""The audit's own scorer: cross-fitted networks and a channel that explain the labels together.

1. Stories to begin with (:mod:`lnp.audit.first_channel`), where every class has a trusted node; else uniform noise.
2. Three rounds: networks learn through a channel and judge the labels they have not seen (:mod:`lnp.audit.folds`);
   from their judgement and the labels comes a better channel (:mod:`lnp.audit.channel_fit`). All trusted nodes teach,
   and weigh as much as all noisy ones together at first, so that a class cannot slip into the place of another. The
   first round is run for every story; the channel that makes the unseen labels most likely stays.
3. A last round in which the trusted nodes are cut into parts too. Now there are nodes of known class that networks
   have not seen, which tell the networks' mistakes from wrong labels.
4. Bayes' rule (:mod:`lnp.audit.posterior`) with the mean judgement of the last two rounds.

Rounds, epochs and weights were compared on the validation nodes of other draws than those reported; docs/audit.md says
where that separation is not perfect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lnp.audit.channel_fit import ChannelFit, believed, fit_channel, fit_doubts, fit_sharpness, weights_of
from lnp.audit.first_channel import PRESUMED_RATE, stories, trusted_evidence
from lnp.audit.folds import FOLDS, OnNetwork, draw_folds, out_of_fold, train_network
from lnp.audit.network import ChannelNetworkConfig
from lnp.audit.posterior import Floats, label_posterior
from lnp.audit.transition import uniform_transition
from lnp.methods.base import MethodConfig
from lnp.methods.batch import Batch
from lnp.seeds import Generator, Seeds

__all__ = ["LabelScores", "audit_network", "cross_fit", "network_count"]

SHARES = (1.0, 1.0, 0.3)
"""What all trusted nodes weigh together against all noisy ones, in each round: as much, until the channel keeps the
classes apart by itself. The last round goes on with the last share."""

LEARNS_FROM_FEW = 0.8
"""Dropout of the network that learns from the trusted nodes alone."""

SAMPLE = 20_000
"""So many labels are enough to fit a channel; with more, these are drawn."""


@dataclass(frozen=True, eq=False)
class LabelScores:
    """What a scorer thinks of the noisy labels.

    Args:
        posterior: ``(m, c)`` the probability of every class with the given label taken into account, in the order of
            the noisy nodes.
        quality: ``(m,)`` how likely the given label is right.
        transition: ``(c, c)`` the channel.
    """

    posterior: Floats
    quality: Floats
    transition: Floats


def audit_network(config: MethodConfig) -> ChannelNetworkConfig:
    """Networks of the same backbone and size as a model's."""
    return ChannelNetworkConfig(
        backbone=config.backbone,
        hidden=config.hidden,
        layers=config.layers,
        self_in_two_hop=config.self_in_two_hop,
    )


def network_count(trusted_everywhere: bool) -> int:
    """How many networks :func:`cross_fit` trains, with a trusted node in every class or without."""
    return FOLDS * (len(SHARES) + 1) + (2 + 2 * FOLDS if trusted_everywhere else 0)


def cross_fit(
    batch: Batch, config: ChannelNetworkConfig, seeds: Seeds, on_network: OnNetwork | None = None
) -> LabelScores:
    """Scores every label of T_N.

    Args:
        batch: Graph, noisy and trusted labels.
        config: The networks.
        seeds: Where all draws come from.
        on_network: Called after each network.
    """
    generator = seeds.generator("audit networks")
    noisy, given = batch.noisy.cpu().numpy(), batch.given.cpu().numpy()
    trusted, labels = batch.trusted.cpu().numpy(), batch.noisy_labels.cpu().numpy()
    sample = _sample(noisy.size, seeds.generator("audit sample"))
    nodes, some = noisy[sample], labels[sample]
    parts = draw_folds(given, noisy, seeds.generator("audit folds"))

    def judged(channel: Floats, share: float, parts: NDArray[np.int64]) -> Floats:
        weighted = replace(config, trusted_share=share)
        return out_of_fold(batch, weighted, channel, parts, generator, on_network)

    begins, evidence = _beginnings(batch, config, nodes, some, generator, on_network)
    firsts = [fit_channel(judged(begin, SHARES[0], parts)[nodes], some) for begin in begins]
    transition = max(firsts, key=lambda fit: fit.score + evidence(fit.transition)).transition
    for share in SHARES[1:]:
        before = judged(transition, share, parts)
        transition = fit_channel(before[nodes], some).transition
    of_trusted = draw_folds(given, trusted, seeds.generator("audit trusted folds"))
    after = judged(transition, SHARES[-1], np.maximum(parts, of_trusted))
    fits = fit_doubts(after[nodes], some, after[trusted], given[trusted])
    return _score((before + after)[noisy] / 2, labels, sample, fits)


def _beginnings(
    batch: Batch,
    config: ChannelNetworkConfig,
    nodes: NDArray[np.int64],
    labels: NDArray[np.int64],
    generator: Generator,
    on_network: OnNetwork | None,
) -> tuple[list[Floats], Callable[[Floats], float]]:
    """The channels to begin with, and what the trusted nodes say for any channel."""
    c = batch.class_count
    if not bool((batch.trusted_labels.bincount(minlength=c) > 0).all()):
        return [uniform_transition(PRESUMED_RATE, c)], lambda channel: 0.0
    few = replace(config, dropout=LEARNS_FROM_FEW)
    logs = train_network(replace(batch, noisy=batch.noisy[:0]), few, np.eye(c), generator)
    plain = replace(config, class_presence=0.0)
    judge = np.exp(train_network(replace(batch, trusted=batch.trusted[:0]), plain, np.eye(c), generator))
    for _ in range(2 if on_network is not None else 0):
        on_network()  # type: ignore[misc]
    seen, right = judge[batch.trusted.cpu().numpy()], batch.trusted_labels.cpu().numpy()
    return stories(fit_channel(logs[nodes], labels).transition), lambda channel: trusted_evidence(seen, right, channel)


def _score(logs: Floats, given: NDArray[np.int64], sample: NDArray[np.int64], fits: list[ChannelFit]) -> LabelScores:
    """The mean over the fits, each weighed by how well it explains what was seen."""
    weights = weights_of(np.array([one.score for one in fits]))
    posterior, transition = np.zeros_like(logs), np.zeros_like(fits[0].transition)
    for weight, one in zip(weights, fits, strict=True):
        transition += weight * one.transition
        if weight > 1e-6:
            sharpness = fit_sharpness(logs[sample], given[sample], one.transition, one.doubt)
            posterior += weight * label_posterior(believed(logs, sharpness, one.doubt), given, one.transition)
    posterior /= posterior.sum(axis=1, keepdims=True)
    return LabelScores(posterior, posterior[np.arange(given.size), given], transition)


def _sample(size: int, generator: Generator) -> NDArray[np.int64]:
    return np.arange(size) if size <= SAMPLE else np.sort(generator.choice(size, SAMPLE, replace=False))
