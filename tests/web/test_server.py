from __future__ import annotations

import socket
import sys

import pytest

from lnp.errors import ConfigError
from lnp.web.server import listen, require_web


def test_it_listens_on_this_machine_only() -> None:
    with listen(0) as listener:
        host, port = listener.getsockname()
        assert host == "127.0.0.1"
        with pytest.raises(ConfigError, match=f"`port` {port} to be free"):
            listen(port)
        other = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
        for address in other:
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection((str(address), port), timeout=1).close()


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_is_none(port: int) -> None:
    with pytest.raises(ConfigError, match="port"):
        listen(port)


def test_what_is_missing_is_named_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    require_web()
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(ConfigError, match=r"pip install 'lnp\[web\]'"):
        require_web()
