from __future__ import annotations

from lnp.web.class_marks import LENGTH, class_marks


def test_short_names_stay_as_they_are() -> None:
    assert class_marks(["0", "9", "spam"]) == ["0", "9", "spam"]


def test_marks_always_tell_classes_apart() -> None:
    for names in (["abcde", "abcdf"], ["a", " a"], ["", "b"], ["x" * 50, "y" * 50]):
        marks = class_marks(names)
        assert len(set(marks)) == len(names)
        assert all(0 < len(mark) <= LENGTH for mark in marks)
