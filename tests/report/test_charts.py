"""Chart data."""

from __future__ import annotations

from lnp.report.charts import COLOURS, DASHES, Curves, Mark, Series, limits


def test_an_axis_has_room_even_for_one_value() -> None:
    assert limits([5.0]) == (4.0, 6.0)
    low, high = limits([0.0, 10.0])
    assert low < 0
    assert high > 10


def test_no_two_curves_look_the_same() -> None:
    looks = {(colour, DASHES[colour - 1]) for colour in range(1, COLOURS + 1)}
    assert len(looks) == COLOURS
    series = (Series("a", 3, (Mark(0, 1.0),)), Series("a, paper", 3, (Mark(0, 2.0),), paper=True), Series("b", 4, ()))
    chart = Curves("t", "x", ((0.0, "0"),), series)
    assert [(one.label, dash) for one, dash in chart.lines()] == [("a", DASHES[2]), ("b", DASHES[3])]
