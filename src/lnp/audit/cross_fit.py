r"""The audit's own scorer: cross-fitted networks and a channel that explain the labels together.

1. *Own rows*: every class has its own mistakes. The channel model finds a first channel and the variant of the network
   that goes with it (:mod:`lnp.audit.first_channel`). Networks learn through it and judge labels and trusted nodes that
   they have not seen (:mod:`lnp.audit.folds`); their judgement and the labels give a better channel
   (:mod:`lnp.audit.channel_fit`), through which other networks learn, and once more.
2. *Equal rows*: labels went wrong at random. Networks of every variant learn the labels through uniform noise of a
   presumed rate, and each variant counts by how likely the labels are with it. The networks of 1 have half the say:
   they gave the trusted nodes more weight, so they repeat fewer of the mistakes that can be read from the features.
3. Rows of their own can also describe a network's confusions. They are believed where the channel model found them to
   be clearly better, or where these networks make unseen labels and trusted nodes clearly more likely.
4. Bayes' rule (:mod:`lnp.audit.posterior`) with the judgement of those who won. The trusted nodes, where only a
   network can be wrong, tell its mistakes from wrong labels.
5. What trusted nodes were given before they were checked is judged as well, where it is known. What was found tells
   how far the judgement can be relied on (:mod:`lnp.audit.recalibration`).

Rounds, weights and the gain were compared on other draws than those reported; docs/audit.md says where that separation
is not perfect.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lnp.audit.channel_fit import ChannelFit, believed, fit_channel, fit_doubts, weights_of
from lnp.audit.first_channel import learn_first_channel, steps
from lnp.audit.folds import FOLDS, OnNetwork, draw_folds, out_of_fold
from lnp.audit.network import ChannelNetworkConfig
from lnp.audit.posterior import Floats, label_posterior, log_likelihood, quality_of
from lnp.audit.transition import uniform_transition
from lnp.graph.labels import UNKNOWN
from lnp.methods.batch import Batch
from lnp.methods.config import MethodConfig
from lnp.seeds import Generator, Seeds

__all__ = ["LabelScores", "audit_network", "cross_fit", "network_count"]

FIRST_GAIN, GAIN = 0.05, 0.07
"""By how many nats a label rows of their own must beat equal rows: in the channel model, or with these networks."""

DECISIVE = 15.0
"""Or by how many nats in all, trusted nodes and prior included: on a large graph a little on every label is much."""

TRUSTED_SHARE = 0.1
"""What all trusted nodes weigh together against all labels when the two are compared with these networks."""

VARIANT_SHARE = 0.2
"""By what factor the evidence for a variant is played down when variants are averaged: networks that differ make
different mistakes, so the second best helps the best."""

OWN_SHARE = 0.5
"""The say of networks behind a channel with rows of its own when equal rows explain the labels as well."""

PRESUMED_RATE = 0.3
"""The rate of the uniform noise that networks learn through. They rank labels better behind it than without a channel;
how much noise there is, is fitted afterwards."""

SHARES = (1.0, 0.3, 0.3)
"""What all trusted nodes weigh together against all noisy ones, in each round behind a channel with rows of its own: as
much, until the channel keeps the classes apart by itself."""

AVERAGED = ("plain", "smooth", "features", "links")
"""The variants that are averaged where labels went wrong at random. Similar nodes are left out: they gained 0.003 and
0.004 of AP on CiteSeer (two seeds) and lost 0.018 on Chameleon (one)."""

SAMPLE = 20_000
"""So many labels are enough to fit a channel; with more, these are drawn."""


def network_count(node_count: int) -> int:
    """How many networks :func:`cross_fit` reports; each step of the first channel counts as one."""
    return steps(node_count) + (len(SHARES) + len(AVERAGED)) * FOLDS


@dataclass(frozen=True, eq=False)
class LabelScores:
    """What a scorer thinks of the noisy labels.

    Args:
        posterior: ``(m, c)`` the probability of every class with the given label taken into account, in the order of
            the noisy nodes.
        quality: ``(m,)`` how likely the given label is right.
        transition: ``(c, c)`` the channel.
        earlier: ``(k,)`` how likely what a trusted node had been given before it was checked is right, for those of
            which it is known, in the order of the trusted nodes; judged like all other labels, by networks that have
            learnt neither it nor the answer.
    """

    posterior: Floats
    quality: Floats
    transition: Floats
    earlier: Floats = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, eq=False)
class Explanation:
    """What networks say of all nodes, the channels that fit it, and how likely unseen labels are with the best."""

    logs: Floats
    fits: list[ChannelFit]
    evidence: float

    @property
    def score(self) -> float:
        """Of the best channel."""
        return max(fit.score for fit in self.fits)

    def beats(self, other: Explanation) -> bool:
        """Whether it explains clearly more."""
        return self.evidence - other.evidence >= GAIN or self.score - other.score >= DECISIVE


def audit_network(config: MethodConfig) -> ChannelNetworkConfig:
    """Networks of the same backbone and size as a model's."""
    return ChannelNetworkConfig(
        backbone=config.backbone,
        hidden=config.hidden,
        layers=config.layers,
        self_in_two_hop=config.self_in_two_hop,
    )


