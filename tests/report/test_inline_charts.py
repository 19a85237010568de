"""Inline figures: what is drawn is where the numbers say, and names are escaped."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from lnp.report.charts import Curves, DotRow, Dots, Mark, Panel, RankPanel, Scatter, Series
from lnp.report.inline_charts import inline
from lnp.report.measured import Measured
from lnp.report.ranks import rank_methods

EVIL = "<script>alert(1)</script>"


def parts(drawing: str, name: str, kind: str) -> list[ElementTree.Element]:
    return [e for e in ElementTree.fromstring(drawing).iter(name) if kind in e.get("class", "").split()]


def number(element: ElementTree.Element, name: str) -> float:
    return float(element.get(name, "nan"))


def curves() -> Curves:
    ours = Series(EVIL, 3, (Mark(0, 60.0, 2.0), Mark(1, 70.0, 1.0), Mark(2, 80.0)))
    paper = Series("paper", 3, (Mark(1, 75.0),), paper=True)
    return Curves("t", "λ1", ((0.0, "0.01"), (1.0, "1"), (2.0, "100")), (ours, paper))


def test_curves() -> None:
    drawing = inline(curves(), "title")
    dots = parts(drawing, "circle", "point")
    xs, ys = [number(e, "cx") for e in dots], [number(e, "cy") for e in dots]
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.02)
    assert ys[0] - ys[1] == pytest.approx(ys[1] - ys[2], abs=0.02)  # 60, 70, 80 are equal steps upwards
    scale = (ys[0] - ys[1]) / 10
    whiskers = [abs(number(e, "y2") - number(e, "y1")) / scale for e in parts(drawing, "line", "spread")]
    assert whiskers == pytest.approx([4.0, 2.0], abs=0.02)  # one deviation to each side; the last has none
    (diamond,) = parts(drawing, "path", "paper")
    corners = [tuple(map(float, p.split(","))) for p in diamond.get("d", "").strip("MZ").split()]
    centre = sum(y for _, y in corners) / 4
    assert centre == pytest.approx((ys[1] + ys[2]) / 2, abs=0.02)  # 75


def test_names_beside_dots_have_room() -> None:
    """A name of eighteen letters was cut at the edge; in the page's fonts a letter takes 0.57 em on average."""
    for name in ("v2", "correct-and-smooth", "label-propagation", "n" * 60):
        drawing = inline(
            Dots("t", (DotRow(name, Measured(60.0, 5.0, 5)), DotRow("b", Measured(70.0, 2.0, 5)))), "title"
        )
        label = parts(drawing, "text", "label")[0]
        assert number(label, "x") >= 13 * 0.57 * min(len(name), 22)
        first, second = (number(e, "cx") for e in parts(drawing, "circle", "point"))
        assert number(label, "x") < first < second < 360 - 84  # and dots lie between names and numbers


def test_dots_and_scatter() -> None:
    rows = (DotRow("a", Measured(60.0, 5.0, 5), 65.0, True), DotRow("b", Measured(70.0, None, 1)))
    drawing = inline(Dots("t", rows), "title")
    first, second = (number(e, "cx") for e in parts(drawing, "circle", "point"))
    (whisker,) = parts(drawing, "line", "spread")
    assert number(whisker, "x2") - first == pytest.approx((second - first) / 2, abs=0.02)
    assert "60.0 ± 5.0" in drawing
    assert ">70.0<" in drawing
    drawing = inline(Scatter("t", ((50.0, 60.0, "x"),), ((40.0, 40.0, "y"),)), "title")
    (line,) = parts(drawing, "line", "even")
    other = parts(drawing, "circle", "c-1")[0]
    slope = (number(line, "y2") - number(line, "y1")) / (number(line, "x2") - number(line, "x1"))
    on_line = number(line, "y1") + slope * (number(other, "cx") - number(line, "x1"))
    assert number(other, "cy") == pytest.approx(on_line, abs=0.02)  # equal figures lie on the line
    ours = parts(drawing, "circle", "c-3")[0]
    assert number(ours, "cy") < number(line, "y1") + slope * (number(ours, "cx") - number(line, "x1"))  # above it


def panels() -> list[Panel]:
    summary = rank_methods({n: {EVIL: 3.0, "b": 2.0, "lnp-v2": 1.0} for n in range(3)}, [EVIL, "b", "lnp-v2"])
    assert summary is not None
    one = Measured(50.0, None, 1)
    return [
        curves(),
        Dots(EVIL, (DotRow(EVIL, one),)),
        Scatter(EVIL, ((1.0, 1.0, EVIL),), ()),
        RankPanel(EVIL, summary),
        Curves("t", "x", ((20.0, "20"),), (Series("a", 1, (Mark(20.0, 50.0),)),)),  # a single point
    ]


@pytest.mark.parametrize("panel", panels(), ids=lambda panel: type(panel).__name__)
def test_drawings_are_sound_and_escaped(panel: Panel) -> None:
    drawing = inline(panel, f"what {EVIL}")
    ElementTree.fromstring(drawing)
    assert "<script" not in drawing
    assert "nan" not in drawing
    assert ElementTree.fromstring(drawing).find("title").text == f"what {EVIL}"  # type: ignore[union-attr]


def test_the_diagram_names_methods_with_their_ranks() -> None:
    drawing = inline(panels()[3], "title")
    texts = [e.text for e in parts(drawing, "text", "label")]
    assert texts == [f"{EVIL} 1.00", "b 2.00", "lnp-v2 3.00"]
    assert [e.text for e in parts(drawing, "text", "strong-label")] == ["lnp-v2 3.00"]
