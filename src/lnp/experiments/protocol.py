"""Protocols: how a benchmark hides the truth. Each is named and recorded with every result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lnp.datasets.annotations import llm_labels
from lnp.datasets.dataset import Dataset
from lnp.engine.selection import (
    BEHIND_NOISE,
    SELECTIONS,
    Selection,
    hold_out_trusted,
    select_last,
    select_trusted,
    select_validation,
)
from lnp.errors import ConfigError, UnknownNameError, check_choice
from lnp.graph.features import scale_features
from lnp.graph.graph import Graph
from lnp.graph.labels import UNKNOWN, ObservedLabels
from lnp.graph.split import Split, choose_trusted, random_split, sequential_split
from lnp.noise.corrupt import Corruption, corrupt, measure
from lnp.noise.registry import apply_noise, check_noise
from lnp.seeds import Generator, Seeds

__all__ = ["ANNOTATIONS", "PROTOCOLS", "Protocol", "Task", "check_task_noise", "get_protocol", "prepare"]

ANNOTATIONS = "annotations"
"""The noise that is not drawn: labels as a language model gave them."""


@dataclass(frozen=True)
class Protocol:
    """A way to turn a dataset with known truth into a task.

    Args:
        split: "sequential" (4:4:2 by node order), "random" (4:4:2, stratified, per seed) or "public".
        selection: The default selection rule.
        trusted_share: |T_C| as a share of the training nodes; ``None`` means about 25 nodes.
        noise_names: Noises that this protocol draws in its own way.
        summary: What it is for.
    """

    split: str
    selection: str
    summary: str
    trusted_share: float | None = None
    noise_names: tuple[tuple[str, str], ...] = ()


PROTOCOLS: dict[str, Protocol] = {
    "paper": Protocol(
        "sequential",
        "val-clean",
        "4:4:2 by node order, released noise draw, selection by clean validation labels: the published tables",
        noise_names=(("flip", "flip-released"),),
    ),
    "random": Protocol("random", "val-clean", "4:4:2 drawn per seed, noise drawn per seed, T_C out of the selection"),
    "strict": Protocol("random", "val-channel", "as random, but no clean label beyond T_C is ever seen"),
    "planetoid": Protocol("public", "val-clean", "the public split with 20 training nodes per class"),
    "large": Protocol("public", "val-clean", "the original split, T_C is 0.2 % of the training nodes", 0.002),
}
"""Every protocol by name."""


@dataclass(frozen=True, eq=False)
class Task:
    """What a method is given (graph, observed labels, split), and how an epoch is chosen. The truth is not in it."""

    graph: Graph
    observed: ObservedLabels
    split: Split
    selection: Selection
    corruption: Corruption
    noise: str


def get_protocol(name: str) -> Protocol:
    """The protocol of that name."""
    if name not in PROTOCOLS:
        raise UnknownNameError("protocol", name, PROTOCOLS)
    return PROTOCOLS[name]


def prepare(
    dataset: Dataset,
    protocol: str,
    noise: str,
    rate: float,
    seeds: Seeds,
    *,
    trusted_size: int = 25,
    selection: str | None = None,
    scaling: str | None = None,
) -> Task:
    """Splits, chooses T_C, corrupts the training labels and fixes the selection rule. The truth ends here.

    The rule ``val-channel`` has its nodes and labels then, but not yet its noise matrix
    (:func:`lnp.experiments.tasks.task_of` adds it).

    Args:
        dataset: Graph and truth.
        protocol: One of :data:`PROTOCOLS`.
        noise: A name of :mod:`lnp.noise.registry`, or :data:`ANNOTATIONS`.
        rate: The noise rate p; annotations have their own.
        seeds: Where all draws come from.
        trusted_size: |T_C|, shared out evenly among the classes.
        selection: Another rule than the protocol's.
        scaling: Another feature scaling than the dataset's custom.
    """
    rules = get_protocol(protocol)
    rule = selection or rules.selection
    check_choice("selection", rule, SELECTIONS)
    truth, graph = dataset.truth.labels, scale_features(dataset.graph, scaling or dataset.scaling)
    split = _split(dataset, rules, seeds)
    if rules.trusted_share is not None:
        trusted_size = max(graph.class_count, round(rules.trusted_share * split.train.size))
    trusted = choose_trusted(
        truth, split.validation, seeds.generator("trusted"), size=trusted_size, class_count=graph.class_count
    )
    noise = dict(rules.noise_names).get(noise, noise)
    corruption = _corrupt(dataset, graph, noise, rate, split.train, seeds.generator("noise"))
    given = corruption.labels.copy()
    given[trusted] = truth[trusted]
    observed = ObservedLabels(given, np.isin(np.arange(truth.size), trusted), class_count=graph.class_count)
    if rule == "last":
        chosen = select_last()
    elif rule == "trusted":
        checked = observed.given
        observed, held_out = hold_out_trusted(observed, seeds.generator("held-out"))
        chosen = select_trusted(checked, held_out)
    elif rule == "val-noisy":
        hidden = _corrupt(dataset, graph, noise, rate, split.validation, seeds.generator("validation noise"))
        chosen = select_validation(hidden.labels, observed, split, rule=rule)
    elif rule in BEHIND_NOISE:
        generator = seeds.generator("validation noise")
        hidden = _corrupt_alike(corruption, dataset, graph, noise, rate, split.validation, generator)
        chosen = select_validation(hidden.labels, observed, split, rule=rule)
    else:
        chosen = select_validation(truth, observed, split, rule=rule)
    return Task(graph, observed, split, chosen, corruption, noise)


def check_task_noise(noise: str, rate: float) -> None:
    """Raises unless there is such a noise and the rate is one."""
    check_noise("none" if noise == ANNOTATIONS else noise, rate)


def _corrupt(
    dataset: Dataset, graph: Graph, noise: str, rate: float, nodes: NDArray[np.int64], generator: Generator
) -> Corruption:
    truth = dataset.truth.labels
    if noise != ANNOTATIONS:
        return apply_noise(noise, rate, truth, nodes, graph.features, graph.class_count, generator)
    given = np.full(truth.shape, UNKNOWN, np.int64)
    given[nodes] = llm_labels(dataset.name)[nodes]
    # A node without a guess stays without a label and does not count.
    return measure(np.where(given == UNKNOWN, UNKNOWN, truth), given, graph.class_count)


def _corrupt_alike(
    corruption: Corruption,
    dataset: Dataset,
    graph: Graph,
    noise: str,
    rate: float,
    nodes: NDArray[np.int64],
    generator: Generator,
) -> Corruption:
    """Further labels from the noise that ``corruption`` had: for flips, with the classes that were drawn there.

    Without that, a matrix that describes the training labels would be wrong for these. Noise by features has no such
    matrix, and projections of its own.
    """
    if corruption.matrix is None:
        return _corrupt(dataset, graph, noise, rate, nodes, generator)
    true = np.full(dataset.truth.labels.shape, UNKNOWN, np.int64)
    true[nodes] = dataset.truth.labels[nodes]
    return corrupt(true, corruption.matrix, generator)


def _split(dataset: Dataset, rules: Protocol, seeds: Seeds) -> Split:
    labels = dataset.truth.labels
    if rules.split == "sequential":
        return sequential_split(labels)
    if rules.split == "random":
        return random_split(labels, seeds.generator("split"))
    if not dataset.public_splits:
        raise ConfigError(
            f"Expected dataset {dataset.graph.name!r} to have a public split for this protocol, but it has none. "
            "Use the protocol paper, random or strict."
        )
    return dataset.public_splits[seeds.seed % len(dataset.public_splits)]
