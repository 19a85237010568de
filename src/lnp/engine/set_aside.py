"""Which labels train and which select when nobody knows the truth: the users' counterpart of a protocol."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lnp.engine.selection import (
    BEHIND_NOISE,
    SELECTIONS,
    Selection,
    hold_out_trusted,
    select_last,
    select_trusted,
    select_validation,
)
from lnp.errors import ConfigError, check_choice
from lnp.graph.labels import UNKNOWN, ObservedLabels
from lnp.graph.split import random_split
from lnp.seeds import Seeds

__all__ = ["VALIDATION_SHARE", "TrainingLabels", "set_aside"]

VALIDATION_SHARE = 0.2
"""The share of the untrusted labels that rules other than "trusted" and "last" keep from training."""


@dataclass(frozen=True, eq=False)
class TrainingLabels:
    """What trains and what selects.

    Args:
        observed: All given labels; trusted are those that train.
        train: T_N, the nodes whose untrusted label trains.
        selection: The rule with the nodes set aside.
    """

    observed: ObservedLabels
    train: NDArray[np.int64]
    selection: Selection


def set_aside(observed: ObservedLabels, rule: str, seeds: Seeds) -> TrainingLabels:
    """Applies a selection rule to labels as they come.

    - "trusted": about a third of the trusted nodes of every class with two or more select, all else trains;
    - "val-noisy", "val-given", "val-likelihood" and "val-channel" (which still wants its noise matrix): 20 % of the
      untrusted labels select, of every class alike, all else trains;
    - "last": everything trains.

    >>> labels = ObservedLabels([0, 1, 0, 1, 0, -1], [True, True, True, False, False, False], class_count=2)
    >>> parts = set_aside(labels, "trusted", Seeds(0))
    >>> parts.train.tolist(), len(parts.selection.nodes), int(parts.observed.trusted.sum())
    ([3, 4], 1, 2)
    """
    check_choice("selection", rule, SELECTIONS)
    train = observed.noisy_nodes
    if rule == "last":
        return TrainingLabels(observed, train, select_last())
    if rule == "trusted":
        rest, held_out = hold_out_trusted(observed, seeds.generator("held-out"))
        # The labels of the nodes set aside stay given; neither trusted nor in `train`, they reach no method.
        kept = replace(rest, given=observed.given)
        return TrainingLabels(kept, train, select_trusted(observed.given, held_out))
    if rule in ("val-noisy", *BEHIND_NOISE):
        untrusted = np.where(observed.trusted, UNKNOWN, observed.given)
        shares = (1 - VALIDATION_SHARE, VALIDATION_SHARE, 0.0)
        split = random_split(untrusted, seeds.generator("held-out"), shares)
        return TrainingLabels(observed, split.train, select_validation(observed.given, observed, split, rule=rule))
    raise ConfigError(
        f"Expected `selection` to be trusted, val-noisy, val-given, val-likelihood, val-channel or last, but got "
        f"{rule!r}, which needs the true labels of validation nodes. Those exist in benchmarks only "
        "(lnp.experiments); here nobody knows them."
    )
