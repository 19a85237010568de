"""Tuned configurations that come with the package, in ``tuned.json``, with how each was found.

The file is a list of objects::

    {"method": "lnp-v2", "dataset": "cora", "noise": "flip", "rate": 0.8, "options": {"lambda_1": 0.01},
     "found": {"trials": 40, …}}

An optional ``backbone`` limits an entry to that backbone.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["FILE", "nearest_config", "shipped_config", "shipped_entries"]

FILE = "tuned.json"

Entry = dict[str, Any]


@cache
def shipped_entries() -> tuple[Entry, ...]:
    """Everything in the file."""
    return tuple(json.loads(resources.files("lnp.experiments").joinpath(FILE).read_text(encoding="utf-8")))


def shipped_config(
    method: str, dataset: str, noise: str, rate: float, *, backbone: str | None = None
) -> dict[str, object] | None:
    """The tuned options of a method on a dataset, or ``None`` where it was not tuned there."""
    return nearest_config(shipped_entries(), method, dataset, noise, rate, backbone=backbone)


def nearest_config(
    entries: tuple[Entry, ...], method: str, dataset: str, noise: str, rate: float, *, backbone: str | None = None
) -> dict[str, object] | None:
    """The options tuned for the nearest rate, of two equally near the higher; those of the backbone come first.

    >>> entries = ({"method": "gcn", "dataset": "cora", "noise": "flip", "rate": 0.4, "options": {"hidden": 16}},)
    >>> nearest_config(entries, "gcn", "cora", "flip", 0.2), nearest_config(entries, "gcn", "cora", "pair", 0.4)
    ({'hidden': 16}, None)
    """
    wanted = (method, dataset, noise)
    found = [entry for entry in entries if (entry["method"], entry["dataset"], entry["noise"]) == wanted]
    own = [entry for entry in found if backbone is not None and entry.get("backbone") == backbone]
    candidates = own or [entry for entry in found if entry.get("backbone") is None]
    if not candidates:
        return None
    best = min(candidates, key=lambda entry: (round(abs(entry["rate"] - rate), 9), -entry["rate"]))
    return dict(best["options"])
