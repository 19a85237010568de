"""The figures of the results as inline SVG, coloured by the page's style sheet.

They are drawn for the width of a phone, where text stays readable, and grow with the page; the critical-difference
diagram is wider and scrolls in its box.
"""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup

from lnp.report.charts import Curves, Dots, Panel, RankPanel, Scatter, limits
from lnp.report.rank_layout import rank_layout
from lnp.report.svg import drawing, linear_ticks, number, tag

__all__ = ["inline"]

WIDTH = 360.0
LEFT, RIGHT, TOP, HEIGHT = 40.0, 12.0, 10.0, 200.0
LETTER = 7.6
"""A letter of a name takes no more on average, in the fonts of the page."""


def inline(panel: Panel, title: str) -> Markup:
    """Draws a panel; ``title`` says in words what it shows."""
    if isinstance(panel, Curves):
        return _curves(panel, title)
    if isinstance(panel, Dots):
        return _dots(panel, title)
    if isinstance(panel, Scatter):
        return _scatter(panel, title)
    return _ranks(panel, title)


def _curves(panel: Curves, title: str) -> Markup:
    marks = [mark for series in panel.series for mark in series.marks]
    ends = [mark.mean + sign * (mark.sd or 0.0) for mark in marks for sign in (-1, 1)]
    low, high = limits(ends)
    first, last = panel.ticks[0][0], panel.ticks[-1][0]

    def x(value: float) -> float:
        return LEFT + 8 + (WIDTH - LEFT - RIGHT - 16) * ((value - first) / (last - first) if last > first else 0.5)

    def y(value: float) -> float:
        return TOP + HEIGHT * (high - value) / (high - low)

    parts = []
    for tick in linear_ticks(low, high):
        if low <= tick <= high:
            parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y(tick), y2=y(tick), class_="grid"))
            parts.append(tag("text", f"{tick:g}", x=LEFT - 6, y=y(tick) + 4, text_anchor="end", class_="tick"))
    for place, text in panel.ticks:
        parts.append(tag("text", text, x=x(place), y=TOP + HEIGHT + 17, text_anchor="middle", class_="tick"))
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(tag("text", panel.x_label, x=middle, y=TOP + HEIGHT + 36, text_anchor="middle", class_="label"))
    for series, dash in panel.lines():
        points = _points([(x(mark.x), y(mark.mean)) for mark in series.marks])
        parts.append(tag("polyline", points=points, class_=f"curve c-{series.colour} dash-{dash}"))
    for series in panel.series:
        colour, what = f"c-{series.colour}", f"{series.label}: "
        for mark in series.marks:
            told = tag("title", what + _told(mark.mean, mark.sd))
            if mark.sd is not None:
                whisker = {"x1": x(mark.x), "x2": x(mark.x), "y1": y(mark.mean - mark.sd), "y2": y(mark.mean + mark.sd)}
                parts.append(tag("line", **whisker, class_=f"spread {colour}"))
            if series.paper:
                parts.append(tag("path", told, d=_diamond(x(mark.x), y(mark.mean)), class_=f"paper {colour}"))
            else:
                parts.append(tag("circle", told, cx=x(mark.x), cy=y(mark.mean), r=3.2, class_=f"point {colour}"))
    return drawing(WIDTH, TOP + HEIGHT + 44, title, *parts)


def _dots(panel: Dots, title: str) -> Markup:
    longest = max(len(row.label) for row in panel.rows)
    left, right, pitch = min(max(LETTER * longest + 14, 60.0), WIDTH / 2), 84.0, 24.0
    values = [row.value.mean + sign * (row.value.sd or 0.0) for row in panel.rows for sign in (-1, 1)]
    low, high = limits([*values, *(row.published for row in panel.rows if row.published is not None)])
    bottom = TOP + pitch * len(panel.rows)

    def x(value: float) -> float:
        return left + (WIDTH - left - right) * (value - low) / (high - low)

    parts = []
    for tick in linear_ticks(low, high, 4):
        if low <= tick <= high:
            parts.append(tag("line", x1=x(tick), x2=x(tick), y1=TOP, y2=bottom, class_="grid"))
            parts.append(tag("text", f"{tick:g}", x=x(tick), y=bottom + 16, text_anchor="middle", class_="tick"))
    for place, row in enumerate(panel.rows):
        middle = TOP + pitch * (place + 0.5)
        colour, mean, sd = f"c-{3 if row.strong else 1}", row.value.mean, row.value.sd
        weight = "label strong-label" if row.strong else "label"
        parts.append(tag("text", row.label, x=left - 10, y=middle + 4, text_anchor="end", class_=weight))
        if sd is not None:
            parts.append(tag("line", x1=x(mean - sd), x2=x(mean + sd), y1=middle, y2=middle, class_=f"spread {colour}"))
        told = tag("title", f"{row.label}: {_told(mean, sd)}")
        parts.append(tag("circle", told, cx=x(mean), cy=middle, r=4.5, class_=f"point {colour}"))
        if row.published is not None:
            paper = tag("title", f"{row.label}, paper: {row.published:.1f}")
            parts.append(tag("path", paper, d=_diamond(x(row.published), middle), class_=f"paper {colour}"))
        text = f"{mean:.1f}" if sd is None else f"{mean:.1f} ± {sd:.1f}"
        parts.append(tag("text", text, x=WIDTH - right + 8, y=middle + 4, class_="tick"))
    return drawing(WIDTH, bottom + 24, title, *parts)


