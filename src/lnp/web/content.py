"""What can be seen of a node besides its label: a picture, texts, or its most telling features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lnp.datasets.own_graph import OwnGraph
from lnp.report.pictures import data_uri

__all__ = ["FEATURES", "SNIPPET", "Content", "Strong"]

FEATURES = 12
"""How many features are shown."""

SNIPPET = 80
"""Characters of a text in a list."""


@dataclass(frozen=True)
class Strong:
    """A feature that stands out.

    Args:
        name: The feature.
        value: Its value.
        strength: Its share of the strongest one shown, in [0, 1].
        note: How it compares, in words.
    """

    name: str
    value: str
    strength: float
    note: str


class Content:
    """Shows nodes of one graph.

    Args:
        own: The graph.
    """

    def __init__(self, own: OwnGraph) -> None:
        self._own = own
        self._features = own.graph.features
        self._dense = isinstance(self._features, np.ndarray)

    def picture(self, node: int) -> str | None:
        """The features as a grey picture (the source of an ``img``), where they are one."""
        if self._own.picture_shape is None:
            return None
        low, high = self._range
        ink = (self._row(node) - low) / ((high - low) or 1.0)
        return data_uri(ink.reshape(self._own.picture_shape))

    def texts(self, node: int) -> list[tuple[str, str]]:
        """Name and content of every text column that has one for this node."""
        return [(name, column[node]) for name, column in self._own.texts.items() if column[node]]

    def snippet(self, node: int) -> str:
        """The beginning of the first text, for a list."""
        text = " ".join(next((content for _, content in self.texts(node)), "")[: 4 * SNIPPET].split())
        return text if len(text) <= SNIPPET else text[: SNIPPET - 1].rstrip() + "…"

    def strongest(self, node: int) -> list[Strong]:
        """The features that stand out: the largest of a bag of words, else those that differ most from the mean."""
        row = self._row(node)
        if self._dense:
            mean, spread = self._moments
            apart = (row - mean) / np.where(spread > 0, spread, 1.0)
            strength = np.where(spread > 0, np.abs(apart), 0.0)
        else:
            apart, strength = row, np.abs(row)
        top = np.argsort(-strength, kind="stable")[:FEATURES]
        top = top[strength[top] > 0]
        highest = float(strength[top].max()) if top.size else 1.0
        return [
            Strong(
                name=self._name(int(column)),
                value=f"{row[column]:.3g}",
                strength=float(strength[column]) / highest,
                note=_compared(float(apart[column])) if self._dense else "",
            )
            for column in top
        ]

    def _name(self, column: int) -> str:
        names = self._own.feature_names
        return names[column] if column < len(names) else f"feature {column}"

    def _row(self, node: int) -> NDArray[np.float64]:
        row = self._features[[node]]
        dense = row if isinstance(row, np.ndarray) else row.toarray()
        return np.asarray(dense, np.float64).ravel()

    @cached_property
    def _range(self) -> tuple[float, float]:
        return min(float(self._features.min()), 0.0), float(self._features.max())

    @cached_property
    def _moments(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self._features.mean(axis=0, dtype=np.float64), self._features.std(axis=0, dtype=np.float64)


def _compared(deviations: float) -> str:
    """In words.

    >>> _compared(-2.34)
    '2.3 sd below the mean'
    """
    return f"{abs(deviations):.1f} sd {'above' if deviations > 0 else 'below'} the mean"
