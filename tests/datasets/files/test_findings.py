"""Every oddity is counted, against counts made by hand or by loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lnp.datasets.files.edge_table import EdgeList
from lnp.datasets.files.findings import describe
from lnp.datasets.import_summary import ImportSummary
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels

ends = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=25)


def summary(
    edges: list[tuple[int, int]],
    labels: list[int] | None = None,
    trusted: list[int] | None = None,
    names: tuple[str, ...] = ("red", "blue"),
    features: np.ndarray | None = None,
) -> ImportSummary:
    n = 5 if labels is None else len(labels)
    table = np.array(edges, np.int64).reshape(-1, 2).T
    ids = tuple(f"n{i}" for i in range(n))
    x = np.ones((n, 2)) if features is None else features
    graph = Graph.from_edges(table, x, class_names=names, node_ids=ids)
    mask = np.isin(np.arange(n), trusted or [])
    observed = ObservedLabels([0] * n if labels is None else labels, mask, class_count=len(names))
    return describe(graph, observed, EdgeList(table), "here")


@given(ends)
def test_edges_are_counted_as_sets_count_them(edges: list[tuple[int, int]]) -> None:
    found = summary(edges)
    proper = [edge for edge in edges if edge[0] != edge[1]]
    pairs = {frozenset(edge) for edge in proper}
    both = sum((b, a) in set(proper) for a, b in set(proper)) // 2
    assert found.count("self-loops") == len(edges) - len(proper)
    assert found.count("duplicate edges") == len(proper) - len(set(proper))
    assert found.edges == len(pairs)
    assert found.count("edges in both directions") == (both if both < len(pairs) else 0)
    assert found.count("isolated nodes") == 5 - len({node for pair in pairs for node in pair})


def test_twins_are_mentioned_where_there_are_many() -> None:
    path = [(i, i + 1) for i in range(8)]
    # 10 and 11 share two neighbours, 12 and 13 two others; leaves of one hub do not count.
    doubled = [(a, hub) for a, hubs in ((10, (0, 3)), (11, (0, 3)), (12, (1, 6)), (13, (1, 6))) for hub in hubs]
    leaves = [(4, 9), (4, 14), (4, 15)]
    found = summary([*path, *doubled, *leaves], [0] * 16)
    assert found.count("twin nodes") == 4
    message = next(one.message for one in found.findings if one.what == "twin nodes")
    assert message.startswith("4 nodes have exactly the same neighbours as another, for instance n10 and n11.")
    assert summary([*path, *leaves], [0] * 16).count("twin nodes") == 0
    assert summary([*path, *doubled[:4]], [0] * 12).count("twin nodes") == 0  # two of twelve


def test_classes_and_trust() -> None:
    labels = [0] * 60 + [1] * 6 + [2] * 3 + [-1] * 4
    path = [(i, i + 1) for i in range(72)]
    found = summary(path, labels, [0, 60], names=("AI", "ai ", "db"))
    assert [(row.name, row.labelled, row.trusted) for row in found.classes] == [
        ("AI", 60, 1),
        ("ai ", 6, 1),
        ("db", 3, 0),
    ]
    assert (found.labelled, found.trusted) == (69, 2)
    assert found.count("nodes without a label") == 4
    assert found.count("small classes") == 1
    assert found.count("uneven classes") == 2  # ten times fewer than the largest
    assert found.count("classes spelt alike") == 1
    assert found.count("classes without a trusted node") == 1
    assert found.homophily == pytest.approx(66 / 68)
    assert "'db'" in next(one.message for one in found.findings if one.what == "classes without a trusted node")


def test_no_trust_at_all_says_what_to_do() -> None:
    found = summary([(0, 1), (1, 2)], [0, 1, 0])
    message = next(one.message for one in found.findings if one.what == "classes without a trusted node")
    assert message.startswith("No label is trusted.")
    assert "suggest-trusted" in message


def test_disagreeing_neighbours_are_noticed() -> None:
    path = [(i, i + 1) for i in range(50)]
    assert summary(path, [0, 1] * 25 + [0]).count("low homophily") == 1
    assert summary(path, [0] * 25 + [1] * 26).count("low homophily") == 0
    assert summary(path[1:], [0, 1] * 25 + [0]).count("low homophily") == 0  # one edge too few to tell
    assert summary(path, [-1, *([1, 0] * 25)]).count("low homophily") == 0  # nor does an edge without a label count
    alone = summary([], [0, 1])
    assert (alone.homophily, alone.adjusted_homophily) == (None, None)


def test_nodes_without_features_are_counted() -> None:
    assert (
        summary([(0, 1)], [0, 1, 0], features=np.array([[0, 0], [1, 0], [0, 0]])).count("nodes without features") == 2
    )
