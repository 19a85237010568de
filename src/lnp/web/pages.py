"""Templates and the files beside them. Everything that is filled in is escaped."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

__all__ = ["STATIC", "refusal_page", "render", "static_file", "welcome_page"]

STATIC = {"review.css": "text/css", "review.js": "text/javascript"}
"""All files that are served as they are, with their media types; no path is ever built from an address."""

TITLES = {
    400: "That cannot be read",
    403: "Not allowed",
    404: "There is no such page",
    405: "Not possible here",
    413: "Too long",
    415: "Not a form",
    421: "Another address",
    500: "Something went wrong here",
}


def render(template: str, context: dict[str, Any]) -> str:
    """Fills a template, which computes nothing."""
    return _environment().get_template(template).render(context)


def refusal_page(status: int, reason: str) -> str:
    """A page that says what is wrong and what to do; it needs nothing else to be shown."""
    return render("message.html", {"title": TITLES.get(status, "That did not work"), "text": reason, "home": False})


def welcome_page() -> str:
    """Leads on to the first page at once, which also takes the token out of the address."""
    return render("welcome.html", {})


@cache
def static_file(name: str) -> bytes | None:
    """One of :data:`STATIC`; ``None`` for every other name."""
    return files("lnp.web").joinpath("static", name).read_bytes() if name in STATIC else None


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("lnp.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
