"""What commands read and say in the same way: lists, rates and durations."""

from __future__ import annotations

import re

__all__ = ["duration", "read_list", "read_rates"]


def read_list(text: str | None) -> list[str] | None:
    """Parts between commas; the commas within ``synthetic:nodes=60,classes=3`` do not count.

    >>> read_list("cora, synthetic:nodes=60,classes=3")
    ['cora', 'synthetic:nodes=60,classes=3']
    """
    return None if text is None else [part.strip() for part in re.split(r",(?!\w+=)", text) if part.strip()]


def read_rates(text: str | None) -> list[float] | None:
    """Numbers between commas."""
    from lnp.errors import ConfigError

    try:
        return None if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        raise ConfigError(f"Expected `--rates` to be numbers separated by commas, but got {text!r}.") from None


def duration(seconds: float) -> str:
    """Rounded, in the unit that fits.

    >>> duration(90), duration(1800), duration(9000)
    ('90 seconds', '30 minutes', '2.5 hours')
    """
    minutes = seconds / 60
    if minutes < 2:
        return f"{seconds:.0f} seconds"
    return f"{minutes:.0f} minutes" if minutes < 120 else f"{minutes / 60:.1f} hours"