def cross_fit(
    batch: Batch,
    config: ChannelNetworkConfig,
    seeds: Seeds,
    on_network: OnNetwork | None = None,
    *,
    before: NDArray[np.int64] | None = None,
) -> LabelScores:
    """Scores every label of T_N.

    Args:
        batch: Graph, noisy and trusted labels.
        config: The networks; their variant is chosen here.
        seeds: Where all draws come from.
        on_network: Called after each network.
        before: ``(n,)`` what trusted nodes were given before they were checked, −1 where nobody knows; ``None``: of no
            node.
    """
    generator = seeds.generator("audit networks")
    noisy, given = batch.noisy.cpu().numpy(), batch.given.cpu().numpy()
    trusted, labels = batch.trusted.cpu().numpy(), batch.noisy_labels.cpu().numpy()
    sample = _sample(noisy.size, seeds.generator("audit sample"))
    nodes, some = noisy[sample], labels[sample]
    checks = None if batch.checks is None else batch.checks.cpu().numpy()
    of_trusted = draw_folds(given, trusted, seeds.generator("audit trusted folds"))
    parts = np.maximum(draw_folds(given, noisy, seeds.generator("audit folds")), of_trusted)

    def judged(network: ChannelNetworkConfig, channel: Floats) -> Floats:
        return out_of_fold(batch, network, channel, parts, generator, on_network)

    def explained(logs: Floats, *, equal_rows: bool) -> Explanation:
        seen = logs[nodes], some, logs[trusted], given[trusted]
        fits = fit_doubts(*seen, checks=checks, equal_rows=equal_rows)
        return Explanation(logs, fits, _evidence(*seen, max(fits, key=lambda fit: fit.score)))

    first = learn_first_channel(batch, config, seeds, on_network)
    channel = first.transition
    for share in SHARES:
        logs = judged(replace(config, variant=first.variant, trusted_share=share), channel)
        channel = fit_channel(logs[nodes], some, checks=checks).transition
    best = explained(logs, equal_rows=False)
    if first.gain < FIRST_GAIN:
        uniform = uniform_transition(PRESUMED_RATE, batch.class_count)
        alike = replace(config, trusted_share=0.0, class_presence=0.0)  # a trusted label weighs as much as any other
        tried = [judged(replace(alike, variant=variant), uniform) for variant in AVERAGED]
        scores = np.array([fit_channel(logs[nodes], some, checks=checks, equal_rows=True).score for logs in tried])
        equal = explained(_average(tried, scores), equal_rows=True)
        if not best.beats(equal):
            together = _average(tried, VARIANT_SHARE * scores)
            best = explained(OWN_SHARE * best.logs + (1 - OWN_SHARE) * together, equal_rows=True)
    elif on_network is not None:
        for _ in range(len(AVERAGED) * FOLDS):  # not needed
            on_network()
    found = _score(best.logs[noisy], labels, best.fits)
    if before is None:
        return found
    known = trusted[before[trusted] != UNKNOWN]
    return replace(found, earlier=_score(best.logs[known], before[known], best.fits).quality)


def _average(logs: list[Floats], scores: Floats) -> Floats:
    """The mean, each weighed by how well it explains the labels."""
    return np.tensordot(weights_of(scores), np.stack(logs), axes=1)


def _evidence(
    logs: Floats, labels: NDArray[np.int64], trusted_logs: Floats, trusted_labels: NDArray[np.int64], fit: ChannelFit
) -> float:
    """The mean log-likelihood of labels, and that of trusted nodes by its share."""
    mean = log_likelihood(believed(logs, fit.sharpness, fit.doubt), labels, fit.transition) / labels.size
    if trusted_labels.size:
        probabilities = believed(trusted_logs, fit.sharpness, fit.doubt)
        mean += TRUSTED_SHARE * float(np.log(quality_of(probabilities, trusted_labels)).mean())
    return mean


def _score(logs: Floats, given: NDArray[np.int64], fits: list[ChannelFit]) -> LabelScores:
    """The mean over the fits, each weighed by how well it explains what was seen."""
    weights = weights_of(np.array([one.score for one in fits]))
    posterior, transition = np.zeros_like(logs), np.zeros_like(fits[0].transition)
    for weight, one in zip(weights, fits, strict=True):
        posterior += weight * label_posterior(believed(logs, one.sharpness, one.doubt), given, one.transition)
        transition += weight * one.transition
    posterior /= posterior.sum(axis=1, keepdims=True)
    return LabelScores(posterior, posterior[np.arange(given.size), given], transition)


def _sample(size: int, generator: Generator) -> NDArray[np.int64]:
    return np.arange(size) if size <= SAMPLE else np.sort(generator.choice(size, SAMPLE, replace=False))
