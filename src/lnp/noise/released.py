"""The flip noise that the authors' released code draws, number by number.

That code resets the global generator to 1 inside its noise function, so the class map is the same in every run, and so
are the given labels of a graph: published deviations over runs hold no noise variance. Here the same stream comes from
a generator of its own, and no global state is touched. The released *uniform* noise follows the seed of the run; that
is ``uniform-mix``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnp.errors import ConfigError
from lnp.graph.labels import UNKNOWN, Truth
from lnp.noise.corrupt import Corruption, draw_classes, measure
from lnp.noise.transition import flip_matrix

__all__ = ["released_class_map", "released_flip"]

SEED = 1


def released_class_map(class_count: int) -> NDArray[np.int64]:
    """The wrong class of each class. It is not one-to-one.

    >>> released_class_map(7).tolist()
    [6, 4, 5, 0, 1, 3, 5]
    """
    return _class_map(class_count, np.random.RandomState(SEED))


def released_flip(labels: ArrayLike, rate: float, class_count: int) -> Corruption:
    """Flip noise with the released class map and the released draw, the same at every call.

    The class map takes the first numbers of the stream; then each node with a label takes one, in node order.
    """
    stream = np.random.RandomState(SEED)
    matrix = flip_matrix(class_count, rate, _class_map(class_count, stream))
    true = Truth(labels, class_count).labels
    known = true != UNKNOWN
    given = true.copy()
    # Legacy `choice(c, p=row)` is one `random_sample()` put through the inverse cdf: all nodes at once here.
    given[known] = draw_classes(true[known], matrix, stream.random_sample(int(known.sum())))
    return measure(true, given, class_count, matrix)


def _class_map(class_count: int, stream: np.random.RandomState) -> NDArray[np.int64]:
    if class_count < 2:
        raise ConfigError(f"Expected `class_count` to be at least 2, but got {class_count}.")
    classes = np.arange(class_count)
    return np.array([stream.choice(classes[classes != k]) for k in classes], np.int64)
