"""Two kinds of labels, never one: what a method may see, and what is true.

:class:`ObservedLabels` is what the world hands over: given labels, many of them wrong, and a mask of the few that
somebody checked. :class:`Truth` is what benchmarks know. Methods receive the first; only noise generation, metrics and
selection rules that say so receive the second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lnp.errors import LabelError

__all__ = ["UNKNOWN", "ObservedLabels", "Truth"]

UNKNOWN = -1
"""Stands where a node has no label."""


@dataclass(frozen=True, eq=False)
class ObservedLabels:
    """Given labels, and which of them can be trusted.

    Args:
        given: ``(n,)`` class numbers, :data:`UNKNOWN` where there is none.
        trusted: ``(n,)`` mask of T_C, the nodes whose given label was checked and is right.
        class_count: The number of classes c.
        before: ``(n,)`` what a trusted node was given before somebody checked it, :data:`UNKNOWN` where nobody knows
            (by default everywhere). What it says of other nodes is dropped.

    >>> labels = ObservedLabels([0, 1, -1, 1], trusted=[False, True, False, False], class_count=2)
    >>> labels.noisy_nodes.tolist(), labels.trusted_nodes.tolist()
    ([0, 3], [1])
    """

    given: NDArray[np.int64]
    trusted: NDArray[np.bool_]
    class_count: int
    before: NDArray[np.int64]

    def __init__(
        self,
        given: ArrayLike,
        trusted: ArrayLike | None = None,
        *,
        class_count: int,
        before: ArrayLike | None = None,
    ) -> None:
        given = _as_labels(given, class_count, "given")
        mask = np.zeros(given.shape, bool) if trusted is None else np.asarray(trusted)
        if mask.shape != given.shape or mask.dtype != bool:
            raise LabelError(
                f"Expected `trusted` to be a mask of {given.size} nodes, but got {mask.dtype} {mask.shape}."
            )
        without = np.flatnonzero(mask & (given == UNKNOWN))
        if without.size:
            raise LabelError(f"Expected every trusted node to have a label, but node {without[0]} has none.")
        earlier = np.full(given.shape, UNKNOWN) if before is None else _as_labels(before, class_count, "before")
        if earlier.shape != given.shape:
            raise LabelError(f"Expected `before` to have {given.size} labels, but got {earlier.size}.")
        object.__setattr__(self, "given", given)
        object.__setattr__(self, "trusted", mask)
        object.__setattr__(self, "class_count", int(class_count))
        object.__setattr__(self, "before", np.where(mask, earlier, UNKNOWN))

    def checked(self, nodes: ArrayLike, labels: ArrayLike, trusted: ArrayLike | bool = True) -> ObservedLabels:
        """The labels after somebody looked at some nodes. What they were given before is remembered.

        Args:
            nodes: Which.
            labels: What somebody says they are, :data:`UNKNOWN` to take a label away.
            trusted: Whether it is to be believed, one answer per node or one for all.

        >>> before = ObservedLabels([0, 1, 1], class_count=2)
        >>> after = before.checked([1, 2], [0, 1])
        >>> after.given.tolist(), after.trusted.tolist(), after.before.tolist()
        ([0, 0, 1], [False, True, True], [-1, 1, 1])
        """
        rows = np.asarray(nodes)
        given, mask, earlier = self.given.copy(), self.trusted.copy(), np.where(self.trusted, self.before, self.given)
        given[rows], mask[rows] = labels, trusted
        return ObservedLabels(given, mask, class_count=self.class_count, before=earlier)

    @property
    def checks(self) -> NDArray[np.int64]:
        """``(c, c)`` how many trusted nodes of class i were given j before they were checked."""
        known, c = np.flatnonzero(self.before != UNKNOWN), self.class_count
        return np.bincount(self.given[known] * c + self.before[known], minlength=c * c).reshape(c, c)

    @property
    def node_count(self) -> int:
        """The number of nodes n."""
        return int(self.given.size)

    @property
    def trusted_nodes(self) -> NDArray[np.int64]:
        """T_C as node numbers."""
        return np.flatnonzero(self.trusted)

    @property
    def noisy_nodes(self) -> NDArray[np.int64]:
        """Nodes with a given label that nobody checked."""
        return np.flatnonzero((self.given != UNKNOWN) & ~self.trusted)

    def require_trusted_in_every_class(self, class_names: tuple[str, ...] | None = None) -> None:
        """Raises unless every class has a trusted node, which prototypes cannot do without."""
        counts = np.bincount(self.given[self.trusted], minlength=self.class_count)
        missing = np.flatnonzero(counts == 0)
        if missing.size:
            names = [repr(class_names[k]) if class_names else str(k) for k in missing]
            raise LabelError(
                f"Expected at least one trusted node in every class, but there is none for class {', '.join(names)}. "
                f"Check the label of a node of {'that class' if len(names) == 1 else 'those classes'} and mark it as "
                "trusted."
            )


@dataclass(frozen=True, eq=False)
class Truth:
    """The true labels, :data:`UNKNOWN` where nobody knows. No method ever receives one of these."""

    labels: NDArray[np.int64]
    class_count: int

    def __init__(self, labels: ArrayLike, class_count: int) -> None:
        object.__setattr__(self, "labels", _as_labels(labels, class_count, "labels"))
        object.__setattr__(self, "class_count", int(class_count))


def _as_labels(labels: ArrayLike, class_count: int, name: str) -> NDArray[np.int64]:
    array = np.asarray(labels)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise LabelError(
            f"Expected `{name}` to be one whole number per node, but got shape {array.shape} of {array.dtype}."
        )
    outside = np.flatnonzero((array < UNKNOWN) | (array >= class_count))
    if outside.size:
        raise LabelError(
            f"Expected `{name}` to be classes 0 to {class_count - 1} or {UNKNOWN} for unknown, but node {outside[0]} "
            f"has {int(array[outside[0]])}."
        )
    return array.astype(np.int64)
