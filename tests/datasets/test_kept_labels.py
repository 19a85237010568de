from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lnp.datasets.kept_labels import KEPT, added_rows, keep_labels, with_kept_labels, with_label_files
from lnp.datasets.own_graph import OwnGraph
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels


@pytest.fixture
def own() -> OwnGraph:
    ids, names = ("a", "b", "c, d", "007", "e"), ("red", "NA")
    graph = Graph.from_edges([[0, 1, 2], [1, 2, 3]], np.eye(5), class_names=names, node_ids=ids, name="five")
    labels = ObservedLabels([0, 1, 1, -1, 0], [False, False, False, False, True], class_count=2)
    return OwnGraph(graph, labels, ids, names, {}, ())


def same(one: ObservedLabels, other: ObservedLabels) -> bool:
    return all((getattr(one, name) == getattr(other, name)).all() for name in ("given", "trusted", "before"))


@pytest.fixture
def checked(own: OwnGraph, tmp_path: Path) -> OwnGraph:
    """One label corrected, one confirmed, one given where there was none, one taken away, one no longer trusted."""
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text('node,label,trusted\na,NA,1\n"c, d",NA,1\n007,red,0\n')
    second.write_text("node,label,trusted\na,red,1\nb,,0\ne,red,0\n")
    return with_label_files(own, [first, second])


def test_of_several_files_the_last_counts(checked: OwnGraph) -> None:
    assert checked.labels.given.tolist() == [0, -1, 1, 0, 0]
    assert checked.labels.trusted.tolist() == [True, False, True, False, False]


def test_rows_say_what_is_new_and_nothing_else(own: OwnGraph, checked: OwnGraph) -> None:
    assert added_rows(checked, own.labels) == [
        ("a", "red", True),
        ("b", "", False),
        ("c, d", "NA", True),
        ("007", "red", False),
        ("e", "red", False),
    ]
    assert added_rows(own, own.labels) == []


def test_a_model_gives_back_the_labels_it_was_trained_with(own: OwnGraph, checked: OwnGraph, tmp_path: Path) -> None:
    keep_labels(tmp_path, checked, own.labels)
    again = with_kept_labels(own, tmp_path)
    assert same(again.labels, checked.labels)
    assert again.labels.before.tolist() == [0, -1, 1, -1, -1]  # what the checked ones had been given


def test_some_nodes_may_stay_as_they_are(own: OwnGraph, checked: OwnGraph, tmp_path: Path) -> None:
    keep_labels(tmp_path, checked, own.labels)
    again = with_kept_labels(own, tmp_path, besides=[1, 2]).labels
    assert again.given.tolist() == [0, 1, 1, 0, 0]
    assert again.trusted.tolist() == [True, False, False, False, False]


def test_a_model_without_label_files_keeps_none_and_drops_those_of_another(
    own: OwnGraph, checked: OwnGraph, tmp_path: Path
) -> None:
    assert with_kept_labels(own, tmp_path) is own
    keep_labels(tmp_path, checked, own.labels)
    keep_labels(tmp_path, own, own.labels)
    assert not (tmp_path / KEPT).exists()
    keep_labels(tmp_path, own, own.labels)  # and there may be none
