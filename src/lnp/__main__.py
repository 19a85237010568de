"""``python -m lnp`` is ``lnp``."""

from __future__ import annotations

from lnp.cli.main import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
