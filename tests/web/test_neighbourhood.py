from __future__ import annotations

import math
from xml.etree import ElementTree

import numpy as np

from lnp.graph.graph import Graph
from lnp.web.neighbourhood import FIRST, SECOND, Mark, draw, surroundings


def graph_of(edges: list[tuple[int, int]], n: int, weights: list[float] | None = None) -> Graph:
    return Graph.from_edges(np.array(edges).T, np.zeros((n, 1)), class_count=3, weights=weights)


def test_the_hops_are_those_of_a_breadth_first_search(tiny_graph: Graph) -> None:
    places, edges, total = surroundings(tiny_graph, 2, np.zeros(7, np.int64))
    assert {place.node: place.hops for place in places} == {2: 0, 0: 1, 1: 1, 3: 1, 4: 2, 5: 2}
    assert total == 3
    drawn = {frozenset((places[i].node, places[j].node)) for i, j in edges}
    assert drawn == {frozenset(edge) for edge in ((0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5))}


def test_rings_stand_apart_and_places_do_not_meet(tiny_graph: Graph) -> None:
    places, _, _ = surroundings(tiny_graph, 3, np.zeros(7, np.int64))
    radii = {hops: {round(math.hypot(p.x, p.y), 6) for p in places if p.hops == hops} for hops in (0, 1, 2)}
    assert radii[0] == {0.0}
    assert len(radii[1]) == len(radii[2]) == 1
    for i, a in enumerate(places):
        assert all(math.hypot(a.x - b.x, a.y - b.y) > 26 for b in places[:i])


def test_a_hub_is_cut_down_to_its_strongest_links() -> None:
    edges = [(0, k) for k in range(1, 101)] + [(k, 100 + k) for k in range(1, 101)]
    weights = [float(k) for k in range(1, 101)] + [1.0] * 100
    places, _, total = surroundings(graph_of(edges, 201, weights), 0, np.zeros(201, np.int64))
    first = sorted(place.node for place in places if place.hops == 1)
    assert total == 100
    assert first == list(range(101 - FIRST, 101))
    assert sum(place.hops == 2 for place in places) <= SECOND


def test_neighbours_of_one_label_stand_together() -> None:
    group = np.array([0, 2, 0, 1, 2, 0, 1])
    places, _, _ = surroundings(graph_of([(0, k) for k in range(1, 7)], 7), 0, group)
    assert [int(group[place.node]) for place in places[1:]] == [0, 0, 1, 1, 2, 2]


def test_an_isolated_node_stands_alone(tiny_graph: Graph) -> None:
    places, edges, total = surroundings(tiny_graph, 6, np.zeros(7, np.int64))
    assert ([place.node for place in places], edges, total) == ([6], [], 0)


def test_the_drawing_is_well_formed_whatever_the_names_are(tiny_graph: Graph) -> None:
    nasty = '"><script>alert(1)</script>&'

    def mark(node: int) -> Mark:
        if node == 0:
            return Mark(title=nasty, text="?", given=None, proposed=None)
        return Mark(title=nasty, text=nasty[:4], given=14, proposed=1, checked=True, link=f"/node/{node}?a=1&b=2")

    places, edges, _ = surroundings(tiny_graph, 0, np.zeros(7, np.int64))
    root = ElementTree.fromstring(str(draw(places, edges, mark, nasty)))
    assert root.get("aria-label") == nasty
    assert not root.findall(".//script")
    assert {link.get("href") for link in root.iter("a")} == {f"/node/{p.node}?a=1&b=2" for p in places[1:]}
    assert len(root.findall("line")) == len(edges)
    discs = [circle.get("class") for circle in root.iter("circle")]
    assert discs.count("disc class-2") == len(places) - 1  # 14 shares the colour of 2
    assert discs.count("disc class-none") == 1
