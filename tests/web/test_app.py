from __future__ import annotations

import html
import json
import re
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from lnp.web.suspects import Filter

NASTY = "<script>alert(1)</script>"


@pytest.fixture
def ada(served: Any) -> Any:
    return served.visit("Ada")


def first(served: Any) -> int:
    review = served.review
    return int(review.suspects.table.nodes[review.suspects.rows(Filter(), review.board.states)[0]])


def test_the_list_is_sorted_and_filtered(served: Any, ada: Any) -> None:
    body = ada.get("/").body
    qualities = [float(text) for text in re.findall(r'<td class="number">([\d.]+)<svg', body)]
    assert qualities == sorted(qualities)
    assert len(qualities) == 50
    table, given = served.review.suspects.table, served.review.own.labels.given
    ids = re.findall(r'<a href="/node/(\d+)\?given=2&amp;show=all">', ada.get("/?given=2&show=all").body)
    assert sorted(map(int, ids)) == sorted(np.flatnonzero(given == 2).tolist())
    few = ada.get("/?high=0.3").body
    assert f"{int((table.quality[~table.trusted] <= 0.305).sum())} label" in few
    assert "page 2 of 2" in ada.get("/?show=all&page=2").body
    assert "page 2 of 2" in ada.get("/?show=all&page=99").body


def test_odd_addresses_get_a_page_in_plain_words(ada: Any) -> None:
    for path in (
        "/?given=9",
        "/?low=x",
        "/?page=x",
        "/?show=x",
        "/node/x",
        "/node/0?given=9",
        "/node/1e3",
        "/status?node=x",
    ):
        answer = ada.get(path)
        assert answer.status in (400, 404)
        assert "<h1>" in answer.body
        assert "Traceback" not in answer.body
        assert "To the list of suspects" in answer.body


def test_what_is_not_there_is_not_found(ada: Any) -> None:
    for path in ("/node/-1", "/node/60", "/node/59", "/nowhere", "/find?id=zzz", "/docs", "/openapi.json"):
        answer = ada.get(path)
        assert answer.status == 404
        assert "<h1>There is no such page</h1>" in answer.body


def test_no_other_file_can_be_reached(ada: Any) -> None:
    for path in (
        *("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/..%5capp.py"),
        *("/static//etc/passwd", "/static/%2fetc%2fpasswd", "/static/....//app.py", "/../../../etc/passwd"),
        *("/static/", "/static/review.js/", "/static/review.js%00.css", "/static/__init__.py", "/static/REVIEW.JS"),
        *("/verdicts.sqlite", "/graph.json", "/templates/base.html", "/static/../static/review.js"),
    ):
        answer = ada.get(path)
        assert answer.status in (307, 404), path
        assert not re.search(r"import |root:|SQLite format|extends", answer.body)


def test_the_own_files_are_served_with_their_types(ada: Any) -> None:
    assert ada.get("/static/review.js").headers["content-type"].startswith("text/javascript")
    assert ada.get("/static/review.css").headers["content-type"].startswith("text/css")


def test_names_are_shown_and_not_run(served: Any, ada: Any) -> None:
    eve = served.visit("<img src=x onerror=alert(2)>")
    node = int(np.flatnonzero(served.review.own.labels.given == 1)[-1])
    eve.say(node, "accept", 1)
    for path in ("/?show=all", f"/node/{node}", "/reviewer", "/training", "/moved"):
        for client in (ada, eve):
            body = client.get(path).body
            assert NASTY not in body
            assert "<img src=x" not in body
            assert "About <i>" not in body
            assert "ring <b>" not in body
    shown = ada.get(f"/node/{node}").body
    assert html.escape(NASTY) in shown
    assert "&lt;img src=x" in shown
    assert "About &lt;i&gt;node&lt;/i&gt;" in shown
    missing = ada.get("/find?id=%3Cscript%3E")
    assert missing.status == 404
    assert "<script>" not in missing.body


def test_a_verdict_leads_on_and_says_that_it_is_saved(served: Any, ada: Any) -> None:
    review, node = served.review, first(served)
    answer = ada.say(node, "take", int(review.suspects.table.proposed[0]))
    assert answer.status == 303
    (said,) = review.store.since(0)
    assert (said.node, said.kind, said.reviewer) == (f"n{node}", "take", "Ada")
    assert said.label == review.own.class_names[review.suspects.table.proposed[0]]
    assert said.given == review.own.class_names[review.own.labels.given[node]]
    target = urlsplit(answer.headers["location"])
    assert target.path == f"/node/{first(served)}"
    assert not target.netloc
    page = ada.get(answer.headers["location"]).body
    assert f"Saved: node n{node}" in page
    assert '<b data-count="done">1</b>' in page


def test_an_address_cannot_put_words_on_the_page(served: Any, ada: Any) -> None:
    body = ada.get("/?about=7&saved=12345").body
    assert "Saved" not in body
    served.visit("Bob").say(7, "accept", 1)
    assert "Saved" not in ada.get("/?about=7&saved=1").body  # somebody else's


