from __future__ import annotations

import pytest

from lnp.datasets.options import parse_name, read_options
from lnp.errors import ConfigError, UnknownNameError

HINTS = {"k": int, "share": float, "mutual": bool, "balance": tuple[float, ...] | None}


def test_a_name_without_options_stays_a_name():
    assert parse_name("cora") == ("cora", {})
    assert parse_name(" digits: k = 5 , mutual=yes,") == ("digits", {"k": "5", "mutual": "yes"})


def test_text_and_values_are_read_alike():
    text = read_options("g", {"k": "5", "share": "0.5", "mutual": "yes", "balance": "5/1/0.5"}, HINTS)
    values = read_options("g", {"k": 5, "share": 0.5, "mutual": True, "balance": [5, 1, 0.5]}, HINTS)
    assert text == values == {"k": 5, "share": 0.5, "mutual": True, "balance": (5.0, 1.0, 0.5)}
    assert [type(value) for value in text.values()] == [type(value) for value in values.values()]
    assert read_options("g", {"balance": "none", "k": "1e3"}, HINTS) == {"balance": None, "k": 1000}


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("k", "many", "`k` to be int, but got 'many'"),
        ("k", 2.5, "`k` to be int, but got 2.5"),
        ("k", "inf", "`k` to be int, but got 'inf'"),
        ("k", True, "`k` to be int, but got True"),
        ("k", None, "`k` to be int, but got None"),
        ("share", "half", "`share` to be float, but got 'half'"),
        ("mutual", "maybe", "`mutual` to be bool, but got 'maybe'"),
        ("balance", "1/x", "`balance` to be .* but got '1/x'"),
        ("balance", 3, "`balance` to be .* but got 3"),
    ],
)
def test_a_value_of_another_kind_is_named(option, value, message):
    with pytest.raises(ConfigError, match=message):
        read_options("g", {option: value}, HINTS)


def test_unknown_options_and_bad_text_are_named():
    with pytest.raises(
        UnknownNameError, match=r"Unknown option of g 'shares'\. Did you mean 'share'\? Choices: balance"
    ):
        read_options("g", {"shares": 1}, HINTS)
    with pytest.raises(ConfigError, match="options of digits to be written name=value, but got 'k'"):
        parse_name("digits:k")
