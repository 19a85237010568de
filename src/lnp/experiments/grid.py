"""From a table to its runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lnp.engine.noise_channel import rule_for
from lnp.errors import ConfigError, InputError, UnknownNameError, check_choice
from lnp.experiments.configs import nearest_config, read_entries, shipped_config
from lnp.experiments.protocol import get_protocol
from lnp.experiments.spec import RunSpec
from lnp.experiments.tables import Panel, Table
from lnp.methods.registry import entry

__all__ = ["CONFIGS", "PROTOCOL_NAMES", "Choice", "GridRun", "expand", "expand_all"]

PROTOCOL_NAMES = ("paper", "random", "strict")
CONFIGS = ("tuned", "default")

Lookup = Callable[..., dict[str, object] | None]
"""(method, dataset, noise, rate, backbone=…, protocol=…, selection=…) → tuned options."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Which part of a table to run; ``None`` means all of it.

    Args:
        methods: Methods, also such as the table does not name.
        datasets: Datasets, also such as the table does not name.
        rates: Noise rates.
        seeds: How many seeds; the table's own number by default.
        protocol: "paper", "random" or "strict".
        config: "tuned" (the shipped configuration where there is one), "default", or the path of a JSON file with
            configurations, as ``lnp tune`` writes it, to take in the place of the shipped ones.
    """

    methods: Sequence[str] | None = None
    datasets: Sequence[str] | None = None
    rates: Sequence[float] | None = None
    seeds: int | None = None
    protocol: str = "paper"
    config: str = "tuned"

    def __post_init__(self) -> None:
        check_choice("protocol", self.protocol, PROTOCOL_NAMES)
        if self.config not in CONFIGS and not Path(self.config).is_file():
            raise ConfigError(
                f"Expected `config` to be one of {', '.join(CONFIGS)}, or a JSON file, but got {self.config!r}."
            )
        if self.seeds is not None and self.seeds < 1:
            raise ConfigError(f"Expected `seeds` to be at least 1, but got {self.seeds}.")
        for method in self.methods or ():
            entry(method)


@dataclass(frozen=True)
class GridRun:
    """A run and where it stands: "table-1", "figure-ablation/nl", "figure-clean-size/a/trusted=20"."""

    label: str
    table: str
    protocol: str
    spec: RunSpec


def expand(table: Table, choice: Choice | None = None, *, lookup: Lookup = shipped_config) -> list[GridRun]:
    """The runs of a table, seed by seed, so that every cell has a first number early.

    Variants and varied options come on top of the tuned configuration. A choice that leaves nothing is an error.

    Args:
        table: The table.
        choice: Which part of it, and with which configurations.
        lookup: Where "tuned" configurations come from.
    """
    choice = choice or Choice()
    if choice.config not in CONFIGS:
        lookup = partial(nearest_config, read_entries(Path(choice.config)))
    runs = [run for panel in table.panels for run in _expand(table, panel, choice, lookup)]
    if not runs:
        raise ConfigError(
            f"Expected the chosen methods, datasets and rates to be in {table.name}, but nothing is left. Its noise "
            f"rates are {', '.join(_all(panel.rates for panel in table.panels))}."
        )
    return sorted(runs, key=lambda run: run.spec.seed)  # stable: the table's own order within a seed


def expand_all(tables: Sequence[Table], choice: Choice) -> list[GridRun]:
    """The runs of several tables, seed by seed; of several, those to which the choice does not apply are left out."""
    if len(tables) == 1:
        return expand(tables[0], choice)
    runs, problems = [], []
    for table in tables:
        try:
            runs.extend(expand(table, choice))
        except InputError as error:
            problems.append(error)
    if not runs:
        raise problems[0]
    return sorted(runs, key=lambda run: run.spec.seed)


def _expand(table: Table, panel: Panel, choice: Choice, lookup: Lookup) -> Iterator[GridRun]:
    if choice.protocol not in panel.protocols:
        raise ConfigError(
            f"Expected the protocol of {table.name} to be one of {', '.join(panel.protocols)}, but got "
            f"{choice.protocol!r}."
        )
    ruling = panel.protocols[choice.protocol]
    for dataset in _datasets(table, panel, choice):
        for rate in panel.rates if choice.rates is None else [rate for rate in panel.rates if rate in choice.rates]:
            for method in _methods(panel, choice):
                options = _options(table, panel, method, dataset, rate, choice, lookup)
                for trusted_size in panel.trusted_sizes:
                    for setting, changes in panel.settings.items():
                        for seed in range(choice.seeds or table.seeds):
                            spec = RunSpec(
                                dataset=dataset,
                                method=method,
                                noise=panel.noise,
                                rate=rate,
                                protocol=ruling.protocol,
                                seed=seed,
                                options={**options, **changes},
                                trusted_size=trusted_size,
                                selection=ruling.rule_of(method),
                                patience=table.patience,
                            )
                            label = _label(table, panel, setting, trusted_size)
                            yield GridRun(label, table.name, choice.protocol, spec)


def _datasets(table: Table, panel: Panel, choice: Choice) -> Sequence[str]:
    if choice.datasets is None:
        return panel.datasets
    if len(table.panels) == 1:  # any graph may be put in the place of the table's
        return choice.datasets
    known = _all(each.datasets for each in table.panels)
    for name in choice.datasets:
        if name not in known:
            raise UnknownNameError(f"dataset of {table.name}", name, known)
    return [name for name in choice.datasets if name in panel.datasets]


def _methods(panel: Panel, choice: Choice) -> Sequence[str]:
    if choice.methods is None:
        return (*panel.methods, *panel.extra)
    # Options that vary are those of the panel's own methods.
    return choice.methods if len(panel.settings) == 1 else [name for name in choice.methods if name in panel.methods]


def _options(
    table: Table, panel: Panel, method: str, dataset: str, rate: float, choice: Choice, lookup: Lookup
) -> dict[str, object]:
    fixed: dict[str, object] = {} if table.epochs is None else {"epochs": table.epochs}
    backbone = panel.backbone if method not in panel.keeps_backbone else None
    tuned = None
    if choice.config != "default":
        ruling = panel.protocols[choice.protocol]
        rule = rule_for(method, ruling.rule_of(method) or get_protocol(ruling.protocol).selection)
        tuned = lookup(method, dataset, panel.noise, rate, backbone=backbone, protocol=ruling.protocol, selection=rule)
    return {**fixed, **(tuned or {}), **({} if backbone is None else {"backbone": backbone})}


def _label(table: Table, panel: Panel, setting: str, trusted_size: int) -> str:
    size = f"trusted={trusted_size}" if len(panel.trusted_sizes) > 1 else ""
    return "/".join(part for part in (table.name, panel.name, setting, size) if part)


def _all(groups: Iterable[Sequence[object]]) -> list[str]:
    return list(dict.fromkeys(str(item) for group in groups for item in group))