def _scatter(panel: Scatter, title: str) -> Markup:
    size = WIDTH - LEFT - RIGHT
    low, high = limits([value for group in (panel.ours, panel.others) for point in group for value in point[:2]], 0.04)

    def x(value: float) -> float:
        return LEFT + size * (value - low) / (high - low)

    def y(value: float) -> float:
        return TOP + size * (high - value) / (high - low)

    parts = []
    for tick in linear_ticks(low, high):
        if low <= tick <= high:
            parts.append(tag("line", x1=LEFT, x2=LEFT + size, y1=y(tick), y2=y(tick), class_="grid"))
            parts.append(tag("line", x1=x(tick), x2=x(tick), y1=TOP, y2=TOP + size, class_="grid"))
            parts.append(tag("text", f"{tick:g}", x=LEFT - 6, y=y(tick) + 4, text_anchor="end", class_="tick"))
            parts.append(tag("text", f"{tick:g}", x=x(tick), y=TOP + size + 17, text_anchor="middle", class_="tick"))
    parts.append(tag("line", x1=x(low), x2=x(high), y1=y(low), y2=y(high), class_="even"))
    for group, colour, radius in ((panel.others, "c-1", 2.6), (panel.ours, "c-3", 3.6)):
        for reported, reproduced, label in group:
            told = tag("title", f"{label}: reported {reported:.1f}, reproduced {reproduced:.1f}")
            parts.append(tag("circle", told, cx=x(reported), cy=y(reproduced), r=radius, class_=f"point {colour}"))
    middle = LEFT + size / 2
    parts.append(tag("text", "reported, %", x=middle, y=TOP + size + 36, text_anchor="middle", class_="label"))
    turned = f"translate(11 {number(TOP + size / 2)}) rotate(-90)"
    parts.append(tag("text", "reproduced, %", transform=turned, text_anchor="middle", class_="label"))
    return drawing(WIDTH, TOP + size + 44, title, *parts)


def _ranks(panel: RankPanel, title: str) -> Markup:
    layout = rank_layout(panel.summary)
    start, end = layout.ruler
    parts = [
        tag("line", x1=start, x2=end, y1=20.0, y2=20.0, class_="axis"),
        *(tag("line", x1=place, x2=place, y1=15.0, y2=25.0, class_="axis") for place in (start, end)),
        tag(
            "text",
            f"critical difference {panel.summary.critical_difference:.2f}",
            x=end + 8,
            y=24.0,
            class_="tick",
        ),
        tag("line", x1=layout.ends[0], x2=layout.ends[1], y1=layout.axis, y2=layout.axis, class_="axis"),
    ]
    for place, rank in layout.ticks:
        parts.append(tag("line", x1=place, x2=place, y1=layout.axis - 5, y2=layout.axis, class_="axis"))
        parts.append(tag("text", str(rank), x=place, y=layout.axis - 9, text_anchor="middle", class_="tick"))
    for label in layout.labels:
        edge = layout.ends[0] - 8 if label.left else layout.ends[1] + 8
        strong = label.method in panel.strong
        points = _points([(label.x, layout.axis), (label.x, label.y), (edge, label.y)])
        parts.append(tag("polyline", points=points, class_="leader strong-leader" if strong else "leader"))
        text = f"{label.method} {label.mean_rank:.2f}"
        anchor, place = ("end", edge - 4) if label.left else ("start", edge + 4)
        weight = "label strong-label" if strong else "label"
        parts.append(tag("text", text, x=place, y=label.y + 4, text_anchor=anchor, class_=weight))
    for left, right, height in layout.bars:
        parts.append(tag("line", x1=left, x2=right, y1=height, y2=height, class_="tie"))
    return drawing(layout.width, layout.height, title, *parts)


def _diamond(x: float, y: float, size: float = 5.5) -> str:
    return f"M{_points([(x, y - size), (x + size, y), (x, y + size), (x - size, y)])}Z"


def _points(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in places)


def _told(mean: float, sd: float | None) -> str:
    return f"{mean:.1f} %" if sd is None else f"{mean:.1f} ± {sd:.1f} %"
