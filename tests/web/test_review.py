from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lnp.datasets.own_graph import OwnGraph, write_own_graph
from lnp.errors import DataError, LabelError, ModelFileError
from lnp.estimator import LNPClassifier
from lnp.graph.graph import Graph
from lnp.web.review import Review, open_review
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


def test_a_model_of_another_graph_is_refused(home: Path, tiny_graph: Graph) -> None:
    LNPClassifier(method="gcn", epochs=1, selection="last").fit(tiny_graph, [0, 0, 0, 1, 1, 2, 2]).save(home / "other")
    with pytest.raises(ModelFileError, match="other"):
        open_review(home / "graph", home / "other", scorer="model")


def test_broken_text_is_named(home: Path, own: OwnGraph) -> None:
    ids = ("\ud800", *own.node_ids[1:])
    write_own_graph(replace(own, node_ids=ids, graph=replace(own.graph, node_ids=ids)), home / "graph")
    with pytest.raises(DataError, match="ud800"):
        open_review(home / "graph", home / "model", scorer="model")
