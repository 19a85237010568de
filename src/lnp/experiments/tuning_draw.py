"""What a study tries next: mostly something near the best so far.

A study has a dozen trials for ten options or more, which is too few to model the space: draws from a model of five
scores are little better than blind ones. So two trials of three change a few options of the best configuration so far,
and the third is drawn by Optuna's sampler, lest a study stay where it began.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lnp.experiments.search_space import Space, Value, is_ordered

__all__ = ["CHANGES", "is_near", "near"]

CHANGES = 2.0
"""Options that a draw near the best changes, on average."""

STEP = 0.5
"""How often a changed number moves to the next value in the row; else it moves to any other."""


def is_near(number: int) -> bool:
    """Whether the trial of this number changes the best so far."""
    return number % 3 != 2


def near(best: Mapping[str, object], space: Space, generator: np.random.Generator) -> dict[str, object]:
    """A configuration that differs from ``best`` in at least one option.

    Args:
        best: A value for each option of the space.
        space: Options that have one value only stay as they are.
        generator: Source of the draws.
    """
    free = [option for option, values in space.items() if len(values) > 1]
    changed = [option for option in free if generator.random() < CHANGES / len(free)]
    if free and not changed:
        changed = [free[generator.integers(len(free))]]
    return {**best, **{option: _other(best[option], space[option], generator) for option in changed}}


def _other(value: object, values: tuple[Value, ...], generator: np.random.Generator) -> Value:
    place = values.index(value)
    if is_ordered(values) and generator.random() < STEP:
        neighbours = [other for other in (place - 1, place + 1) if 0 <= other < len(values)]
    else:
        neighbours = [other for other in range(len(values)) if other != place]
    return values[neighbours[generator.integers(len(neighbours))]]
