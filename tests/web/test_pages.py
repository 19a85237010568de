from __future__ import annotations

import re
from importlib.resources import files

from lnp.web.pages import STATIC, refusal_page, static_file


def test_only_the_listed_files_exist() -> None:
    folder = files("lnp.web").joinpath("static")
    assert {entry.name for entry in folder.iterdir()} == set(STATIC)
    for name in STATIC:
        assert static_file(name) == folder.joinpath(name).read_bytes()
    for name in ("../app.py", "", ".", "/etc/passwd", "review.js\0"):
        assert static_file(name) is None


def test_a_refusal_is_escaped_and_needs_nothing_else() -> None:
    page = refusal_page(403, "<b>no</b>")
    assert "&lt;b&gt;no&lt;/b&gt;" in page
    assert not re.search(r"<(script|link rel=\"stylesheet\"|img)", page)


def test_nothing_comes_from_elsewhere_and_every_colour_is_defined() -> None:
    style, script = (static_file(name).decode() for name in ("review.css", "review.js"))  # type: ignore[union-attr]
    assert not re.search(r"@import|url\(|https?://", style)
    assert not re.search(r"https?://|innerHTML|eval\(|document\.write", script)
    used = set(re.findall(r"var\((--[\w-]+)\)", style))
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    assert used <= set(re.findall(r"(--[\w-]+):", light))
    assert set(re.findall(r"(--[\w-]+):", dark)) <= used


def test_text_on_every_colour_can_be_read() -> None:
    """Contrast by WCAG: at least 4.5 for text, in light and in dark; at least 3 for the letters in discs."""
    style = static_file("review.css").decode()  # type: ignore[union-attr]
    light, dark = style.split("@media (prefers-color-scheme: dark)", 1)
    day = dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})\b", light))
    night = day | dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})\b", dark.split("* {")[0]))
    on = {k: colour for numbers, colour in re.findall(r"((?:\.on-\d+,? ?)+)\{ fill: (#\w+)", style)
          for k in re.findall(r"\d+", numbers)}  # fmt: skip
    pairs = [("ink", "page"), ("ink", "card"), ("soft", "card"), ("soft", "page"), ("on-strong", "strong"),
             ("strong", "card"), ("ink", "saved"), ("ink", "warning"), ("focus", "card")]  # fmt: skip
    for colours in (day, night):
        for text, ground in pairs:
            assert contrast(colours[f"--{text}"], colours[f"--{ground}"]) >= 4.5, (text, ground)
        for k in range(12):
            assert contrast(on[str(k)], colours[f"--c{k}"]) >= 3, k


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
