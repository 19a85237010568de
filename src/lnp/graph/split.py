"""Which nodes are for training, validation and test, and which are trusted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnp.errors import LabelError
from lnp.graph.labels import UNKNOWN
from lnp.seeds import Generator

__all__ = ["Split", "choose_trusted", "random_split", "sequential_split"]

SHARES = (0.4, 0.4, 0.2)
"""Training, validation, test: the 4:4:2 of the paper."""


@dataclass(frozen=True, eq=False)
class Split:
    """Three disjoint sets of node numbers, each sorted."""

    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]

    def __init__(self, train: ArrayLike, validation: ArrayLike, test: ArrayLike) -> None:
        parts = {"train": train, "validation": validation, "test": test}
        seen = np.zeros(0, np.int64)
        for name, nodes in parts.items():
            array = np.sort(np.asarray(nodes, dtype=np.int64))
            if np.unique(array).size != array.size:
                raise LabelError(f"Expected each node once in `{name}`, but some are there twice.")
            shared = np.intersect1d(seen, array)
            if shared.size:
                raise LabelError(f"Expected disjoint parts, but node {shared[0]} is in `{name}` and in another part.")
            seen = np.r_[seen, array]
            object.__setattr__(self, name, array)

    @classmethod
    def from_masks(cls, train: ArrayLike, validation: ArrayLike, test: ArrayLike) -> Split:
        """From three boolean masks."""
        return cls(*(np.flatnonzero(np.asarray(mask, bool)) for mask in (train, validation, test)))


def sequential_split(labels: NDArray[np.int64], shares: tuple[float, float, float] = SHARES) -> Split:
    """By node order, the same for every seed (what the released code does).

    >>> split = sequential_split(np.zeros(2708, int))
    >>> len(split.train), len(split.validation), len(split.test)
    (1083, 1083, 542)
    """
    n = labels.size
    first, second = int(shares[0] * n), int((shares[0] + shares[1]) * n)
    nodes = np.arange(n)
    known = labels != UNKNOWN
    return Split(*(part[known[part]] for part in (nodes[:first], nodes[first:second], nodes[second:])))


def random_split(labels: NDArray[np.int64], generator: Generator, shares: tuple[float, float, float] = SHARES) -> Split:
    """Drawn anew, each class divided by the same shares (stratified); unlabelled nodes are in no part."""
    parts: tuple[list[NDArray[np.int64]], ...] = ([], [], [])
    for k in np.unique(labels[labels != UNKNOWN]):
        members = generator.permutation(np.flatnonzero(labels == k))
        # Random rounding keeps the shares exact on average even for classes of a few nodes.
        cuts = np.cumsum(shares)[:2] * members.size + generator.random() - 0.5
        first, second = np.clip(np.rint(cuts), 0, members.size).astype(int)
        for part, nodes in zip(parts, np.split(members, [first, second]), strict=True):
            part.append(nodes)
    return Split(*(np.concatenate(part) for part in parts))


def choose_trusted(
    labels: NDArray[np.int64],
    candidates: NDArray[np.int64],
    generator: Generator,
    *,
    size: int,
    class_count: int,
) -> NDArray[np.int64]:
    """T_C: the same number of nodes of every class, ``size // class_count`` (at least one), from ``candidates``.

    A class with fewer candidates gives what it has; one that has none (a class of a single node, which lies in another
    part of the split) stays without a trusted node.
    """
    quota = max(1, size // class_count)
    members = (candidates[labels[candidates] == k] for k in range(class_count))
    chosen = np.concatenate([generator.permutation(nodes)[:quota] for nodes in members])
    if chosen.size == 0:
        raise LabelError("Expected labelled validation nodes to choose trusted ones from, but there are none.")
    return np.sort(chosen)
