"""Who may come in: a secret in the address opens the door once, then a cookie keeps it open for that browser."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from dataclasses import dataclass

from lnp.errors import ConfigError

__all__ = ["NAME_LENGTH", "Door", "Visitor", "reviewer_name"]

NAME_LENGTH = 60


@dataclass(eq=False)
class Visitor:
    """A browser that has shown the secret.

    Args:
        key: What its cookie says.
        csrf: What every form of its pages carries, and no other page knows.
        reviewer: The name under which its verdicts are kept; empty until it is given.
    """

    key: str
    csrf: str
    reviewer: str = ""


class Door:
    """Lets in whoever knows the token.

    Args:
        port: The port served; cookies do not know ports, so the cookie's name does.
        reviewer: The name of the first visitor; others are asked for theirs.
    """

    def __init__(self, port: int, reviewer: str = "") -> None:
        self.token = secrets.token_urlsafe(32)
        self.port = port
        self.cookie = f"lnp-review-{port}"
        ending = "" if port == 80 else f":{port}"  # browsers leave the usual port out
        self.hosts = frozenset({f"127.0.0.1{ending}", f"localhost{ending}"})
        self.origins = frozenset(f"http://{host}" for host in self.hosts)
        self._first = reviewer
        self._visitors: dict[bytes, Visitor] = {}
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        """The address to open, with the secret in it."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def enter(self, token: str) -> Visitor | None:
        """A new visitor, if the token is right. The time it takes says nothing about the token."""
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return None
        with self._lock:
            visitor = Visitor(secrets.token_urlsafe(32), secrets.token_urlsafe(32), self._first)
            self._first = ""
            self._visitors[_digest(visitor.key)] = visitor
        return visitor

    def visitor(self, cookie: str | None) -> Visitor | None:
        """The visitor whose cookie this is. Digests are looked up, so that here too time tells nothing."""
        return None if cookie is None else self._visitors.get(_digest(cookie))

    @staticmethod
    def is_from(visitor: Visitor, csrf: str) -> bool:
        """Whether a form came from one of the visitor's own pages."""
        return hmac.compare_digest(csrf.encode(), visitor.csrf.encode())


def reviewer_name(text: str) -> str:
    """A name as it is kept: one line, without spaces around it.

    >>> reviewer_name("  Ada   Lovelace ")
    'Ada Lovelace'
    """
    name = " ".join(text.split())
    if not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise ConfigError(f"Expected `reviewer` to be a name of 1 to {NAME_LENGTH} letters, but got {name[:80]!r}.")
    return name


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
