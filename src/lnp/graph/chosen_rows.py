"""Which rows of a graph's results a user asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnp.errors import LabelError

__all__ = ["chosen_rows"]


def chosen_rows(nodes: ArrayLike | None, count: int) -> NDArray[Any] | slice:
    """What picks the wanted rows out of ``count``: all of them, some by their numbers, or those of a mask.

    >>> chosen_rows([2, 0], 3), chosen_rows(None, 3)
    (array([2, 0]), slice(None, None, None))
    """
    if nodes is None:
        return slice(None)
    array = np.asarray(nodes)
    if array.size == 0 and array.dtype != bool:
        array = array.astype(np.int64)
    mask = array.dtype == bool
    if array.ndim != 1 or not (mask or np.issubdtype(array.dtype, np.integer)) or (mask and array.size != count):
        raise LabelError(
            f"Expected `nodes` to be node numbers or a mask of the {count} nodes of the graph that was fitted, but got "
            f"shape {array.shape} of {array.dtype}."
        )
    outside = array[:0] if mask else array[(array < 0) | (array >= count)]
    if outside.size:
        raise LabelError(f"Expected `nodes` to be from 0 to {count - 1}, but got {outside[0]}.")
    return array
