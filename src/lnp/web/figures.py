"""Bars of the review's pages, as inline SVG; colours come from the style sheet by class."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from lnp.report.svg import drawing, linear_ticks, tag

__all__ = ["before_and_after", "share_bar"]

WIDTH = 360.0


def share_bar(share: float, colour: str = "") -> Markup:
    """A bar as wide as its share of the room; what it says stands beside it in words.

    >>> share_bar(0.5)
    Markup('<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" class="bar"><rect x="0" y="0" width="100" height="8" class="room"></rect><rect x="0" y="0" width="50" height="8" class="share "></rect></svg>')
    """  # noqa: E501
    width = 100.0 * min(max(share, 0.0), 1.0)
    room = tag("rect", x=0, y=0, width=100, height=8, class_="room")
    filled = tag("rect", x=0, y=0, width=width, height=8, class_=f"share {colour}")
    return tag("svg", room, filled, viewBox="0 0 100 8", preserveAspectRatio="none", aria_hidden="true", class_="bar")


def before_and_after(before: Sequence[int], after: Sequence[int], title: str) -> Markup:
    """Two histograms of values from 0 to 1, side by side in every step."""
    left, right, top, height = 46.0, 8.0, 10.0, 170.0
    bottom, span = top + height, WIDTH - left - right
    highest = linear_ticks(0, max(1, *before, *after), 4)[-1]
    step = span / len(before)
    parts = []
    for tick in linear_ticks(0, max(1, *before, *after), 4):
        y = bottom - height * tick / highest
        parts.append(tag("line", x1=left, x2=WIDTH - right, y1=y, y2=y, class_="grid"))
        parts.append(tag("text", f"{tick:g}", x=left - 6, y=y + 4, text_anchor="end", class_="tick"))
    for position, counts in enumerate(zip(before, after, strict=True)):
        for second, (count, name) in enumerate(zip(counts, ("before", "after"), strict=True)):
            tall = height * count / highest
            x = left + step * position + 1 + second * (step - 2) / 2
            low, high = position / len(before), (position + 1) / len(before)
            words = tag("title", f"{name}: {count} labels from {low:.2f} to {high:.2f}")
            place = {"x": x, "y": bottom - tall, "width": (step - 2) / 2, "height": tall}
            parts.append(tag("rect", words, **place, class_=name))
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(
            tag("text", f"{share:g}", x=left + span * share, y=bottom + 16, text_anchor="middle", class_="tick")
        )
    parts.append(tag("text", "quality", x=left + span / 2, y=bottom + 34, text_anchor="middle", class_="tick"))
    return drawing(WIDTH, bottom + 40, title, *parts)
