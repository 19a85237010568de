"""Pages from templates, which compute nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

__all__ = ["render"]


def render(template: str, summary: Mapping[str, Any]) -> str:
    """Fills a template of ``lnp/report/templates``; every string is escaped, and a name that is missing is an error."""
    environment = Environment(
        loader=PackageLoader("lnp.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(summary)
