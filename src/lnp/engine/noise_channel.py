r"""The noise that the rule ``val-channel`` scores behind: one T for every method, learnt before any of them begins.

A method without a noise matrix of its own cannot say which labels it expects to see, and 25 trusted nodes, a third of
them set aside, say little about which epoch is best. But T_N and T_C together tell how labels go wrong, whatever method
learns from them later. So the stages in which ``lnp-channel`` learns T (:mod:`lnp.methods.channel.learning`) are run
once, with its default options, and every method is scored by the mean of :math:`T_{\hat y_i \tilde y_i}`, how likely
the given label is if the class :math:`\hat y_i` that the method names is right (:mod:`lnp.engine.selection`), on labels
that were set aside and that neither T nor the method has seen. T is the very one that ``lnp-channel`` learns
from these labels with this seed, so that method needs no other: for it the rule is ``val-given``
(:func:`rule_for`). Where it believes no T, labels are taken to be given as they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lnp.engine.fit import FitOptions, fit
from lnp.engine.memory import preflight
from lnp.engine.progress import OnEpoch
from lnp.engine.selection import Selection, select_last
from lnp.errors import ConfigError
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import full_batch
from lnp.methods.channel.config import ChannelConfig
from lnp.methods.channel.model import Channel
from lnp.seeds import Seeds

__all__ = ["METHOD", "RULE", "behind_channel", "learn_channel", "rule_for"]

RULE = "val-channel"
"""The rule that needs it."""

METHOD = "lnp-channel"
"""Who learns T."""


def rule_for(method: str, rule: str) -> str:
    """The rule as it is carried out for a method.

    >>> rule_for("gcn", "val-channel"), rule_for("lnp-channel", "val-channel"), rule_for("gcn", "trusted")
    ('val-channel', 'val-given', 'trusted')
    """
    return "val-given" if (method, rule) == (METHOD, RULE) else rule


def behind_channel(
    selection: Selection,
    graph: Graph,
    observed: ObservedLabels,
    train: NDArray[np.int64],
    seeds: Seeds,
    *,
    device: str = "cpu",
    on_epoch: OnEpoch | None = None,
) -> Selection:
    """The selection with the T that its rule asks for; as it is where the rule asks for none.

    Args:
        selection: Which epoch to keep.
        graph: As the method will see it.
        observed: Given and trusted labels.
        train: T_N, without the nodes that select.
        seeds: Where the draws come from.
        device: Where to compute.
        on_epoch: As for :class:`~lnp.engine.fit.FitOptions`, for progress bars.
    """
    if selection.rule != RULE or selection.transition is not None:
        return selection
    transition = learn_channel(graph, observed, train, seeds, device=device, on_epoch=on_epoch)
    return replace(selection, transition=transition)


def learn_channel(
    graph: Graph,
    observed: ObservedLabels,
    train: NDArray[np.int64],
    seeds: Seeds,
    *,
    device: str = "cpu",
    on_epoch: OnEpoch | None = None,
) -> NDArray[np.float32]:
    """T[k, j] = P(given j | true k), as ``lnp-channel`` learns it; the identity where it believes none."""
    batch = full_batch(graph, observed, train, device=device)
    config = ChannelConfig(epochs=0)  # T is learnt, nothing is learnt through it
    try:
        preflight(METHOD, config, batch)
    except ConfigError as error:
        raise ConfigError(f"{error} Or choose the epoch by another rule than {RULE}, such as trusted.") from None
    method = Channel(config, batch, seeds.generator("initialisation")).to(device)
    fit(method, batch, select_last(), seeds.randomness(), FitOptions(on_epoch=_named(on_epoch)))
    if method.channel is None:
        return np.eye(batch.class_count, dtype=np.float32)
    transition: NDArray[np.float32] = method.channel.cpu().numpy().copy()
    return transition


def _named(on_epoch: OnEpoch | None) -> OnEpoch | None:
    """Who watches should know that these are not yet epochs of the method."""
    if on_epoch is None:
        return None
    return lambda record, count: on_epoch(replace(record, stage=f"noise: {record.stage}"), count)
