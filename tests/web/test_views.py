from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from lnp.graph.labels import ObservedLabels
from lnp.web.door import Visitor
from lnp.web.review import Review
from lnp.web.suspects import PAGE, Filter
from lnp.web.views import common, list_view, moved_view, node_link, status_view, training_view

ADA = Visitor("key", "csrf", "Ada")


def test_progress_and_classes_are_on_every_page(review: Review) -> None:
    review.say(7, "choose", "Ada", int(review.own.labels.given[7]))
    review.say(10, "choose", "Ada", int(review.own.labels.given[10] + 1) % 3)
    review.say(11, "skip", "Ada")
    shown = common(review, ADA)
    counts = {"done": 2, "agreed": 1, "changed": 1, "skipped": 1, "to_do": 59 - 6 - 3, "total": 59 - 6}
    assert shown["progress"] == counts
    assert [(one["number"], one["key"]) for one in shown["classes"]] == [(0, "1"), (1, "2"), (2, "3")]


def test_pages_of_the_list_have_every_row_once(review: Review) -> None:
    chosen = Filter(show="all", order="sure")
    pages = [list_view(review, ADA, chosen, page) for page in (1, 2)]
    ids = [row["id"] for page in pages for row in page["rows"]]
    assert len(pages[0]["rows"]) == PAGE
    assert sorted(ids) == sorted(f"n{k}" for k in range(59))
    assert (pages[0]["earlier"], pages[1]["later"]) == (None, None)
    assert pages[0]["later"] == "/?show=all&order=sure&page=2"


def test_a_row_shows_what_the_audit_and_people_say(review: Review) -> None:
    table = review.suspects.table
    row = int(review.suspects.row_of[7])
    review.say(7, "choose", "Bob", 0)
    review.store.look("Cy", "n7")
    entry = next(one for one in list_view(review, ADA, Filter(show="done"), 1)["rows"] if one["id"] == "n7")
    assert entry["quality"] == f"{table.quality[row]:.2f}"
    assert entry["proposed"]["number"] == table.proposed[row]
    assert (entry["verdict"], entry["by"], entry["busy"]) == ("red", "Bob", ["Cy"])
    assert entry["state"] == ("agreed" if review.own.labels.given[7] == 0 else "changed")
    assert entry["snippet"] == "About <i>node</i> 7"


def test_an_empty_list_is_no_error(review: Review) -> None:
    shown = list_view(review, ADA, Filter(show="skipped"), 3)
    assert (shown["rows"], shown["start"], shown["page"], shown["pages"]) == ([], None, 1, 1)


def test_the_news_is_plain_json(review: Review) -> None:
    status = status_view(review, ADA, 7, 0)
    assert json.loads(json.dumps(status)) == status
    assert status["training"]["state"] == "idle"


def test_links_carry_the_filter() -> None:
    assert node_link(3, Filter()) == "/node/3"
    assert node_link(3, Filter(given=1), saved=9) == "/node/3?given=1&saved=9"


def test_before_any_training_nothing_has_moved(review: Review) -> None:
    assert moved_view(review, ADA)["movement"] is None
    assert (training_view(review, ADA)["labels"], training_view(review, ADA)["moved"]) == (0, False)


@pytest.mark.parametrize("many", [3, 40])
def test_keys_only_where_there_are_buttons(review: Review, many: int) -> None:
    names = tuple(f"class {k}" for k in range(many))
    review.own = replace(
        review.own,
        graph=replace(review.own.graph, class_names=names),
        class_names=names,
        labels=ObservedLabels(np.zeros(60, np.int64), class_count=many),
    )
    keys = [one["key"] for one in common(review, ADA)["classes"]]
    assert len(keys) == many
    assert all(keys) == (many == 3)
