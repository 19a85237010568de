"""Studies in a file: Optuna's own tables in SQLite, where a transaction is whole or absent whoever is killed."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lnp.errors import DataError
from lnp.experiments.configs import Entry
from lnp.experiments.tuning_start import starting_points
from lnp.experiments.tuning_study import StudySpec
from lnp.experiments.tuning_trials import RANDOM_TRIALS, Trials, quiet_optuna

if TYPE_CHECKING:
    from optuna import Study
    from optuna.storages import BaseStorage

__all__ = ["TuningFile"]

MEDIAN_OF = 3
"""Scores that the pruner's median needs at least."""

PATIENCE_FOR_A_LOCK = 60.0
"""Seconds that a writer waits for another."""


class TuningFile:
    """The file with all studies.

    Args:
        path: Made if it is not there.
        sampler_seed: Where the sampler's draws come from.
        start: What was found elsewhere, some of which a new study tries after the default.
    """

    def __init__(self, path: Path, sampler_seed: int = 0, start: Sequence[Entry] = ()) -> None:
        self.path, self.sampler_seed, self.start = path, sampler_seed, tuple(start)
        path.parent.mkdir(parents=True, exist_ok=True)
        with quiet_optuna():
            from optuna.storages import RDBStorage
            from sqlalchemy import event

            try:
                with closing(sqlite3.connect(path, timeout=PATIENCE_FOR_A_LOCK)) as connection:
                    connection.execute("PRAGMA journal_mode=WAL")  # readers and a writer do not wait for each other
            except sqlite3.DatabaseError as error:
                raise DataError(f"Expected {path} to be a file of `lnp tune`, but got: {error}.") from error
            kwargs = {"connect_args": {"timeout": PATIENCE_FOR_A_LOCK}}
            storage = RDBStorage(f"sqlite:///{path.resolve()}", engine_kwargs=kwargs)
            event.listen(storage.engine, "connect", _sync_seldom)
            storage.engine.dispose()  # the connections that made the tables
            self._storage: BaseStorage = storage

    def open(self, spec: StudySpec, *, any_code: bool = False) -> Trials:
        """The study, made if it is not there.

        Args:
            spec: Which.
            any_code: Go on with the latest one that was begun with another version of the code.
        """
        found = self.find(spec, any_code=any_code)
        if found is not None:
            return found
        with quiet_optuna():
            from optuna import create_study

            study = create_study(storage=self._storage, study_name=spec.name, direction="maximize", load_if_exists=True)
        return self._trials(spec, study)

    def find(self, spec: StudySpec, *, any_code: bool = False) -> Trials | None:
        """The study, if it is there."""
        name = spec.name
        if any_code and name not in self._names:
            name = next((one for one in reversed(self._names) if one.rpartition(" ")[0] == spec.settings), name)
        if name not in self._names:
            return None
        with quiet_optuna():
            from optuna import load_study

            return self._trials(spec, load_study(study_name=name, storage=self._storage))

    def _trials(self, spec: StudySpec, study: Study) -> Trials:
        from optuna.pruners import MedianPruner, NopPruner

        # Finalists are few and all good: each is judged by all its seeds.
        search = MedianPruner(n_startup_trials=RANDOM_TRIALS, n_min_trials=MEDIAN_OF)
        study.pruner = NopPruner() if spec.finalists else search
        return Trials(spec, study, self.sampler_seed, spec.finalists or starting_points(self.start, spec))

    @cached_property
    def _names(self) -> list[str]:
        from optuna import get_all_study_names

        with quiet_optuna():
            return get_all_study_names(self._storage)


def _sync_seldom(connection: sqlite3.Connection, record: object) -> None:
    """Waits for the disk at checkpoints and not at every commit: what is written outlives the process all the same."""
    connection.execute("PRAGMA synchronous=NORMAL")
