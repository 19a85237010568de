"""What the versions of LNP are called among the methods."""

from __future__ import annotations

from lnp.errors import ConfigError
from lnp.methods.registry import entry

__all__ = ["VERSIONS", "method_name"]

VERSIONS: dict[object, str] = {1: "lnp-v1", 2: "lnp-v2", "channel": "lnp-channel"}
"""From a version to the method."""


def method_name(version: object, method: str | None = None) -> str:
    """The method of that name, or the one that the version stands for.

    >>> method_name(2), method_name(2, "gcn")
    ('lnp-v2', 'gcn')
    """
    if method is not None:
        entry(method)
        return method
    if version not in VERSIONS:
        raise ConfigError(
            f"Expected `version` to be one of {', '.join(map(str, VERSIONS))}, but got {version!r}. Other methods are "
            "chosen by `method`."
        )
    return VERSIONS[version]
