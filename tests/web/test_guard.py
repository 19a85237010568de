"""Malloryry rule of the guard, against the served review: what breaks one gets nothing and changes nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest

from lnp.web.guard import HEADERS, MAX_FORM

PATHS = ["/", "/node/0", "/training", "/moved", "/reviewer", "/status", "/verdicts.csv", "/history.csv", "/find?id=n1"]
STATIC = ["/static/review.js", "/static/review.css"]


@pytest.fixture
def ada(served: Any) -> Any:
    return served.visit("Ada")


def test_nothing_is_shown_without_the_token(served: Any) -> None:
    stranger = served.visit()
    for path in (*PATHS, *STATIC, "/nowhere"):
        for cookie in (None, f"{served.door.cookie}=guess", f"{served.door.cookie}={served.door.token}"):
            answer = stranger.get(path, cookie=cookie)
            assert answer.status == 403
            assert "with the token in it" in answer.body
            assert "n1" not in answer.body


def test_a_wrong_token_opens_nothing(served: Any) -> None:
    for token in ("", "x", "%00", "a" * 10_000, served.door.token[:-1]):
        answer = served.visit().get(f"/?token={token}", cookie=None)
        assert answer.status == 403
        assert "set-cookie" not in answer.headers


def test_the_token_is_asked_for_at_the_first_page_only(served: Any) -> None:
    assert served.visit().get(f"/status?token={served.door.token}", cookie=None).status == 403


def test_the_cookie_is_for_this_site_and_no_script(served: Any) -> None:
    answer = served.visit().get(f"/?token={served.door.token}", cookie=None)
    cookie = answer.headers["set-cookie"]
    assert re.search(r"; *HttpOnly", cookie, re.I)
    assert re.search(r"; *SameSite=strict", cookie, re.I)
    assert served.door.token not in cookie
    assert served.door.token not in answer.body  # nor in what is shown, and the next address has none
    assert '<meta http-equiv="refresh" content="0;url=/">' in answer.body


def test_the_cookies_of_other_programs_do_not_matter(served: Any, ada: Any) -> None:
    odd = 'theme={"a": "b", [c]}; x; =y; "q'
    assert served.visit().get("/status", cookie=f"{odd}; {ada.cookie}").status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:{port}", None]
)
def test_another_host_is_refused(served: Any, ada: Any, host: str | None) -> None:
    """What DNS rebinding looks like: the right address and cookie under a foreign name."""
    named = None if host is None else host.format(port=served.door.port)
    for path in (*PATHS, *STATIC, f"/?token={served.door.token}"):
        answer = ada.get(path, host=named)
        assert answer.status in (400, 421)
        assert "set-cookie" not in answer.headers
        assert "n1" not in answer.body


def test_localhost_is_the_same_machine(served: Any, ada: Any) -> None:
    assert ada.get("/", host=f"localhost:{served.door.port}").status == 200


def test_another_origin_is_refused(served: Any, ada: Any) -> None:
    port = served.door.port
    for origin in ("http://evil.example", "null", "http://127.0.0.1", f"https://127.0.0.1:{port}", ""):
        assert ada.get("/status", origin=origin).status == 403
        assert ada.post("/verdict", {"node": 7, "kind": "accept", "label": 1}, origin=origin).status == 403
    assert served.review.store.since(0) == []


def test_a_form_must_say_where_it_comes_from(served: Any, ada: Any) -> None:
    assert ada.post("/verdict", {"node": 7, "kind": "accept", "label": 1}, origin=None).status == 403
    assert served.review.store.since(0) == []


def test_every_form_needs_the_secret_of_its_page(served: Any, ada: Any) -> None:
    ada.say(7, "accept", 1)
    before = served.review.store.since(0)
    others, ada.csrf = served.visit("Bob").csrf, ""
    fields: dict[str, object] = {"node": 10, "kind": "accept", "label": 1, "reviewer": "Mallory"}
    for path in ("/verdict", "/undo", "/training/start", "/training/stop", "/reviewer"):
        for secret in ("", "x", others, served.door.token):
            answer = ada.post(path, fields | {"csrf": secret})
            assert answer.status == 403
            assert "nothing was done" in answer.body
    assert served.review.store.since(0) == before
    assert served.review.retraining.status.state == "idle"
    assert "Mallory" not in ada.get("/").body


def test_there_are_no_uploads(ada: Any) -> None:
    for kind in ("multipart/form-data; boundary=x", "application/json", "text/plain", None):
        assert ada.post("/verdict", {"node": 7, "kind": "skip"}, content_type=kind).status == 415


def test_long_and_odd_forms_are_refused(served: Any, ada: Any) -> None:
    assert ada.post("/verdict", {"label": "a" * MAX_FORM}).status == 413
    assert ada.post("/verdict", {f"f{k}": k for k in range(100)}).status == 400
    form = {"origin": f"http://127.0.0.1:{served.door.port}", "content_type": "application/x-www-form-urlencoded"}
    assert ada.send("POST", "/verdict", b"csrf=%ff", **form).status == 400
    assert served.review.store.since(0) == []


def test_other_methods_are_refused(ada: Any) -> None:
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert ada.send(method, "/").status == 405


def test_reading_an_address_changes_nothing(served: Any, ada: Any) -> None:
    ada.say(7, "accept", 1)
    for path in ("/verdict", "/undo", "/training/start", "/training/stop"):
        assert ada.get(f"{path}?node=10&kind=accept&label=1&csrf={ada.csrf}").status in (404, 405)
    assert len(served.review.store.since(0)) == 1
    assert served.review.retraining.status.state == "idle"


def test_every_answer_carries_the_headers(ada: Any) -> None:
    for path in (*PATHS, *STATIC, "/nowhere", "/node/999999"):
        for answer in (ada.get(path), ada.get(path, cookie=None), ada.get(path, host="evil.example")):
            for name, value in HEADERS.items():
                assert answer.headers[name.lower()] == value


def test_the_policy_allows_no_inline_script_and_pages_have_none(ada: Any) -> None:
    policy = dict(part.strip().split(" ", 1) for part in HEADERS["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    for path in ("/", "/node/0", "/training", "/moved", "/reviewer"):
        body = ada.get(path).body
        assert re.findall(r"<script(?! src=\"/static/review\.js\" defer></script>)", body) == []
        assert not re.search(r"<[^>]*\s(on\w+|style)=", body)
        assert "http://" not in body.replace("http://www.w3.org", "")
        assert "https://" not in body
