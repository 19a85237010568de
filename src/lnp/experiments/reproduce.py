"""From the name of a table to finished runs in a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from lnp.errors import DataError
from lnp.experiments.estimate import estimate_seconds
from lnp.experiments.grid import Choice, GridRun, expand_all
from lnp.experiments.identity import DatasetFacts, Identity, dataset_facts, identify, none_at_hand
from lnp.experiments.jobs import Event, Executor, Job, OnEvent
from lnp.experiments.store import Store
from lnp.experiments.tables import Table, load_table, table_names

__all__ = ["Outcome", "Plan", "PlannedRun", "make_plan", "reproduce", "tables_of"]


@dataclass(frozen=True)
class PlannedRun:
    """A run of a table, with its identity and the key under which the store has it, if it has."""

    grid_run: GridRun
    identity: Identity
    done_as: str | None


@dataclass(frozen=True)
class Plan:
    """What there is to do.

    Args:
        runs: Every run of every table asked for; a run that two tables share is there twice.
        unavailable: Dataset → why it cannot be had; its runs are left out.
        recorded: How many runs were left out because there is a record of them elsewhere.
    """

    runs: list[PlannedRun]
    unavailable: dict[str, str] = field(default_factory=dict)
    recorded: int = 0

    @cached_property
    def jobs(self) -> list[Job]:
        """What is left to do, each run once."""
        left = {run.identity.key: Job(run.identity, run.grid_run.spec) for run in self.runs if run.done_as is None}
        return list(left.values())

    @cached_property
    def total(self) -> int:
        """How many different runs there are."""
        return len({run.identity.key for run in self.runs})

    @property
    def done(self) -> int:
        """How many of them are finished."""
        return self.total - len(self.jobs)

    def seconds(self, store: Store, workers: int = 1) -> float:
        """An estimate of the time for what is left."""
        return estimate_seconds((job.spec for job in self.jobs), store.seconds(), workers) if self.jobs else 0.0


@dataclass
class Outcome:
    """What happened: how many runs were finished here, how many by others, and which failed, with the reason."""

    finished: int = 0
    elsewhere: int = 0
    failed: list[Event] = field(default_factory=list)


def tables_of(name: str) -> list[Table]:
    """The table of that name, or "all"."""
    return [load_table(each) for each in (table_names() if name == "all" else [name])]


def make_plan(
    tables: Sequence[Table],
    choice: Choice,
    store: Store,
    *,
    any_code: bool = False,
    is_recorded: Callable[[GridRun], bool] | None = None,
) -> Plan:
    """Which runs the tables need and which of them the store has. Nothing is loaded whose checksum the store knows.

    Args:
        tables: Tables and figures. Of several, those to which the choice does not apply are left out.
        choice: Which part of them.
        store: Where finished runs are.
        any_code: Count a run as done that only an earlier version of the code has done.
        is_recorded: Says of which runs there is a record already (:mod:`lnp.experiments.recorded`); they are left out.
    """
    facts: dict[str, DatasetFacts | str] = {}
    keys, earlier, cache = store.finished_keys(), store.settings() if any_code else {}, store.facts_cache()
    runs, unavailable = [], {}
    asked = expand_all(tables, choice)
    missing = asked if is_recorded is None else [grid_run for grid_run in asked if not is_recorded(grid_run)]
    for grid_run in missing:
        dataset = grid_run.spec.dataset
        if dataset not in facts:
            try:
                facts[dataset] = dataset_facts(dataset, cache)
            except DataError as error:
                facts[dataset] = str(error)
        known = facts[dataset]
        if isinstance(known, str):
            unavailable[dataset] = known
            continue
        identity = identify(grid_run.spec, known)
        done_as = identity.key if identity.key in keys else earlier.get(identity.settings)
        runs.append(PlannedRun(grid_run, identity, done_as))
    if missing and not runs:
        raise none_at_hand(unavailable)
    return Plan(runs, unavailable, len(asked) - len(missing))


def reproduce(plan: Plan, executor: Executor, store: Store, on_event: OnEvent | None = None) -> Outcome:
    """Does what is left. A run that fails is noted in the store and does not stop the others."""
    outcome = Outcome()

    def note(event: Event) -> None:
        if event.kind == "finished":
            outcome.finished += 1
        elif event.kind == "elsewhere":
            outcome.elsewhere += 1
        elif event.kind == "failed":
            outcome.failed.append(event)
        if on_event is not None:
            on_event(event)

    if plan.jobs:
        executor.run(plan.jobs, store, note)
    return outcome
