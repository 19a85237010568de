"""What every request must pass before any page sees it, and what every answer carries.

1. ``Host`` is ours: a foreign name that resolves to this machine (DNS rebinding) gets nothing.
2. ``Origin``, if there is one, is ours; what changes something must have one.
3. The visitor is known by the cookie, or shows the token in the address of the first page, and gets the cookie.
4. What changes something is a small form that carries the secret of the visitor's own pages (CSRF). No uploads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qs, parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lnp.web.door import Door, Visitor

__all__ = ["HEADERS", "MAX_FORM", "Guard", "Refusal", "Visit"]

MAX_FORM = 16_384
"""Bytes of a form, at most."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not "no-referrer": with that, browsers send a form's Origin as "null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""On every answer, refusals included."""


class Refusal(Exception):  # noqa: N818 (it is one)
    """A request that goes no further: the status, and why, in words."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


@dataclass(frozen=True)
class Visit:
    """What a page gets to know of a request that passed: ``scope["visit"]``."""

    visitor: Visitor
    form: dict[str, str] = field(default_factory=dict)


class Guard:
    """Stands before the application.

    Args:
        app: What is guarded.
        door: Who may come in.
        refusal_page: Makes a page of a status and a reason.
        welcome_page: The page that a visitor gets in return for the token; it leads on to the clean address.
    """

    def __init__(
        self, app: ASGIApp, door: Door, refusal_page: Callable[[int, str], str], welcome_page: Callable[[], str]
    ) -> None:
        self._app, self._door = app, door
        self._refusal_page, self._welcome_page = refusal_page, welcome_page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        try:
            answer = await self._check(scope, receive)
        except Refusal as refusal:
            answer = HTMLResponse(self._refusal_page(refusal.status, refusal.reason), refusal.status)
        if answer is not None:
            await answer(scope, receive, send_with_headers)
        else:
            await self._app(scope, receive, send_with_headers)

    async def _check(self, scope: Scope, receive: Receive) -> Response | None:
        headers, method = Headers(scope=scope), scope["method"]
        if headers.getlist("host") not in [[host] for host in self._door.hosts]:
            raise Refusal(
                421, f"This page is served under http://127.0.0.1:{self._door.port} only. Use the address as printed."
            )
        if method not in ("GET", "HEAD", "POST"):
            raise Refusal(405, "This page can be read, and its forms can be sent; nothing else.")
        origins = headers.getlist("origin")
        if any(origin not in self._door.origins for origin in origins) or (method == "POST" and len(origins) != 1):
            raise Refusal(403, "This request came from another page, so nothing was done.")
        visitor = self._door.visitor(_cookie(headers, self._door.cookie))
        if method == "GET" and scope["path"] == "/" and (token := _token(scope)) is not None:
            return self._welcome(token, visitor)
        if visitor is None:
            raise Refusal(
                403,
                "Open the address that `lnp review` printed, with the token in it. If it was started again, the token "
                "is a new one; what was saved is kept.",
            )
        scope["visit"] = Visit(visitor, await self._form(headers, receive, visitor) if method == "POST" else {})
        return None

    def _welcome(self, token: str, visitor: Visitor | None) -> Response:
        """Not a redirection: a cookie that is bound to this site would not follow one that began at another."""
        newcomer = self._door.enter(token) if visitor is None else visitor
        if newcomer is None:
            raise Refusal(403, "The token in the address is not the right one. Copy the whole address once more.")
        answer = HTMLResponse(self._welcome_page())
        answer.set_cookie(self._door.cookie, newcomer.key, path="/", httponly=True, samesite="strict")
        return answer

    async def _form(self, headers: Headers, receive: Receive, visitor: Visitor) -> dict[str, str]:
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/x-www-form-urlencoded":
            raise Refusal(415, "Only plain forms are read here; files are not.")
        body = b""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refusal(400, "The form was cut off, so nothing was done.")
            body += message.get("body", b"")
            if len(body) > MAX_FORM:
                raise Refusal(413, "That form is too long, so nothing was done.")
            if not message.get("more_body"):
                break
        try:
            fields = dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=40, errors="strict"))
        except ValueError:
            raise Refusal(400, "That form cannot be read, so nothing was done.") from None
        if not self._door.is_from(visitor, fields.pop("csrf", "")):
            raise Refusal(403, "This form is not from a page of this review, so nothing was done. Load the page anew.")
        return fields


def _token(scope: Scope) -> str | None:
    query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=None)
    return query["token"][0] if "token" in query else None


def _cookie(headers: Headers, name: str) -> str | None:
    """The value of one cookie, whatever other programs on this machine have put beside it."""
    for pair in ";".join(headers.getlist("cookie")).split(";"):
        key, _, value = pair.strip().partition("=")
        if key == name:
            return value
    return None
