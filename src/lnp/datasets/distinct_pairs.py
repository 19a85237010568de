"""A number of different pairs of nodes, drawn at random."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lnp.errors import ConfigError

__all__ = ["Draw", "distinct_pairs"]

ROUNDS = 1000
"""Attempts to complete the pairs before the knobs are declared impossible."""

Draw = Callable[[int], tuple[NDArray[np.integer], NDArray[np.integer]]]
"""How many → that many pairs, some of them perhaps doubled or of a node with itself."""


def distinct_pairs(draw: Draw, count: int, possible: int, n: int, *, knob: str, advice: str) -> NDArray[np.int64]:
    """``count`` different pairs as sorted keys ``low · n + high``: what is missing is drawn again until nothing is.

    Args:
        draw: Where pairs come from.
        count: How many there shall be.
        possible: How many different ones there are; more than half of them is refused, for drawing would take forever.
        n: The number of nodes.
        knob: What to blame in the error message.
        advice: What it says to do.
    """
    kept = np.zeros(0, np.int64)
    if 2 * count <= possible:
        for _ in range(ROUNDS):
            if kept.size == count:
                return kept
            keys = _keys(*draw(count - kept.size), n)
            if kept.size == 0:
                kept = keys
                continue
            place = np.searchsorted(kept, keys)
            fresh = kept[np.minimum(place, kept.size - 1)] != keys
            kept = np.insert(kept, place[fresh], keys[fresh])
    raise ConfigError(
        f"Expected `{knob}` to leave room for {count} different edges among {possible} pairs of nodes. {advice}"
    )


def _keys(first: NDArray[np.integer], second: NDArray[np.integer], n: int) -> NDArray[np.int64]:
    keys: NDArray[np.int64] = np.minimum(first, second).astype(np.int64)
    keys *= n
    keys += np.maximum(first, second)
    keys = keys[first != second]
    keys.sort()
    return keys[np.diff(keys, prepend=-1) > 0]  # np.unique hashes whole numbers, which is far slower
