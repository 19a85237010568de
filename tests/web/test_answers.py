from __future__ import annotations

from typing import Any

import pytest
from starlette.exceptions import HTTPException

from lnp.errors import ConfigError
from lnp.web.answers import download, number, page_of, problem


@pytest.mark.parametrize(
    ("text", "value"), [("17", 17), ("0", 0), ("", -1), ("-3", -1), ("1e3", -1), ("²", -1), ("٣", -1), ("9" * 40, -1)]
)
def test_numbers_are_plain_digits(text: str, value: int) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (HTTPException(404), 404, "leads nowhere"),
        (HTTPException(404, "No <b>node</b>."), 404, "No &lt;b&gt;node&lt;/b&gt;."),
        (ConfigError("Expected better."), 400, "Expected better."),
        (RuntimeError("secret detail"), 500, "An error in lnp itself"),
    ],
)
def test_every_error_is_a_page_in_plain_words(error: Exception, status: int, words: str) -> None:
    request: Any = None
    answer = problem(request, error)
    body = bytes(answer.body).decode()
    assert answer.status_code == status
    assert words in body
    assert "secret detail" not in body


def test_broken_characters_do_not_break_the_page() -> None:
    context = {"title": "t", "text": "half \ud800 a character", "home": False}
    assert b"half ? a character" in bytes(page_of("message.html", context).body)
    assert bytes(download("\ud800", "x.csv").body) == b"?"
