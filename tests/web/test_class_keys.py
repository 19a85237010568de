from __future__ import annotations

from lnp.web.class_keys import ACTION_KEYS, class_keys


def test_digits_stand_for_themselves() -> None:
    names = [str(k) for k in range(10)]
    assert class_keys(names) == names
    assert class_keys(["9", "cat", "1", "dog"]) == ["9", "2", "1", "3"]


def test_no_key_has_two_meanings() -> None:
    keys = class_keys([f"class {k}" for k in range(40)])
    used = [key for key in keys if key]
    assert len(set(used)) == len(used) == 10 + 26 - len(ACTION_KEYS)
    assert not set(used) & set(ACTION_KEYS.values())
    assert keys[:10] == list("1234567890")
    assert keys[-1] == ""
