"""The figures of an audit, as inline SVG: the channel as a heat map, and how the qualities spread."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from lnp.report.figures import WIDTH, shorten
from lnp.report.svg import drawing, linear_ticks, number, tag

__all__ = ["BINS", "MANY", "channel_map", "quality_histogram"]

BINS = 20
"""Bars of the histogram."""

MANY = 12
"""With more classes than this the cells have no numbers; they say theirs when pointed at."""

ROW_LETTERS = 14
"""Names of rows are cut to so many letters."""


def channel_map(transition: NDArray[np.float64], names: Sequence[str], title: str) -> Markup:
    """Shares as shades: true class in the rows, given class in the columns; the diagonal is framed."""
    count = len(names)
    longest = 0 if count > MANY else min(ROW_LETTERS, max(map(len, names), default=0))
    left, top, right = 30.0 + 7.5 * longest, 52.0, 6.0
    cell = (WIDTH - left - right) / max(1, count)
    side = cell * count
    many = count > MANY
    parts = [
        tag("text", "given label", x=left + side / 2, y=14, text_anchor="middle", class_="tick"),
        tag(
            "text",
            "true class",
            transform=f"translate(12 {number(top + side / 2)}) rotate(-90)",
            text_anchor="middle",
            class_="tick",
        ),
    ]
    for i in range(count):
        middle = top + cell * (i + 0.5)
        if not many:
            letters = max(2, int(cell / 9))
            across = {"x": left + cell * (i + 0.5), "y": top - 8, "text_anchor": "middle"}
            down = {"x": left - 6, "y": middle + 4, "text_anchor": "end"}
            parts.append(tag("text", shorten(names[i], ROW_LETTERS), **down, class_="tick"))
            parts.append(tag("text", shorten(names[i], letters), **across, class_="tick"))
        for j in range(count):
            share = float(np.clip(transition[i, j], 0, 1))
            place = {"x": left + cell * j + 0.5, "y": top + cell * i + 0.5, "width": cell - 1, "height": cell - 1}
            what = tag("title", f"true {names[i]}, given {names[j]}: {100 * share:.1f} %")
            parts.append(tag("rect", what, **place, fill_opacity=share, class_="heat own" if i == j else "heat"))
            if not many and share >= 0.005:
                shade = "count strong" if share > 0.5 else "count"
                place_text = {"x": left + cell * (j + 0.5), "y": middle + 4, "text_anchor": "middle"}
                parts.append(tag("text", f"{100 * share:.0f}", **place_text, class_=shade))
    return drawing(WIDTH, top + side + 6, title, *parts)


def quality_histogram(quality: NDArray[np.float64], title: str) -> Markup:
    """How many labels have each quality, in :data:`BINS` equal steps from 0 to 1."""
    left, right, top, height = 48.0, 10.0, 10.0, 170.0
    bottom, span = top + height, WIDTH - left - right
    counts = np.histogram(quality, BINS, (0.0, 1.0))[0].tolist()
    ticks = linear_ticks(0, max(1, *counts), 4)
    parts = []
    for tick in ticks:
        y = bottom - height * tick / ticks[-1]
        parts.append(tag("line", x1=left, x2=WIDTH - right, y1=y, y2=y, class_="grid"))
        parts.append(tag("text", f"{tick:g}", x=left - 6, y=y + 4, text_anchor="end", class_="tick"))
    for place, count in enumerate(counts):
        tall = height * count / ticks[-1]
        low, high = place / BINS, (place + 1) / BINS
        what = tag("title", f"{count} labels of quality {low:.2f} to {high:.2f}")
        box = {"x": left + span * low + 0.5, "y": bottom - tall, "width": span / BINS - 1, "height": tall}
        parts.append(tag("rect", what, **box, class_="suspect" if high <= 0.5 else "sound"))
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(tag("text", f"{tick:g}", x=left + span * tick, y=bottom + 16, text_anchor="middle", class_="tick"))
    parts.append(
        tag("text", "quality of the label", x=left + span / 2, y=bottom + 34, text_anchor="middle", class_="tick")
    )
    return drawing(WIDTH, bottom + 40, title, *parts)
