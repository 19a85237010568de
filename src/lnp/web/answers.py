"""What answers are made of: pages, ways onward, files, and pages in plain words for whatever went wrong."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from lnp.errors import InputError
from lnp.web.door import Visitor
from lnp.web.guard import Visit
from lnp.web.pages import TITLES, render

__all__ = ["download", "go", "named", "number", "page_of", "problem", "visit_of"]


def number(text: str) -> int:
    """A whole number of an address or a form; −1, which nothing has, for everything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else -1


class NoName(HTTPException):
    """The visitor has not said their name yet."""


def visit_of(request: Request) -> Visit:
    """What the guard found out about the request."""
    visit: Visit = request.scope["visit"]
    return visit


def named(request: Request) -> Visitor:
    """The visitor; who has not said their name yet is asked for it first."""
    visitor = visit_of(request).visitor
    if not visitor.reviewer:
        raise NoName(303)
    return visitor


def page_of(template: str, context: dict[str, Any], status: int = 200) -> Response:
    """A filled template."""
    return HTMLResponse(render(template, context).encode("utf-8", "replace"), status)


def go(address: str) -> Response:
    """Leads on, after a form was sent."""
    return RedirectResponse(address, 303)


def download(text: str, name: str) -> Response:
    """A CSV file to keep."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text.encode("utf-8", "replace"), media_type="text/csv; charset=utf-8", headers=headers)


def problem(request: Request, error: Exception) -> Response:
    """A page in plain words for whatever went wrong; nothing of the inside is shown."""
    if isinstance(error, NoName):
        return go("/reviewer")
    if isinstance(error, HTTPException):
        status, text = error.status_code, str(error.detail)
        if text in ("Not Found", "Method Not Allowed"):
            text = "The address leads nowhere in this review."
    elif isinstance(error, RequestValidationError):
        status, text = 400, "The address holds something that is not a number where one is needed."
    elif isinstance(error, InputError):
        status, text = 400, str(error)
    else:
        status, text = 500, "An error in lnp itself. What was saved is kept; go back and try once more."
    title = TITLES.get(status, "That did not work")
    return page_of("message.html", {"title": title, "text": text, "home": True}, status)
