"""Pieces of SVG."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ElementTree

import pytest

from lnp.report.svg import drawing, linear_ticks, log_ticks, tag


def test_text_and_attributes_are_escaped() -> None:
    text = drawing(10, 20, "a & b", tag("text", "<script>", aria_label='"><script>', x=1.0))
    root = ElementTree.fromstring(text)
    assert root.get("viewBox") == "0 0 10 20"
    assert root.findtext("title") == "a & b"
    element = root.find("text")
    assert element is not None
    assert (element.text, element.get("aria-label"), element.get("x")) == ("<script>", '"><script>', "1")


@pytest.mark.parametrize(("low", "high"), [(0, 0.93), (0, 1), (-3, 17), (0.2, 0.21), (5, 5), (0, 199), (0, 0)])
def test_linear_ticks_enclose_the_values_in_equal_round_steps(low: float, high: float) -> None:
    ticks = linear_ticks(low, high)
    assert ticks[0] <= low <= high <= ticks[-1]
    steps = {round(b - a, 9) for a, b in itertools.pairwise(ticks)}
    assert len(steps) == 1
    assert f"{steps.pop():e}"[0] in "125"
    assert 2 <= len(ticks) <= 8


@pytest.mark.parametrize(("low", "high"), [(0.02, 3), (1, 1), (0.001, 0.1), (5e-4, 900)])
def test_log_ticks_are_powers_of_ten_around_the_values(low: float, high: float) -> None:
    ticks = log_ticks(low, high)
    assert ticks[0] <= low <= high <= ticks[-1]
    assert all(b / a == pytest.approx(10) for a, b in itertools.pairwise(ticks))
    assert len(ticks) >= 2
