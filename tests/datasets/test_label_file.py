"""Label files change exactly what they name, and say where they are wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lnp.datasets.label_file import read_label_file, write_label_file
from lnp.datasets.own_graph import OwnGraph
from lnp.errors import DataError
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels


@pytest.fixture
def own() -> OwnGraph:
    ids, classes = ("07", "7", "x y", "d"), ("red", "blue", "NA")
    graph = Graph.from_edges([[0, 1], [1, 2]], np.eye(4), class_names=classes, node_ids=ids)
    labels = ObservedLabels([0, 1, -1, 0], [False, True, False, False], class_count=3)
    return OwnGraph(graph, labels, ids, classes, {}, ())


def test_labels_are_replaced_and_the_rest_stays(tmp_path: Path, own: OwnGraph) -> None:
    path = tmp_path / "new" / "labels.csv"
    write_label_file(path, [("07", "blue", True), ("x y", "red", False)])
    assert path.read_text() == "node,label,trusted\n07,blue,1\nx y,red,0\n"
    changed = read_label_file(path, own)
    assert changed.labels.given.tolist() == [1, 1, 0, 0]
    assert changed.labels.trusted.tolist() == [True, True, False, False]
    assert changed.labels.before.tolist() == [0, -1, -1, -1]  # what was wrong with a checked label teaches as well
    assert own.labels.given.tolist() == [0, 1, -1, 0]  # the argument stays as it was
    assert changed.graph is own.graph


def test_without_the_mark_labels_are_trusted_and_an_empty_one_goes(tmp_path: Path, own: OwnGraph) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("reviewer,ID,label\nAda,7,\nBob,d,NA\n")
    changed = read_label_file(path, own)
    assert changed.labels.given.tolist() == [0, -1, -1, 2]  # a class that is called NA is a class
    assert changed.labels.trusted.tolist() == [False, False, False, True]


def test_whole_numbers_may_have_a_decimal_part_of_zeros(tmp_path: Path) -> None:
    graph = Graph.from_edges([[0, 1], [1, 2]], np.eye(4), class_names=("2", "10", "1.0"))
    own = OwnGraph(graph, ObservedLabels([0, 1, -1, 0], class_count=3), ("a", "b", "c", "d"), graph.class_names, {}, ())
    path = tmp_path / "labels.csv"
    path.write_text("node,label\na,10.0\nb,\nc,2.00\nd,1.0\n")
    assert read_label_file(path, own).labels.given.tolist() == [
        1,
        -1,
        0,
        2,
    ]  # a class that is called 1.0 keeps its name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("node,trusted\n7,1\n", "to have a column 'label', but it has only 'node', 'trusted'"),
        ("name,label\n7,red\n", "to have a column 'node'"),
        ("node,label\n7,red\n8,red\n", "labels.csv, row 3, column 'node', but the graph has no '8'"),
        ("node,label\n7,red\nd,pink\n", "labels.csv, row 3, column 'label', but got 'pink'. Classes: 'red', 'blue'"),
        ("node,label\n7,red\n07,red\n7,blue\n", "row 4, column 'node', has '7' again, which is in row 2"),
        ("node,label,trusted\n7,red,maybe\n", "row 2, column 'trusted', but got 'maybe'"),
        ("node,label,trusted\n7,,1\n", "row 2, column 'trusted', is trusted and has none"),
        ("node,label\n7,red,extra\n", "Expected 2 cells in .*labels.csv, row 2"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, own: OwnGraph, text: str, message: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_label_file(path, own)
