"""Every kind of noise by name: one literal dict, and the one function that applies it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnp.errors import LabelError, UnknownNameError, check_range
from lnp.graph.graph import Features
from lnp.graph.labels import UNKNOWN, Truth
from lnp.noise.corrupt import Corruption, corrupt
from lnp.noise.instance import instance_noise
from lnp.noise.released import released_flip
from lnp.noise.transition import (
    draw_class_map,
    flip_matrix,
    pair_matrix,
    read_matrix,
    uniform_matrix,
    uniform_mix_matrix,
)
from lnp.seeds import Generator

__all__ = ["MATRIX_PREFIX", "NOISES", "apply_noise", "check_noise"]

MATRIX_PREFIX = "matrix:"
"""``matrix:PATH`` is the noise whose transition matrix a file holds."""


@dataclass(frozen=True, eq=False)
class Request:
    """What every kind of noise is told: the true labels to corrupt (unknown ones stay so), p, X, c and a generator."""

    labels: NDArray[np.int64]
    rate: float
    features: Features
    class_count: int
    generator: Generator

    def by(self, matrix: NDArray[np.float64]) -> Corruption:
        """Carried out by a transition matrix."""
        return corrupt(self.labels, matrix, self.generator)


NOISES: dict[str, Callable[[Request], Corruption]] = {
    # Labels as they are, whatever the rate.
    "none": lambda r: r.by(np.eye(r.class_count)),
    # p / (c - 1), the paper's text.
    "uniform": lambda r: r.by(uniform_matrix(r.class_count, r.rate)),
    # (1 - p) I + p / c, the released code.
    "uniform-mix": lambda r: r.by(uniform_mix_matrix(r.class_count, r.rate)),
    # One other class for each class, drawn anew for every seed.
    "flip": lambda r: r.by(flip_matrix(r.class_count, r.rate, draw_class_map(r.class_count, r.generator))),
    # The same with the released draw, which no seed changes.
    "flip-released": lambda r: released_flip(r.labels, r.rate, r.class_count),
    # Each class to the next.
    "pair": lambda r: r.by(pair_matrix(r.class_count, r.rate)),
    # By the features.
    "instance": lambda r: instance_noise(r.labels, r.features, r.rate, r.class_count, r.generator),
}
"""Name → function."""


def check_noise(name: str, rate: float) -> None:
    """Raises unless there is such a noise and the rate is one."""
    if name not in NOISES and not name.startswith(MATRIX_PREFIX):
        raise UnknownNameError("noise", name, [*NOISES, f"{MATRIX_PREFIX}PATH"])
    check_range("rate", rate, 0, 1)


def apply_noise(
    name: str,
    rate: float,
    labels: ArrayLike,
    nodes: ArrayLike,
    features: Features,
    class_count: int,
    generator: Generator,
) -> Corruption:
    """What a method will be given: labels of ``nodes``, some of them wrong, and no other label.

    The draw depends on the set of nodes only, neither on their order nor on the labels of other nodes.
    A node without a true label stays without one.

    Args:
        name: A key of :data:`NOISES`, or ``matrix:PATH`` for a file that
            :func:`~lnp.noise.transition.read_matrix` reads.
        rate: p in [0, 1]; ``none`` and ``matrix:PATH``, which have their own rate, do not use it.
        labels: ``(n,)`` true labels of all nodes.
        nodes: The nodes to give labels to, as numbers.
        features: X, ``(n, d)``; only ``instance`` looks at it.
        class_count: c.
        generator: Where to draw from; ``flip-released`` does not use it.

    Returns:
        The corruption. Its ``labels`` are :data:`~lnp.graph.labels.UNKNOWN` outside ``nodes``; its realised matrix and
        rate are those of ``nodes``.

    >>> result = apply_noise("pair", 1.0, [0, 1, 2, 1], [0, 2], np.eye(4), 3, np.random.default_rng(0))
    >>> result.labels.tolist(), result.realised_rate
    ([1, -1, 0, -1], 1.0)
    """
    check_noise(name, rate)
    true, chosen = Truth(labels, class_count).labels, np.asarray(nodes)
    if chosen.size == 0:
        chosen = chosen.astype(np.int64)
    if not np.issubdtype(chosen.dtype, np.integer):
        raise LabelError(f"Expected `nodes` to be node numbers, but got {chosen.dtype}.")
    outside = chosen[(chosen < 0) | (chosen >= true.size)]
    if outside.size:
        raise LabelError(f"Expected `nodes` to be from 0 to {true.size - 1}, but got {outside[0]}.")
    shown = np.full(true.shape, UNKNOWN, np.int64)
    shown[chosen] = true[chosen]
    request = Request(shown, rate, features, class_count, generator)
    if name.startswith(MATRIX_PREFIX):
        return request.by(read_matrix(name.removeprefix(MATRIX_PREFIX), class_count))
    return NOISES[name](request)