def test_the_filter_is_remembered_from_node_to_node(served: Any, ada: Any) -> None:
    given = served.review.own.labels.given
    body = ada.get("/?given=2&order=sure").body
    start = html.unescape(re.search(r'href="(/node/[^"]+)"[^>]*id="start"', body)[1])  # type: ignore[index]
    for _ in range(3):
        node = int(urlsplit(start).path.rpartition("/")[2])
        assert given[node] == 2
        assert "given=2" in start
        assert "order=sure" in start
        start = ada.say(node, "skip", given=2, order="sure").headers["location"]


def test_a_verdict_that_makes_no_sense_is_refused(served: Any, ada: Any) -> None:
    for fields in (
        {"node": 7, "kind": "accept"},
        {"node": 7, "kind": "accept", "label": 3},
        {"node": 7, "kind": "accept", "label": "red"},
        {"node": 7, "kind": "undo", "label": 1},
        {"node": 7, "kind": "", "label": 1},
        {"node": 59, "kind": "skip"},
        {"node": "", "kind": "skip"},
        {"node": "7; DROP TABLE verdicts", "kind": "skip"},
        {"node": 7, "kind": "skip", "show": "x"},
    ):
        assert ada.post("/verdict", fields).status in (400, 404)
    assert served.review.store.since(0) == []


def test_undo_leads_back_to_the_node(served: Any, ada: Any) -> None:
    node = first(served)
    ada.say(node, "accept", 0)
    answer = ada.post("/undo", {"given": 1})
    assert answer.headers["location"] == f"/node/{node}?given=1&undone=1"
    assert "taken back" in ada.get(answer.headers["location"]).body
    assert ada.post("/undo", {}).headers["location"] == "/?nothing=1"
    assert "no verdict of yours" in ada.get("/?nothing=1").body
    assert [row.kind for row in served.review.store.since(0)] == ["accept", "undo"]
    served.review.store.add("of another graph", "accept", "Ada", label="red")
    assert ada.post("/undo", {}).headers["location"] == "/?undone=1"


def test_the_end_of_the_list_is_said(served: Any, ada: Any) -> None:
    review = served.review
    rows = review.suspects.rows(Filter(given=0, high=0.4), review.board.states)
    nodes = review.suspects.table.nodes[rows].tolist()
    assert nodes
    for node in nodes:
        answer = ada.say(node, "accept", 0, given=0, high=0.4)
    assert answer.headers["location"].startswith("/?about=")
    assert "That was the last of this list." in ada.get(answer.headers["location"]).body


def test_two_reviewers_on_one_node(served: Any, ada: Any) -> None:
    bob = served.visit("Bob")
    ada.get("/node/7")
    assert "Ada is looking at this node too." in bob.get("/node/7").body
    assert "Ada is here" in bob.get("/?show=all").body
    assert "is looking at this node" not in ada.get("/node/10").body
    ada.say(7, "choose", 0)
    answer = bob.say(7, "choose", 2)
    notice = html.unescape(bob.get(answer.headers["location"]).body)
    assert "Ada had said “red” for node n7" in notice
    assert "Both are kept; yours counts." in notice
    assert [(row.reviewer, row.label) for row in served.review.store.since(0)] == [
        ("Ada", "red"),
        ("Bob", "blue & green"),
    ]
    assert served.review.board.labels[7] == 2
    # The page that Ada still has open hears of it.
    news = json.loads(ada.get("/status?node=7&seen=1").body)
    assert news["news"].startswith("Bob has just said “blue & green”")
    assert json.loads(ada.get("/status?node=7&seen=2").body)["news"] == ""
    assert json.loads(bob.get("/status?node=7&seen=0").body)["news"] == ""


def test_who_has_no_name_yet_is_asked_for_it(served: Any) -> None:
    guest = served.visit()
    for path in ("/", "/node/7", "/training"):
        assert guest.get(path).headers["location"] == "/reviewer"
    assert guest.say(7, "skip").headers["location"] == "/reviewer"
    assert served.review.store.since(0) == []
    assert guest.post("/reviewer", {"reviewer": " "}).status == 400


def test_exports_are_files(served: Any, ada: Any) -> None:
    ada.say(7, "choose", 2)
    answer = ada.get("/verdicts.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="verdicts.csv"'
    head, row = answer.body.splitlines()
    assert head == "node,label,trusted,reviewer,time,given"
    assert row.startswith("n7,blue & green,1,Ada,")
    assert len(ada.get("/history.csv").body.splitlines()) == 2


def test_an_error_inside_shows_nothing_of_the_inside(served: Any, ada: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(served.review.store, "look", fail)
    answer = ada.get("/node/7")
    assert answer.status == 500
    assert "secret detail" not in answer.body
    assert "An error in lnp itself" in answer.body
