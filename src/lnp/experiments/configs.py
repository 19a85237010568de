"""Tuned configurations that come with the package, in ``tuned.json``, with how each was found.

The file, like every file that ``lnp tune`` writes, is a list of objects::

    {"method": "lnp-v2", "dataset": "cora", "noise": "flip", "rate": 0.8, "protocol": "paper", "selection": "val-clean",
     "options": {"lambda_1": 0.01}, "found": {"trials": 40, …}}

An optional ``backbone`` limits an entry to that backbone. An entry is for runs of the selection rule that found it:
what clean validation labels chose is never used under ``strict``, where nobody sees them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from lnp.errors import ConfigError

__all__ = ["FILE", "Entry", "nearest_config", "read_entries", "shipped_config", "shipped_entries"]

FILE = "tuned.json"

FOUND_BY = "val-clean"
"""The selection rule of an entry that does not say: the one that saw most."""

TAKEN_BY: dict[str, tuple[str, ...]] = {
    "similar_weight": ("gcn", "sign"),
    "diffusion_steps": ("gcn", "h2gcn", "mlp"),
    "links_width": ("gcn", "h2gcn", "mlp"),
}
"""Options that some backbones refuse, with those that take them."""

NEEDED: dict[str, type | tuple[type, ...]] = {
    "method": str,
    "dataset": str,
    "noise": str,
    "rate": (int, float),
    "options": dict,
}

Entry = dict[str, Any]


@cache
def shipped_entries() -> tuple[Entry, ...]:
    """Everything in the file."""
    return tuple(json.loads(resources.files("lnp.experiments").joinpath(FILE).read_text(encoding="utf-8")))


def read_entries(path: Path) -> tuple[Entry, ...]:
    """Everything in a file of the same form."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"Expected a file with configurations at {path}, but: {error.strerror}.") from error
    except ValueError as error:
        raise ConfigError(f"Expected {path} to be JSON, but got: {error}.") from error
    for entry in entries if isinstance(entries, list) else [None]:
        if not isinstance(entry, dict) or not all(isinstance(entry.get(key), kind) for key, kind in NEEDED.items()):
            raise ConfigError(
                f"Expected {path} to be a list of objects with {', '.join(NEEDED)}, as `lnp tune` writes it, but got "
                f"{json.dumps(entry)[:80]}."
            )
    return tuple(entries)


def shipped_config(
    method: str,
    dataset: str,
    noise: str,
    rate: float,
    *,
    backbone: str | None = None,
    protocol: str | None = None,
    selection: str = FOUND_BY,
) -> dict[str, object] | None:
    """The tuned options of a method on a dataset, or ``None`` where it was not tuned there."""
    found = shipped_entries()
    return nearest_config(
        found, method, dataset, noise, rate, backbone=backbone, protocol=protocol, selection=selection
    )


def nearest_config(
    entries: Sequence[Entry],
    method: str,
    dataset: str,
    noise: str,
    rate: float,
    *,
    backbone: str | None = None,
    protocol: str | None = None,
    selection: str = FOUND_BY,
) -> dict[str, object] | None:
    """The options tuned for the nearest rate, of two equally near the higher.

    Entries of the run's backbone come before those of none, whose options count as far as the backbone takes them; then
    those of its protocol before those of another, and only entries that its selection rule found count.

    >>> entries = ({"method": "gcn", "dataset": "cora", "noise": "flip", "rate": 0.4, "options": {"hidden": 16}},)
    >>> nearest_config(entries, "gcn", "cora", "flip", 0.2), nearest_config(entries, "gcn", "cora", "pair", 0.4)
    ({'hidden': 16}, None)
    >>> nearest_config(entries, "gcn", "cora", "flip", 0.4, selection="trusted")
    """
    wanted = (method, dataset, noise, selection)
    found = [
        entry
        for entry in entries
        if (entry["method"], entry["dataset"], entry["noise"], entry.get("selection", FOUND_BY)) == wanted
    ]
    own = [entry for entry in found if backbone is not None and entry.get("backbone") == backbone]
    candidates = own or [entry for entry in found if entry.get("backbone") is None]
    candidates = [entry for entry in candidates if entry.get("protocol") == protocol] or candidates
    if not candidates:
        return None
    best = min(candidates, key=lambda entry: (round(abs(entry["rate"] - rate), 9), -entry["rate"]))
    return {
        name: value
        for name, value in best["options"].items()
        if backbone is None or own or backbone in TAKEN_BY.get(name, (backbone,))
    }
