"""Marks for classes that fit into a small disc."""

from __future__ import annotations

from collections.abc import Sequence

from lnp.report.figures import shorten

__all__ = ["LENGTH", "class_marks"]

LENGTH = 4
"""Letters that fit."""


def class_marks(names: Sequence[str]) -> list[str]:
    """The names, cut short; where that leaves two alike, numbers from 1 instead, which a legend explains.

    >>> class_marks(["cat", "horse"]), class_marks(["cs.AI", "cs.LG"])
    (['cat', 'hor…'], ['1', '2'])
    """
    marks = [shorten(name.strip(), LENGTH) for name in names]
    return marks if len(set(marks)) == len(marks) and all(marks) else [str(k + 1) for k in range(len(names))]
