"""Pieces of inline SVG. Text is escaped, numbers are short, and colours are left to the page's style sheet."""

from __future__ import annotations

import math

from markupsafe import Markup, escape

__all__ = ["drawing", "linear_ticks", "log_ticks", "number", "tag"]


def tag(name: str, *children: str, **attributes: object) -> Markup:
    """An element; an underscore in an attribute's name stands for a hyphen, and ``class_`` is ``class``.

    >>> tag("text", "a < b", x=1.5, text_anchor="end", class_="tick")
    Markup('<text x="1.5" text-anchor="end" class="tick">a &lt; b</text>')
    """
    parts = []
    for key, value in attributes.items():
        text = number(value) if isinstance(value, float) else str(value)
        parts.append(f' {key.rstrip("_").replace("_", "-")}="{escape(text)}"')
    return Markup(f"<{name}{''.join(parts)}>") + Markup("").join(children) + Markup(f"</{name}>")


def drawing(width: float, height: float, title: str, *children: str) -> Markup:
    """A whole picture that grows with the space it is given. ``title`` says in words what it shows."""
    return tag("svg", tag("title", title), *children, viewBox=f"0 0 {width:g} {height:g}", role="img", class_="figure")


def number(value: float) -> str:
    """A coordinate with at most two decimals.

    >>> number(3.0), number(2.34567)
    ('3', '2.35')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


def linear_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers from ``low`` or just below it to ``high`` or just above it, in about ``count`` steps.

    >>> linear_ticks(0, 0.93)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    span = (high - low) or abs(high) or 1.0
    size = 10.0 ** math.floor(math.log10(span / count))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor * count >= span * 0.99)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{k * step:.10g}") for k in range(first, max(last, first + 1) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten from ``low`` or just below it to ``high`` or just above it; both above 0.

    >>> log_ticks(0.02, 3)
    [0.01, 0.1, 1.0, 10.0]
    """
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    return [float(f"1e{k}") for k in range(first, max(last, first + 1) + 1)]
