"""The surroundings of a node, small enough to take in at a glance, as a drawing.

The node is in the middle, neighbours stand in a ring around it, and theirs in a ring around that. A disc is filled with
the colour of the given label; its rim has the colour of the label that the model proposes. Colours are never alone: the
given label is written in the disc, and all of it in words where the pointer or the focus rests.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from lnp.graph.graph import Graph
from lnp.report.svg import tag

__all__ = ["COLOURS", "Mark", "Place", "draw", "surroundings"]

FIRST, SECOND, BRANCH = 12, 18, 3
"""How many neighbours, how many of their neighbours, and how many of those for each neighbour, at most."""

COLOURS = 12
"""Colours of the style sheet; further classes use them again, and their names tell them apart."""

SIDE, INNER, OUTER = 360.0, 88.0, 152.0


@dataclass(frozen=True, eq=False)
class Place:
    """A node in the drawing: where it stands and how many steps it is away."""

    node: int
    hops: int
    x: float
    y: float


@dataclass(frozen=True)
class Mark:
    """How a node is drawn.

    Args:
        title: What it is, in words.
        text: What stands in the disc.
        given: The class of its label, ``None`` without one.
        proposed: The class that the model proposes, ``None`` if that is unknown.
        checked: Whether its label was checked, which a tick shows.
        link: Where a click leads, if anywhere.
    """

    title: str
    text: str
    given: int | None
    proposed: int | None
    checked: bool = False
    link: str = ""


def surroundings(graph: Graph, node: int, group: NDArray[np.int64]) -> tuple[list[Place], list[tuple[int, int]], int]:
    """Chooses nodes and puts them into place.

    Args:
        graph: The graph.
        node: The node in the middle.
        group: ``(n,)`` the class by which neighbours stand together.

    Returns:
        The places, the middle first; edges between them, by position; and how many neighbours there are in all.
    """
    around, weights = _neighbours(graph, node)
    first = around[np.lexsort((around, -weights))][:FIRST]
    first = first[np.lexsort((first, group[first]))]
    places = [Place(node, 0, 0.0, 0.0)]
    taken = {node, *first.tolist()}
    second: list[tuple[int, float]] = []
    for position, neighbour in enumerate(first.tolist()):
        angle = 2 * math.pi * position / len(first) - math.pi / 2
        places.append(Place(neighbour, 1, INNER * math.cos(angle), INNER * math.sin(angle)))
        beyond, strength = _neighbours(graph, neighbour)
        strongest = beyond[np.lexsort((beyond, -strength))][: BRANCH + len(taken)].tolist()
        further = [k for k in strongest if k not in taken]
        room = min(BRANCH, SECOND // len(first))
        for other in further[: max(1, room)]:
            if len(second) < SECOND:
                taken.add(other)
                second.append((other, angle))
    for position, (other, _) in enumerate(second):
        # Evenly around, in the order of those that they belong to, turned so that they stand nearest to them.
        angle = 2 * math.pi * position / len(second) + _turn(second)
        places.append(Place(other, 2, OUTER * math.cos(angle), OUTER * math.sin(angle)))
    chosen = np.array([place.node for place in places])
    inside = graph.adjacency[chosen][:, chosen].tocoo()
    edges = [(int(i), int(j)) for i, j in zip(inside.row, inside.col, strict=True) if i < j]
    return places, edges, int(around.size)


def draw(places: list[Place], edges: list[tuple[int, int]], mark: Callable[[int], Mark], title: str) -> Markup:
    """The drawing; colours come from the style sheet by class."""
    middle = SIDE / 2
    parts = []
    for i, j in edges:
        a, b = places[i], places[j]
        near = "edge own" if min(a.hops, b.hops) == 0 else "edge"
        parts.append(tag("line", x1=middle + a.x, y1=middle + a.y, x2=middle + b.x, y2=middle + b.y, class_=near))
    for place in reversed(places):  # the middle is drawn last, above all else
        parts.append(_disc(mark(place.node), middle + place.x, middle + place.y, (26.0, 17.0, 13.0)[place.hops]))
    # A group and not a picture: what is in it can be reached.
    return tag("svg", *parts, viewBox=f"0 0 {SIDE:g} {SIDE:g}", role="group", aria_label=title, class_="figure")


def _disc(mark: Mark, x: float, y: float, radius: float) -> Markup:
    given = "none" if mark.given is None else str(mark.given % COLOURS)
    proposed = "none" if mark.proposed is None else str(mark.proposed % COLOURS)
    size = min(0.9 * radius, 2.2 * radius / max(1, len(mark.text)))
    shapes = [
        tag("title", mark.title),
        tag("circle", cx=x, cy=y, r=radius, class_=f"rim class-{proposed}"),
        tag("circle", cx=x, cy=y, r=0.74 * radius, class_=f"disc class-{given}"),
        tag("text", mark.text, x=x, y=y + 0.36 * size, text_anchor="middle", font_size=size, class_=f"on-{given}"),
    ]
    if mark.checked:
        shapes.append(tag("circle", cx=x + 0.8 * radius, cy=y - 0.8 * radius, r=6.5, class_="badge"))
        shapes.append(
            tag("text", "✓", x=x + 0.8 * radius, y=y - 0.8 * radius + 3.5, text_anchor="middle", class_="badge-text")
        )
    if not mark.link:
        return tag("g", *shapes)
    return tag("a", *shapes, href=mark.link, aria_label=mark.title, class_="node-link")


def _neighbours(graph: Graph, node: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    start, end = graph.adjacency.indptr[node : node + 2]
    return graph.adjacency.indices[start:end].astype(np.int64), graph.adjacency.data[start:end]


def _turn(second: list[tuple[int, float]]) -> float:
    """The mean difference between where the outer ones would like to stand and where an even ring puts them."""
    wanted = np.array([angle for _, angle in second])
    even = 2 * math.pi * np.arange(len(second)) / len(second)
    return float(np.angle(np.exp(1j * (wanted - even)).mean()))
