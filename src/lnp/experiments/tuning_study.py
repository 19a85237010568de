"""What there is to tune: one study for each method, dataset, noise, rate, backbone and protocol of a table."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from lnp.errors import ConfigError, DataError, check_range
from lnp.experiments.estimate import guess_seconds
from lnp.experiments.grid import Choice, expand_all
from lnp.experiments.identity import DatasetFacts, dataset_facts, identify, none_at_hand
from lnp.experiments.search_space import Space, digest, space_of
from lnp.experiments.spec import TRUSTED, RunSpec
from lnp.experiments.tables import Panel, Table

__all__ = ["StudySpec", "TuningOptions", "find_studies"]

MATCHED = "matched twins"
"""How scores are counted (:mod:`lnp.experiments.matched`), so that trials counted otherwise are not gone on with."""


@dataclass(frozen=True, kw_only=True)
class TuningOptions:
    """How every study is done, the same for all methods.

    Args:
        trials: Configurations tried in each study, the default among them.
        seeds: Runs whose mean score counts.
        patience: Epochs without a better score after which a stage ends; ``None`` for the table's own number, with
            which a score is exactly that of the table's run.
        wide: Search the paper's whole grid, large networks included.
        sampler_seed: Where the sampler's draws come from.
    """

    trials: int = 12
    seeds: int = 1
    patience: int | None = None
    wide: bool = False
    sampler_seed: int = 0

    def __post_init__(self) -> None:
        check_range("trials", self.trials, 1, 1e6)
        check_range("seeds", self.seeds, 1, 1e6)
        check_range("patience", self.patience or 0, 0, 1e9)


@dataclass(frozen=True)
class StudySpec:
    """A study.

    Args:
        spec: The run with the default configuration, which is the first trial, and the first seed.
        facts: Of its dataset.
        seeds: Runs whose mean score counts.
        wide: Whether the space is.
        finalists: In a final, the configurations that are judged beside the default (see
            :mod:`lnp.experiments.tuning_final`); none in a search. Others make another final.
    """

    spec: RunSpec
    facts: DatasetFacts
    seeds: int
    wide: bool = False
    finalists: tuple[dict[str, object], ...] = ()

    @cached_property
    def space(self) -> Space:
        """What varies."""
        return space_of(self.spec.method, self.spec.config(), wide=self.wide)

    @cached_property
    def default(self) -> dict[str, object]:
        """The values of the default configuration."""
        config = self.spec.config()
        return {option: getattr(config, option) for option in self.space}

    @property
    def backbone(self) -> str | None:
        """The table's backbone, where it has another than the method."""
        backbone = self.spec.options.get("backbone")
        return None if backbone is None else str(backbone)

    @property
    def selection(self) -> str:
        """The rule whose score counts."""
        return self.spec.rule

    @property
    def code_version(self) -> str:
        """Of everything that computes its scores."""
        return identify(self.spec, self.facts).code_version

    @property
    def label(self) -> str:
        """For people."""
        spec = self.spec
        backbone = f" with {self.backbone}" if self.backbone else ""
        return f"{spec.method}{backbone} on {spec.dataset}, {spec.noise} {spec.rate:g}, {spec.protocol}"

    @cached_property
    def settings(self) -> str:
        """Equal for studies that differ in the code alone: whatever determines a score, and the space."""
        whole = [identify(self.spec, self.facts).settings, digest(self.space), self.seeds, self.spec.patience, MATCHED]
        whole += [self.finalists] if self.finalists else []
        return f"{self.label}, {self.selection} {_digest(whole)}"

    @property
    def name(self) -> str:
        """Of the study in its file."""
        return f"{self.settings} {self.code_version}"

    def trial_spec(self, options: dict[str, object]) -> RunSpec:
        """The run of a trial."""
        return replace(self.spec, options={**self.spec.options, **options})

    @property
    def guessed_seconds(self) -> float:
        """A guess at the time of one trial."""
        return self.seeds * guess_seconds(self.spec)


def find_studies(
    tables: Sequence[Table], choice: Choice, options: TuningOptions
) -> tuple[list[StudySpec], dict[str, str]]:
    """The studies of the tables' cells, each once, and dataset → why it cannot be had.

    Variants and varied options are not tuned one by one: they come on top of what is found without them.
    """
    choice = replace(choice, seeds=1, config="default")
    facts: dict[str, DatasetFacts | str] = {}
    found: dict[str, StudySpec] = {}
    for run in expand_all([_without_variants(table) for table in tables], choice):
        dataset = run.spec.dataset
        if dataset not in facts:
            try:
                facts[dataset] = dataset_facts(dataset)
            except DataError as error:
                facts[dataset] = str(error)
        known = facts[dataset]
        if isinstance(known, str):
            continue
        spec = run.spec if options.patience is None else replace(run.spec, patience=options.patience)
        study = StudySpec(spec, known, options.seeds, options.wide)
        if study.selection == "last":
            raise ConfigError(f"Expected a selection rule that scores, to tune {study.label} by, but got 'last'.")
        found.setdefault(study.settings, study)
    unavailable = {dataset: reason for dataset, reason in facts.items() if isinstance(reason, str)}
    if not found:
        raise none_at_hand(unavailable)
    return list(found.values()), unavailable


def _without_variants(table: Table) -> Table:
    return replace(table, panels=tuple(_plain(panel) for panel in table.panels))


def _plain(panel: Panel) -> Panel:
    sizes = panel.trusted_sizes
    settings = panel.settings if len(panel.settings) == 1 else {"": {}}  # one that all runs have is no variant
    return replace(panel, settings=settings, trusted_sizes=(TRUSTED if TRUSTED in sizes else sizes[0],))


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]
