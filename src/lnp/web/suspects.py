"""The audit's rows as a list to work through, filtered, ordered and paged by numpy: 100,000 rows are no matter."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lnp.audit.order import spread_order
from lnp.audit.table import AuditTable
from lnp.errors import ConfigError, check_choice, check_range
from lnp.seeds import Seeds
from lnp.web.board import AGREED, CHANGED, SKIPPED, TO_DO

__all__ = ["ORDERS", "PAGE", "SHOWN", "Filter", "Suspects"]

PAGE = 50
"""Rows on a page."""

SHOWN: dict[str, tuple[int, ...]] = {
    "todo": (TO_DO,),
    "done": (AGREED, CHANGED),
    "agreed": (AGREED,),
    "changed": (CHANGED,),
    "skipped": (SKIPPED,),
    "all": (TO_DO, AGREED, CHANGED, SKIPPED),
}
"""What can be listed, by the states that it holds."""

ORDERS = ("suspect", "spread", "sure", "random")
"""The most suspect label first; the same with every proposed class in turn; the surest proposal of another label; or
anybody, which alone is a fair sample of all labels. The last order is the same for everybody and after every audit."""


@dataclass(frozen=True)
class Filter:
    """Which rows, in which order.

    Args:
        given: Only labels of this class; ``None`` is any.
        proposed: Only proposals of this class.
        low: Only qualities from here …
        high: … to here.
        show: A name of :data:`SHOWN`.
        order: A name of :data:`ORDERS`.
    """

    given: int | None = None
    proposed: int | None = None
    low: float = 0.0
    high: float = 1.0
    show: str = "todo"
    order: str = "suspect"

    def __post_init__(self) -> None:
        check_choice("show", self.show, SHOWN)
        check_choice("order", self.order, ORDERS)
        check_range("low", self.low, 0, 1)
        check_range("high", self.high, 0, 1)

    @classmethod
    def parse(cls, fields: dict[str, str], class_count: int) -> Self:
        """Reads it from the fields of an address or a form; what is missing or empty has its default."""
        chosen: dict[str, object] = {}
        for name in ("given", "proposed"):
            if text := fields.get(name, "").strip():
                number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
                if not 0 <= number < class_count:
                    raise ConfigError(f"Expected `{name}` to be a class from 0 to {class_count - 1}, but got {text!r}.")
                chosen[name] = number
        for name in ("low", "high"):
            if text := fields.get(name, "").strip():
                try:
                    chosen[name] = float(text)
                except ValueError:
                    raise ConfigError(f"Expected `{name}` to be a number from 0 to 1, but got {text!r}.") from None
        chosen |= {name: fields[name] for name in ("show", "order") if fields.get(name)}
        return replace(cls(), **chosen)  # type: ignore[arg-type]

    def fields(self) -> dict[str, str]:
        """What :meth:`parse` reads, without the defaults.

        >>> Filter(given=3, high=0.5).fields()
        {'given': '3', 'high': '0.5'}
        """
        plain = Filter()
        return {
            name: f"{value:g}" if isinstance(value, float) else str(value)
            for name, value in vars(self).items()
            if value != getattr(plain, name)
        }


@dataclass(frozen=True, eq=False)
class Suspects:
    """What one model thinks of the labels. A new model makes a new one of these.

    Args:
        table: The audit.
        trusted: ``(n,)`` the nodes whose label was checked before any verdict.
        predicted: ``(n,)`` the model's class of every node, also of those without a label.
        sureness: ``(n,)`` its probability.
        model: The folder of the model.
        version: 1 for the model that the review began with, one more with every training.
    """

    table: AuditTable
    trusted: NDArray[np.bool_]
    predicted: NDArray[np.int64]
    sureness: NDArray[np.float64]
    model: Path
    version: int = 1

    @cached_property
    def row_of(self) -> NDArray[np.int64]:
        """``(n,)`` the row of every node, −1 where it has none."""
        rows = np.full(self.trusted.size, -1, np.int64)
        rows[self.table.nodes] = np.arange(self.table.nodes.size)
        return rows

    @cached_property
    def reviewable(self) -> NDArray[np.int64]:
        """The nodes that are to be looked at: those with a label that nobody checked before."""
        nodes: NDArray[np.int64] = self.table.nodes[~self.trusted[self.table.nodes]]
        return nodes

    @cached_property
    def _order(self) -> dict[str, NDArray[np.int64]]:
        table = self.table
        agrees = table.proposed == table.given
        return {
            "suspect": np.argsort(table.quality, kind="stable"),
            "spread": spread_order(table.quality, table.proposed),
            "sure": np.lexsort((table.quality, -table.confidence, agrees)),
            "random": np.argsort(Seeds(0).generator("review order").permutation(self.trusted.size)[table.nodes]),
        }

    @cached_property
    def _rank(self) -> dict[str, NDArray[np.int64]]:
        return {name: np.argsort(order, kind="stable") for name, order in self._order.items()}

    def rows(self, chosen: Filter, states: NDArray[np.int8], *, any_state: bool = False) -> NDArray[np.int64]:
        """The rows that match, in order.

        Args:
            chosen: The filter.
            states: ``(n,)`` the state of every node.
            any_state: Whether ``chosen.show`` does not matter.
        """
        table = self.table
        # The page shows qualities with two digits, and a bound means what it shows.
        fits = (table.quality >= chosen.low - 0.005) & (table.quality <= chosen.high + 0.005)
        if chosen.given is not None:
            fits &= table.given == chosen.given
        if chosen.proposed is not None:
            fits &= table.proposed == chosen.proposed
        if chosen.show != "all" and not any_state:
            fits &= np.isin(states[table.nodes], SHOWN[chosen.show])
            if chosen.show == "todo":
                fits &= ~self.trusted[table.nodes]
        order = self._order[chosen.order]
        found: NDArray[np.int64] = order[fits[order]]
        return found

    def following(self, node: int, chosen: Filter, states: NDArray[np.int8], busy: Collection[int] = ()) -> int | None:
        """The next node of the list after ``node``, from the top again at the end; ``None`` where there is no other.

        Nodes in ``busy``, which others look at, come last.
        """
        rows = self.rows(chosen, states)
        rows = rows[rows != self.row_of[node]]
        if not rows.size:
            return None
        rank = self._rank[chosen.order]
        here = rank[self.row_of[node]] if self.row_of[node] >= 0 else -1
        rows = np.roll(rows, -int(np.searchsorted(rank[rows], here)))
        free = rows[~np.isin(self.table.nodes[rows], list(busy))]
        return int(self.table.nodes[(free if free.size else rows)[0]])

    def preceding(self, node: int, chosen: Filter, states: NDArray[np.int8]) -> int | None:
        """The node before ``node``, decided or not, so that one can go back to what one just did."""
        if self.row_of[node] < 0:
            return None
        rank = self._rank[chosen.order]
        rows = self.rows(chosen, states, any_state=True)
        place = int(np.searchsorted(rank[rows], rank[self.row_of[node]]))
        return int(self.table.nodes[rows[place - 1]]) if place else None
