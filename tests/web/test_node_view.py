from __future__ import annotations

from dataclasses import replace

import pytest

from lnp.web.content import Content
from lnp.web.door import Visitor
from lnp.web.node_view import LONG, node_view, saved_notice
from lnp.web.review import Review
from lnp.web.suspects import Filter

ADA = Visitor("key", "csrf", "Ada")


def test_a_node_is_shown_with_everything_known(review: Review) -> None:
    shown, table = node_view(review, ADA, 7, Filter()), review.suspects.table
    row = int(review.suspects.row_of[7])
    assert (shown["id"], shown["label"]["number"]) == ("n7", review.own.labels.given[7])
    assert shown["proposed"]["number"] == table.proposed[row]
    assert [one["neighbours"] for one in shown["opinion"]] == table.neighbour_labels[row].tolist()
    assert shown["neighbours"] == review.own.graph.adjacency[[7]].nnz
    assert shown["picture"].startswith("data:image/png")
    assert shown["texts"] == [("title", "About <i>node</i> 7", "")]
    assert shown["features"] == []  # a picture and texts are enough
    assert str(shown["drawing"]).count('class="disc') == str(shown["drawing"]).count("<title>")


def test_features_are_shown_where_there_is_nothing_else(review: Review) -> None:
    review.own = replace(review.own, texts={}, picture_shape=None)
    review.content = Content(review.own)
    names = [feature.name for feature, _ in node_view(review, ADA, 7, Filter())["features"]]
    assert names
    assert set(names) <= set("abcdef")


def test_long_texts_are_cut_and_the_rest_is_kept(review: Review) -> None:
    text = "x" * (LONG + 5)
    review.own = replace(review.own, texts={"body": (text,) * 60})
    review.content = Content(review.own)
    ((name, begin, rest),) = node_view(review, ADA, 7, Filter())["texts"]
    assert (name, begin + rest, len(rest)) == ("body", text, 5)


def test_the_history_of_a_node(review: Review) -> None:
    review.say(7, "choose", "Ada", 0)
    review.say(7, "skip", "Bob")
    review.undo("Ada")
    shown = node_view(review, ADA, 7, Filter())
    assert [(past["label"], past["reviewer"], past["taken_back"]) for past in shown["history"]] == [
        ("red", "Ada", True),
        ("skipped", "Bob", False),
    ]
    assert shown["standing"]["label"] == "skipped"
    assert shown["seen"] == 2


@pytest.mark.parametrize(("label", "words"), [(1, "yours counts"), (None, "it still counts, because you skipped")])
def test_the_second_reviewer_is_told(review: Review, label: int | None, words: str) -> None:
    review.say(7, "choose", "Bob", 0)
    number = review.say(7, "skip" if label is None else "choose", "Ada", label)
    (_, saved), (kind, told) = saved_notice(review, 7, number, "Ada")
    assert saved.startswith("Saved: node n7 ")
    assert kind == "warning"
    assert told.startswith("Bob had said “red” for node n7 at 2")
    assert told.endswith(f"Both are kept; {words}.")
    assert len(saved_notice(review, 7, 1, "Bob")) == 1  # who came first is not told of the second in advance
    again = review.say(7, "choose", "Ada", 2)
    assert len(saved_notice(review, 7, again, "Ada")) == (1 if label is not None else 2)  # one's own is no news
