"""Which key stands for which class."""

from __future__ import annotations

import string
from collections.abc import Sequence

__all__ = ["ACTION_KEYS", "class_keys"]

ACTION_KEYS = {
    "accept": "a",
    "take": "t",
    "choose": "c",
    "skip": "s",
    "undo": "u",
    "next": "n",
    "back": "b",
    "list": "l",
}
"""Keys of what can be done; arrows to the right and left are next and back too, and ? shows them all."""


def class_keys(names: Sequence[str]) -> list[str]:
    """One key per class, empty where keys have run out.

    A class whose name is a digit has that digit. The others get what is left of 1 … 9, 0, then letters that do nothing
    else.

    >>> class_keys(["cat", "dog", "7"])
    ['1', '2', '7']
    """
    digits = "1234567890"
    own = {name: name for name in names if len(name) == 1 and name in digits}
    letters = [letter for letter in string.ascii_lowercase if letter not in ACTION_KEYS.values()]
    free = iter([digit for digit in digits if digit not in own] + letters)
    return [own[name] if name in own else next(free, "") for name in names]
