"""Predictions belong to the graph of the model; what changed since is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lnp.datasets.own_graph import OwnGraph
from lnp.errors import ModelFileError
from lnp.estimator import LNPClassifier
from lnp.experiments.own_prediction import predict_own
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels


def make(graph: Graph, given: list[int]) -> OwnGraph:
    ids = tuple(f"n{i}" for i in range(graph.node_count))
    named = replace(graph, node_ids=ids)
    labels = ObservedLabels(given, class_count=graph.class_count)
    return OwnGraph(named, labels, ids, graph.class_names, {}, ())


@pytest.fixture
def own(tiny_graph: Graph) -> OwnGraph:
    return make(tiny_graph, [0, 0, 0, 1, 1, 2, -1])


@pytest.fixture
def model(own: OwnGraph, tmp_path: Path) -> Path:
    classifier = LNPClassifier(method="gcn", epochs=5, selection="last").fit(own.graph, own.labels)
    classifier.save(tmp_path / "model")
    np.save(tmp_path / "expected.npy", classifier.predict_proba())
    return tmp_path / "model"


def test_the_same_graph_gives_the_model_s_word(own: OwnGraph, model: Path) -> None:
    predictions, notes = predict_own(model, own)
    assert (predictions.node_ids, notes) == (own.node_ids, ())
    np.testing.assert_array_equal(predictions.probabilities, np.load(model.parent / "expected.npy").astype(float))


def test_changed_labels_are_counted(own: OwnGraph, model: Path) -> None:
    changed = make(own.graph, [1, 0, 0, 1, 1, -1, 2])
    predictions, (note,) = predict_own(model, changed)
    assert note.startswith("3 of 7 labels differ (1 of them taken away) from those that the model was trained with")
    assert predictions.given.tolist() == [1, 0, 0, 1, 1, -1, 2]


def test_a_changed_graph_is_refused_with_what_changed(own: OwnGraph, model: Path) -> None:
    graph, given = own.graph, own.labels.given.tolist()
    bigger = Graph.from_edges(graph.edges, np.ones((8, 3)), class_names=graph.class_names)
    wired = Graph.from_edges(graph.edges[:, 1:], graph.features, class_names=graph.class_names)
    renamed = replace(graph, class_names=("red", "green", "bleu"))
    for other, message in [
        (make(bigger, [*given, -1]), r"changed since: 7 nodes then, 8 now; 2 features then, 3 now. Train again"),
        (make(wired, given), r"changed since: edges or features differ"),
        (make(renamed, given), r"changed since: the classes have other names"),
    ]:
        with pytest.raises(ModelFileError, match=message):
            predict_own(model, other)
