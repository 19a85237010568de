"""The paper's tables and figures: settings and published numbers together, one TOML file each in ``paper/``.

A file has panels. A panel is a product: datasets × rates × methods × sizes of T_C × settings, where the settings are
either named variants or one option at a time that varies. ``protocols`` says what "paper", "random" and "strict" mean
for this table: Table 6 has its own split, so "paper" is the protocol ``planetoid`` there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from lnp.errors import ConfigError, UnknownNameError

__all__ = ["Panel", "Published", "Ruling", "Table", "load_table", "parse_table", "table_names"]

FOLDER = "paper"


@dataclass(frozen=True)
class Ruling:
    """What a protocol's name means for a panel.

    Args:
        protocol: The protocol of a run.
        selection: Another selection rule than the protocol's.
        selections: Method → another rule for it alone.
    """

    protocol: str
    selection: str | None = None
    selections: Mapping[str, str] = field(default_factory=dict)

    def rule_of(self, method: str) -> str | None:
        """The rule for a method; ``None`` is the protocol's."""
        return self.selections.get(method, self.selection)


@dataclass(frozen=True)
class Published:
    """A number as printed, or a word in its place ("OOM").

    Args:
        value: Test accuracy in percent, or seconds.
        deviation: The standard deviation, where there is one.
        note: What stands in place of a number.
    """

    value: float | None
    deviation: float | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A product of settings.

    Args:
        name: Part of the label of its runs; empty where a table has one panel.
        noise: A noise of :mod:`lnp.noise.registry`, or "annotations".
        datasets: Graphs by name.
        rates: Noise rates.
        methods: The paper's methods.
        extra: Methods that the paper does not have, run beside them.
        protocols: "paper", "random", "strict" → what it means here.
        trusted_sizes: Sizes of T_C.
        backbone: Another backbone than the methods' own.
        keeps_backbone: Methods that keep theirs all the same.
        settings: Name → options that differ from the method's configuration.
    """

    noise: str
    datasets: tuple[str, ...]
    rates: tuple[float, ...]
    methods: tuple[str, ...]
    protocols: Mapping[str, Ruling]
    name: str = ""
    extra: tuple[str, ...] = ()
    trusted_sizes: tuple[int, ...] = (25,)
    backbone: str | None = None
    keeps_backbone: tuple[str, ...] = ()
    settings: Mapping[str, dict[str, object]] = field(default_factory=lambda: {"": {}})


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table or figure.

    Args:
        name: "table-1", "figure-ablation", ….
        title: What it shows.
        source: Where it is in the paper.
        seeds: How many seeds it is run with.
        patience: Epochs without a better score after which a stage ends, the same for every method; 0 never.
        epochs: Most epochs of the main stage, the same for every method; ``None`` for each method's own number.
        panels: What is run.
        measure: What the published numbers are; empty where there are none.
        published: (dataset, rate, method) → number.
        stand_ins: Dataset → the one of the paper in whose place it is run, with which it must not be compared.
    """

    name: str
    title: str
    source: str
    seeds: int
    patience: int
    panels: tuple[Panel, ...]
    measure: str = ""
    published: Mapping[tuple[str, float, str], Published] = field(default_factory=dict)
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    epochs: int | None = None


def table_names() -> list[str]:
    """Every table and figure, in the order of the paper."""
    files = resources.files("lnp.experiments").joinpath(FOLDER).iterdir()
    names = sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))
    return sorted(names, key=lambda name: (not name.startswith("table"), name == "real-noise", name))


@cache
def load_table(name: str) -> Table:
    """The table of that name."""
    if name not in table_names():
        raise UnknownNameError("table", name, [*table_names(), "all"])
    text = resources.files("lnp.experiments").joinpath(FOLDER, f"{name}.toml").read_text(encoding="utf-8")
    return parse_table(name, text)


def parse_table(name: str, text: str) -> Table:
    """A table from the text of its file."""
    try:
        raw = tomllib.loads(text)
        rulings = raw.get("protocols", {})
        published = raw.get("published", {})
        return Table(
            name=name,
            title=raw["title"],
            source=raw["source"],
            seeds=raw["seeds"],
            patience=raw.get("patience", 0),
            epochs=raw.get("epochs"),
            panels=tuple(_panel(panel, rulings) for panel in raw["panel"]),
            measure=published.get("measure", ""),
            published=dict(_published(published)),
            stand_ins=raw.get("stand_ins", {}),
        )
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise ConfigError(
            f"Expected {name}.toml to describe a table, but got {type(error).__name__}: {error}."
        ) from error


def _panel(raw: dict[str, Any], rulings: dict[str, Any]) -> Panel:
    rest = dict(raw)
    rulings = rest.pop("protocols", rulings)
    settings: dict[str, dict[str, object]] = rest.pop("variants", {})
    for option, values in rest.pop("vary", {}).items():
        settings |= {f"{option}={value:g}": {option: value} for value in values}
    if settings:
        rest["settings"] = settings
    lists: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in rest.items()}
    return Panel(protocols={name: Ruling(**ruling) for name, ruling in rulings.items()}, **lists)


def _published(raw: dict[str, Any]) -> list[tuple[tuple[str, float, str], Published]]:
    return [
        ((dataset, float(rate), method), _number(cell))
        for dataset, rates in raw.get("cells", {}).items()
        for rate, cells in rates.items()
        for method, cell in zip(raw["methods"], cells, strict=True)
    ]


def _number(cell: str | list[float]) -> Published:
    if isinstance(cell, str):
        return Published(None, note=cell)
    value, *deviation = cell
    return Published(value, deviation[0] if deviation else None)
