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

    >>> labels = ObservedLabels([0, 1, -1, 1], trusted=[False, True, False, False], class_count=2)
    >>> labels.noisy_nodes.tolist(), labels.trusted_nodes.tolist()
    ([0, 3], [1])
    """

    given: NDArray[np.int64]
    trusted: NDArray[np.bool_]
    class_count: int

    def __init__(self, given: ArrayLike, trusted: ArrayLike | None = None, *, class_count: int) -> None:
        given = _as_labels(given, class_count, "given")
        mask = np.zeros(given.shape, bool) if trusted is None else np.asarray(trusted)
        if mask.shape != given.shape or mask.dtype != bool:
            raise LabelError(
                f"Expected `trusted` to be a mask of {given.size} nodes, but got {mask.dtype} {mask.shape}."
            )
        without = np.flatnonzero(mask & (given == UNKNOWN))
        if without.size:
            raise LabelError(f"Expected every trusted node to have a label, but node {without[0]} has none.")
        object.__setattr__(self, "given", given)
        object.__setattr__(self, "trusted", mask)
        object.__setattr__(self, "class_count", int(class_count))

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
