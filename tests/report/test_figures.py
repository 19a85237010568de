"""Figures: what is drawn is where the numbers say."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from lnp.report.figures import Bar, Line, bar_chart, heat_map, line_chart


def parts(figure: str, name: str, kind: str) -> list[ElementTree.Element]:
    return [e for e in ElementTree.fromstring(figure).iter(name) if kind in e.get("class", "").split()]


def number(element: ElementTree.Element, name: str) -> float:
    return float(element.get(name, "nan"))


def test_bars_are_as_long_as_their_means_and_whiskers_as_their_spread() -> None:
    figure = bar_chart([Bar("a", 0.5, 0.1, [0.4, 0.6]), Bar("b", 0.25, None, [0.25])], "title")
    widths = [number(parts(figure, "rect", f"fill-{k}")[0], "width") for k in (1, 2)]
    assert widths[0] == pytest.approx(2 * widths[1])
    span = widths[0] / 0.5
    whisker = max(parts(figure, "line", "whisker"), key=lambda e: number(e, "x2") - number(e, "x1"))
    assert number(whisker, "x2") - number(whisker, "x1") == pytest.approx(0.2 * span, abs=0.02)
    left = number(parts(figure, "rect", "fill-1")[0], "x")
    dots = [(number(dot, "cx") - left) / span for dot in parts(figure, "circle", "dot")]
    np.testing.assert_allclose(dots, [0.4, 0.6, 0.25], atol=1e-3)
    assert [e.text for e in parts(figure, "text", "label")] == ["a", "50.0 ± 10.0 %", "b", "25.0%"]


def test_curves_on_a_linear_scale() -> None:
    figure = line_chart([Line("loss", 0, [4.0, 3.0, 2.0], 3), Line("late", 2, [1.0, 4.0], 5)], "title", "epoch")
    first, second = parts(figure, "polyline", "line-3") + parts(figure, "polyline", "line-5")
    points = [[tuple(map(float, p.split(","))) for p in e.get("points", "").split()] for e in (first, second)]
    xs, ys = zip(*points[0], strict=True)
    np.testing.assert_allclose(np.diff(xs), xs[1] - xs[0], atol=0.02)
    np.testing.assert_allclose(np.diff(ys), ys[1] - ys[0], atol=0.02)  # 4, 3, 2 are equal steps
    assert points[1][0][0] == xs[2]  # starts where the other is at step 2
    assert points[1][1][1] == ys[0]  # and ends at its height


def test_curves_over_a_large_factor_are_logarithmic_and_zero_lies_on_the_edge() -> None:
    figure = line_chart([Line("loss", 0, [10.0, 1.0, 0.1, 0.0], 1)], "title", "epoch")
    (line,) = parts(figure, "polyline", "line-1")
    heights = [float(p.split(",")[1]) for p in line.get("points", "").split()]
    assert heights[1] - heights[0] == pytest.approx(heights[2] - heights[1], abs=0.02)
    assert heights[-1] == max(number(tick, "y1") for tick in parts(figure, "line", "grid"))


@pytest.mark.parametrize("values", [[], [2.0], [0.0, 0.0], [-1.0, 5.0], [1e-9] * 3])
def test_odd_curves_are_drawn_without_a_fault(values: list[float]) -> None:
    figure = line_chart([Line("loss", 0, values, 1)], "title", "epoch")
    assert "nan" not in figure
    assert "inf" not in figure
    ElementTree.fromstring(figure)


def test_the_heat_map_shades_by_share_of_the_row() -> None:
    counts = [[3, 1, 0], [0, 0, 0], [0, 10, 10]]
    figure = heat_map(counts, ("a", "<script>", "a long name"), "title", "given", "predicted")
    shades = np.array([number(e, "fill-opacity") for e in parts(figure, "rect", "heat")]).reshape(3, 3)
    np.testing.assert_allclose(shades, [[0.75, 0.25, 0], [0, 0, 0], [0, 0.5, 0.5]])
    own = np.array(["own" in e.get("class", "").split() for e in parts(figure, "rect", "heat")]).reshape(3, 3)
    np.testing.assert_array_equal(own, np.eye(3, dtype=bool))
    assert [e.text for e in parts(figure, "text", "count")] == ["3", "1", "10", "10"]
    assert "<script>" not in figure
