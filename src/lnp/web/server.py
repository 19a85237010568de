"""Serves a review on this machine, and nowhere else, until it is stopped."""

from __future__ import annotations

import socket
from collections.abc import Callable

from lnp.errors import ConfigError, check_range

__all__ = ["HOST", "listen", "require_web", "serve"]

HOST = "127.0.0.1"
GRACE = 3
"""Seconds that open requests have to end."""


def require_web() -> None:
    """Raises where the packages that the page needs are not installed."""
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ConfigError(
            f"Expected the package `{error.name}`, which the review page needs, but it is not installed. Install it "
            "with `pip install 'lnp[web]'`."
        ) from error


def listen(port: int) -> socket.socket:
    """Takes a port of this machine, 0 for any that is free; other machines cannot reach it."""
    check_range("port", port, 0, 65535)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"Expected `port` {port} to be free, but: {error.strerror}. Choose another, or 0 for any that is free."
        ) from error
    return listener


def serve(app: object, listener: socket.socket, on_start: Callable[[], None] | None = None) -> None:
    """Serves until an interrupt; open requests are answered first.

    Args:
        app: The application.
        listener: From :func:`listen`.
        on_start: Called when pages can be asked for.
    """
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if on_start is not None:
                on_start()

    # No log of requests: their addresses may hold the token.
    config = uvicorn.Config(
        app,  # type: ignore[arg-type]
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )
    Server(config).run(sockets=[listener])
