from __future__ import annotations

import csv
import io
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lnp.datasets.label_file import write_label_file
from lnp.datasets.own_graph import OwnGraph, write_own_graph
from lnp.errors import DataError, LabelError, ModelFileError
from lnp.estimator import LNPClassifier
from lnp.graph.graph import Graph
from lnp.web.review import Review, export_labels, open_review
from lnp.web.suspects import Filter


def test_the_wrong_labels_are_the_first_suspects(review: Review, own: OwnGraph) -> None:
    truth = np.arange(60) % 3
    wrong = {node for node in range(0, 59, 5) if own.labels.given[node] != truth[node] and not own.labels.trusted[node]}
    rows = review.suspects.rows(Filter(), review.board.states)
    first = set(review.suspects.table.nodes[rows][: len(wrong)].tolist())
    assert len(first & wrong) >= 0.8 * len(wrong)
    assert not review.suspects.trusted[review.suspects.reviewable].any()
    assert 59 not in review.suspects.reviewable  # it has no label


def test_the_same_state_is_found_again(home: Path, review: Review) -> None:
    review.say(7, "choose", "Ada", 2)
    review.say(10, "skip", "Ada")
    again = open_review(home / "graph", home / "model", scorer="model")
    assert again.progress() == review.progress()
    np.testing.assert_array_equal(again.suspects.table.quality, review.suspects.table.quality)
    again.close()


def test_scoring_anew_takes_verdicts_into_account(home: Path, review: Review) -> None:
    review.say(7, "choose", "Ada", 2)
    again = open_review(home / "graph", home / "model", scorer="model", rescore=True)
    row = again.suspects.row_of[7]
    assert again.suspects.table.given[row] == 2
    assert again.suspects.table.trusted[row]
    again.close()


def test_one_seed_of_several_is_taken(home: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (home / "model").rename(tmp_path / "run" / "seed-0")
    opened = open_review(home / "graph", tmp_path / "run", scorer="model")
    assert opened.suspects.model == tmp_path / "run" / "seed-0"
    opened.close()


def test_two_reviews_of_one_folder_see_each_other(home: Path, review: Review) -> None:
    other = open_review(home / "graph", home / "model", scorer="model")
    review.say(7, "choose", "Ada", 2)
    other.store.look("Bob", "n10")
    assert other.progress().changed + other.progress().agreed == 1
    assert review.busy("Ada") == {10: ["Bob"]}
    other.close()


@pytest.mark.parametrize(("kind", "label"), [("accept", None), ("skip", 1), ("choose", 3), ("choose", -1)])
def test_a_verdict_and_its_label_must_fit(review: Review, kind: str, label: int | None) -> None:
    with pytest.raises(LabelError, match="label"):
        review.say(7, kind, "Ada", label)
    assert review.store.since(0) == []


def test_there_must_be_something_to_train_with(review: Review) -> None:
    with pytest.raises(LabelError, match="none yet"):
        review.train_again()


@pytest.fixture
def trained(review: Review) -> Review:
    for node in range(10, 30, 5):
        review.say(node, "choose", "Ada", node % 3)
    assert review.train_again()
    deadline = time.monotonic() + 120
    while review.retraining.status.state == "running":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return review


def test_a_new_model_takes_over_when_it_is_ready(home: Path, trained: Review) -> None:
    assert trained.retraining.status.state == "done", trained.retraining.status.message
    new = trained.suspects
    assert (new.version, new.model.name) == (2, "model-review-1")
    decided = new.table.trusted[new.row_of[[10, 15, 20, 25]]]
    assert decided.all()
    np.testing.assert_array_equal(new.predicted, LNPClassifier.load(new.model).predict())
    movement = trained.movement
    assert movement is not None
    assert trained.trained_with == 4
    assert movement.compared == 59 - 6 - 4  # labelled, neither checked before nor by verdict
    assert movement.before.sum() == movement.after.sum() == movement.compared
    assert (home / "model" / "model.json").exists()  # the old one stays


@pytest.fixture
def checked_before(home: Path, own: OwnGraph) -> Path:
    """The model was trained with a label file: node 7 is blue & green, node 12 as given, both checked."""
    rows = [("n7", own.class_names[2], True), ("n12", own.class_names[own.labels.given[12]], True)]
    write_label_file(home / "model" / "labels.csv", rows)
    return home


def test_what_was_checked_before_is_trusted_and_no_suspect(checked_before: Path, own: OwnGraph) -> None:
    opened = open_review(checked_before / "graph", checked_before / "model", scorer="model")
    assert opened.own.labels.trusted[[7, 12]].all()
    assert opened.own.labels.given[7] == 2
    assert not {7, 12} & set(opened.suspects.reviewable.tolist())
    opened.say(10, "choose", "Ada", 0)
    opened.say(12, "choose", "Ada", 1)  # somebody thinks again
    expected = {"n7": (own.class_names[2], "1"), "n10": (own.class_names[0], "1"), "n12": (own.class_names[1], "1")}
    exported = export_labels(checked_before / "graph", checked_before / "model")
    for text in (opened.label_file(), exported):
        rows = list(csv.DictReader(io.StringIO(text)))
        assert {row["node"]: (row["label"], row["trusted"]) for row in rows} == expected
        assert len(rows) == 3
    opened.close()


def test_labels_are_not_exported_without_the_model_that_learnt_them(checked_before: Path, tiny_graph: Graph) -> None:
    with pytest.raises(ModelFileError, match="mistyped"):
        export_labels(checked_before / "graph", checked_before / "mistyped")
    other = LNPClassifier(method="gcn", epochs=1, selection="last").fit(tiny_graph, [0, 0, 0, 1, 1, 2, 2])
    other.save(checked_before / "other")
    with pytest.raises(ModelFileError, match="other"):
        export_labels(checked_before / "graph", checked_before / "other")


def test_a_verdict_taken_back_does_not_stay_with_the_model_it_trained(home: Path, trained: Review) -> None:
    model = trained.suspects.model
    assert len((model / "labels.csv").read_text(encoding="utf-8").splitlines()) == 1 + 4
    trained.undo("Ada")
    again = open_review(home / "graph", model, scorer="model")
    assert again.board.decided().tolist() == [10, 15, 20]
    assert [row["node"] for row in csv.DictReader(io.StringIO(again.label_file()))] == ["n10", "n15", "n20"]
    assert again.progress().done == 3
    assert again.own.labels.given[25] == trained.own.labels.given[25]
    assert not again.own.labels.trusted[25]
    again.close()


def test_a_model_of_another_graph_is_refused(home: Path, tiny_graph: Graph) -> None:
    LNPClassifier(method="gcn", epochs=1, selection="last").fit(tiny_graph, [0, 0, 0, 1, 1, 2, 2]).save(home / "other")
    with pytest.raises(ModelFileError, match="other"):
        open_review(home / "graph", home / "other", scorer="model")


def test_broken_text_is_named(home: Path, own: OwnGraph) -> None:
    ids = ("\ud800", *own.node_ids[1:])
    write_own_graph(replace(own, node_ids=ids, graph=replace(own.graph, node_ids=ids)), home / "graph")
    with pytest.raises(DataError, match="ud800"):
        open_review(home / "graph", home / "model", scorer="model")
