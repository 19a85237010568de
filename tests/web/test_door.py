from __future__ import annotations

import pytest

from lnp.errors import ConfigError
from lnp.web.door import Door, reviewer_name


def test_only_the_token_opens() -> None:
    door = Door(8000)
    for wrong in ("", "x", door.token[:-1], door.token + "x", door.token.swapcase(), "ü" * 43):
        assert door.enter(wrong) is None
    assert door.enter(door.token) is not None
    assert len(door.token) >= 43  # 256 bits
    assert Door(8000).token != door.token


def test_each_visitor_has_secrets_of_their_own_and_only_the_first_the_name() -> None:
    door = Door(8000, "Ada")
    first, second = door.enter(door.token), door.enter(door.token)
    assert first is not None
    assert second is not None
    assert len({first.key, second.key, first.csrf, second.csrf, door.token}) == 5
    assert (first.reviewer, second.reviewer) == ("Ada", "")
    assert door.visitor(first.key) is first
    assert door.visitor(second.key) is second
    assert door.visitor("nobody") is door.visitor(None) is None
    assert door.is_from(first, first.csrf)
    assert not door.is_from(first, second.csrf)


def test_hosts_are_this_machine_only() -> None:
    assert Door(8000).hosts == {"127.0.0.1:8000", "localhost:8000"}
    assert Door(80).origins == {"http://127.0.0.1", "http://localhost"}


@pytest.mark.parametrize("name", ["", "   ", "a" * 61, "a\0b", "\u202e"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(ConfigError, match="reviewer"):
        reviewer_name(name)
