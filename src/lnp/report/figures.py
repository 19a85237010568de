"""The figures of the pages, as inline SVG: bars, curves, a heat map.

They are drawn for the width of a phone, where text stays readable, and grow with the page. Colours come from the page's
style sheet by class, so that they follow light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from lnp.report.svg import drawing, linear_ticks, log_ticks, number, tag

__all__ = ["Bar", "Line", "bar_chart", "heat_map", "line_chart", "shorten"]

WIDTH = 360.0
LETTER = 7.6
"""About the width of a letter of a label."""
LOG_FROM = 30.0
"""Values that span more than this factor are drawn on a logarithmic scale."""
LOG_DECADES = 1e-4
"""A logarithmic scale ends this far below the largest value; what is smaller lies on its edge."""


@dataclass(frozen=True)
class Bar:
    """A bar with its spread and the single values behind it."""

    label: str
    mean: float
    sd: float | None
    values: Sequence[float]


@dataclass(frozen=True)
class Line:
    """A curve: one value per step from ``start`` on. ``colour`` is a number of the style sheet, from 1."""

    label: str
    start: int
    values: Sequence[float]
    colour: int


def bar_chart(bars: Sequence[Bar], title: str) -> Markup:
    """Horizontal bars of shares in [0, 1], whiskers of one standard deviation, a dot for every single value."""
    longest = max((len(bar.label) for bar in bars), default=0)
    left, right, top, pitch = max(64.0, 12 + LETTER * longest), 112.0, 8.0, 44.0
    bottom = top + pitch * len(bars)
    span = WIDTH - left - right

    def x(value: float) -> float:
        return left + span * min(max(value, 0.0), 1.0)

    parts = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(tag("line", x1=x(tick), x2=x(tick), y1=top, y2=bottom, class_="grid"))
        parts.append(tag("text", f"{tick:.0%}", x=x(tick), y=bottom + 16, text_anchor="middle", class_="tick"))
    for row, bar in enumerate(bars):
        middle = top + pitch * (row + 0.5)
        parts.append(tag("text", bar.label, x=left - 8, y=middle + 4, text_anchor="end", class_="label"))
        parts.append(
            tag("rect", x=left, y=middle - 12, width=x(bar.mean) - left, height=24.0, rx=2, class_=f"fill-{row + 1}")
        )
        text = f"{bar.mean:.1%}"
        if bar.sd is not None:
            low, high = x(bar.mean - bar.sd), x(bar.mean + bar.sd)
            parts.append(tag("line", x1=low, x2=high, y1=middle - 4, y2=middle - 4, class_="whisker"))
            for end in (low, high):
                parts.append(tag("line", x1=end, x2=end, y1=middle - 8, y2=middle, class_="whisker"))
            text = f"{100 * bar.mean:.1f} ± {100 * bar.sd:.1f} %"
        parts.extend(tag("circle", cx=x(value), cy=middle + 6, r=2.5, class_="dot") for value in bar.values)
        parts.append(tag("text", text, x=WIDTH - right + 14, y=middle + 4, class_="label"))
    return drawing(WIDTH, bottom + 24, title, *parts)


def line_chart(lines: Sequence[Line], title: str, x_label: str) -> Markup:
    """Curves over steps, logarithmic where the values span a large factor and are positive."""
    left, right, top, height = 48.0, 10.0, 10.0, 190.0
    bottom, span = top + height, WIDTH - left - right
    values = [value for line in lines for value in line.values]
    steps = max((line.start + len(line.values) for line in lines), default=1)
    low, high = min(values, default=0.0), max(values, default=1.0)
    logarithmic = high > 0 and (low <= 0 or high / low > LOG_FROM) and low > -1e-6
    ticks = log_ticks(max(low, high * LOG_DECADES), high) if logarithmic else linear_ticks(min(low, 0.0), high)

    def scaled(value: float) -> float:
        return math.log10(max(value, ticks[0])) if logarithmic else value

    def y(value: float) -> float:
        return bottom - height * (scaled(value) - scaled(ticks[0])) / (scaled(ticks[-1]) - scaled(ticks[0]))

    def x(step: float) -> float:
        return left + span * step / max(1, steps - 1)

    parts = []
    for tick in ticks:
        parts.append(tag("line", x1=left, x2=WIDTH - right, y1=y(tick), y2=y(tick), class_="grid"))
        parts.append(tag("text", f"{tick:g}", x=left - 6, y=y(tick) + 4, text_anchor="end", class_="tick"))
    for step in linear_ticks(0, max(1, steps - 1), 4):
        if step <= steps - 1:
            parts.append(tag("text", f"{step:g}", x=x(step), y=bottom + 16, text_anchor="middle", class_="tick"))
    for line in lines:
        points = " ".join(f"{number(x(line.start + i))},{number(y(v))}" for i, v in enumerate(line.values))
        parts.append(tag("polyline", tag("title", line.label), points=points, class_=f"line-{line.colour}"))
    parts.append(tag("text", x_label, x=left + span / 2, y=bottom + 34, text_anchor="middle", class_="tick"))
    return drawing(WIDTH, bottom + 40, title, *parts)


def heat_map(counts: Sequence[Sequence[int]], names: Sequence[str], title: str, rows: str, columns: str) -> Markup:
    """Counts as shades, each row against its own sum; the diagonal is framed."""
    left, top, right = 44.0, 40.0, 6.0
    cell = (WIDTH - left - right) / max(1, len(names))
    side = cell * len(names)
    parts = [
        tag("text", columns, x=left + side / 2, y=12, text_anchor="middle", class_="tick"),
        tag(
            "text",
            rows,
            transform=f"translate(12 {number(top + side / 2)}) rotate(-90)",
            text_anchor="middle",
            class_="tick",
        ),
    ]
    for i, row in enumerate(counts):
        middle = top + cell * (i + 0.5) + 4
        parts.append(tag("text", shorten(names[i]), x=left - 6, y=middle, text_anchor="end", class_="tick"))
        parts.append(
            tag("text", shorten(names[i]), x=left + cell * (i + 0.5), y=top - 8, text_anchor="middle", class_="tick")
        )
        total = max(1, sum(row))
        for j, count in enumerate(row):
            share = count / total
            place = {"x": left + cell * j + 0.5, "y": top + cell * i + 0.5, "width": cell - 1, "height": cell - 1}
            what = tag("title", f"given {names[i]}, predicted {names[j]}: {count}")
            parts.append(tag("rect", what, **place, fill_opacity=share, class_="heat own" if i == j else "heat"))
            if count:
                shade = "count strong" if share > 0.5 else "count"
                parts.append(
                    tag("text", str(count), x=left + cell * (j + 0.5), y=middle, text_anchor="middle", class_=shade)
                )
    return drawing(WIDTH, top + side + 6, title, *parts)


def shorten(name: str, length: int = 6) -> str:
    """A name that fits beside a small cell.

    >>> shorten("Neural Networks")
    'Neura…'
    """
    return name if len(name) <= length else name[: length - 1] + "…"
