"""Where the review stands: all verdicts replayed into one state per node.

The replay goes on from where it was, so that a page costs the verdicts since the last one and not all of them, and it
takes in what other processes have saved meanwhile.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lnp.datasets.own_graph import OwnGraph
from lnp.graph.labels import UNKNOWN
from lnp.web.verdicts import Verdict, VerdictStore

__all__ = ["AGREED", "CHANGED", "SKIPPED", "TO_DO", "Board", "Progress"]

TO_DO, AGREED, CHANGED, SKIPPED = 0, 1, 2, 3
"""States of a node: agreed means that the verdict is the given label."""


@dataclass(frozen=True)
class Progress:
    """How many labels were found right, changed, skipped, and how many are left."""

    agreed: int
    changed: int
    skipped: int
    to_do: int

    @property
    def done(self) -> int:
        """Labels with a verdict that says which one is right."""
        return self.agreed + self.changed

    @property
    def total(self) -> int:
        """All that are or were to be looked at."""
        return self.done + self.skipped + self.to_do


class Board:
    """The standing verdicts.

    Args:
        own: The graph, with the labels as its files gave them.
        store: The verdicts.

    Attributes:
        states: ``(n,)`` the state of every node.
        labels: ``(n,)`` the class that counts by verdict, −1 where there is none.
        strangers: How many verdicts are about a node or a label that this graph does not have.
    """

    def __init__(self, own: OwnGraph, store: VerdictStore) -> None:
        self._own, self._store = own, store
        self._index = {name: node for node, name in enumerate(own.node_ids)}
        self._classes = {name: k for k, name in enumerate(own.class_names)}
        self._said: dict[int, list[Verdict]] = {}
        self._taken_back: set[int] = set()
        self._last = 0
        self._lock = threading.Lock()
        self.states = np.zeros(len(own.node_ids), np.int8)
        self.labels = np.full(len(own.node_ids), UNKNOWN, np.int64)
        self.strangers = 0
        self.refresh()

    def refresh(self) -> None:
        """Takes in what was saved since the last time, by whomever."""
        with self._lock:
            for verdict in self._store.since(self._last):
                self._apply(verdict)
                self._last = verdict.number

    def index(self, node_id: str) -> int | None:
        """The node with this id."""
        return self._index.get(node_id)

    def history(self, node: int) -> list[tuple[Verdict, bool]]:
        """Every verdict on a node, the first first, and whether it was taken back."""
        said = list(self._said.get(node, ()))
        return [(verdict, verdict.number in self._taken_back) for verdict in said]

    def standing(self, node: int) -> Verdict | None:
        """The verdict that counts."""
        return self._standing([verdict for verdict, taken_back in self.history(node) if not taken_back])

    def said(self, node: int, number: int) -> Verdict | None:
        """The verdict of this number, if it is about this node."""
        return next((verdict for verdict, _ in self.history(node) if verdict.number == number), None)

    def before(self, node: int, number: int) -> Verdict | None:
        """The label that counted for a node just before the verdict of this number."""
        earlier = [v for v, taken_back in self.history(node) if not taken_back and v.number < number]
        found = self._standing(earlier)
        return None if found is None or found.label is None else found

    def decided(self) -> NDArray[np.int64]:
        """The nodes with a label by verdict."""
        return np.flatnonzero(self.labels != UNKNOWN)

    def progress(self, nodes: NDArray[np.int64]) -> Progress:
        """Counts over all verdicts, and what is left among ``nodes``."""
        counts = np.bincount(self.states, minlength=4)
        to_do = int((self.states[nodes] == TO_DO).sum())
        return Progress(int(counts[AGREED]), int(counts[CHANGED]), int(counts[SKIPPED]), to_do)

    def _apply(self, verdict: Verdict) -> None:
        node = self._index.get(verdict.node)
        if node is None or (verdict.label is not None and verdict.label not in self._classes):
            self.strangers += 1
            return
        if verdict.undoes is None:
            # A new list each time: who reads an older one meanwhile is not disturbed.
            self._said[node] = [*self._said.get(node, ()), verdict]
        else:
            self._taken_back.add(verdict.undoes)
        standing = self.standing(node)
        label = UNKNOWN if standing is None or standing.label is None else self._classes[standing.label]
        self.labels[node] = label
        if standing is None:
            self.states[node] = TO_DO
        elif label == UNKNOWN:
            self.states[node] = SKIPPED
        else:
            self.states[node] = AGREED if label == self._own.labels.given[node] else CHANGED

    @staticmethod
    def _standing(said: list[Verdict]) -> Verdict | None:
        """The last label; where nobody gave one, the last skip."""
        found = [verdict for verdict in said if verdict.label is not None] or said
        return found[-1] if found else None
