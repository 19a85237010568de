"""The trials of one study: what is tried next, and what has become of each.

Trials that count towards the number asked for are complete, pruned, or failed for a reason. A trial that was under way
when its process ended has failed without one: it does not count, and its configuration is tried again.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from lnp.errors import ConfigError
from lnp.experiments.processes import Owner
from lnp.experiments.search_space import decode, distributions, encode
from lnp.experiments.tuning_draw import is_near, near
from lnp.experiments.tuning_study import StudySpec

if TYPE_CHECKING:
    from optuna import Study, Trial
    from optuna.trial import FrozenTrial

__all__ = ["RANDOM_TRIALS", "Begun", "Counts", "Trials", "quiet_optuna"]

ATTEMPTS = 2
"""How often a trial whose worker dies is begun."""

RANDOM_TRIALS = 5
"""Trials, the default among them, before draws look at scores and the pruner compares."""


@dataclass(frozen=True)
class Counts:
    """What has become of the trials of a study; ``running`` are those of processes that live."""

    complete: int = 0
    pruned: int = 0
    failed: int = 0
    running: int = 0

    @property
    def counted(self) -> int:
        """Towards the number asked for."""
        return self.complete + self.pruned + self.failed


@dataclass(frozen=True, eq=False)
class Begun:
    """A trial under way."""

    trial: Trial
    options: dict[str, object]
    is_default: bool


@contextmanager
def quiet_optuna() -> Iterator[None]:
    """Optuna without its notes on every trial and its notices of experimental parts."""
    try:
        import optuna
    except ImportError as error:
        raise ConfigError("Expected Optuna to be installed for tuning. Use: pip install 'lnp[tune]'.") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        yield


class Trials:
    """The trials of one study."""

    def __init__(
        self, spec: StudySpec, study: Study, sampler_seed: int, start: Sequence[dict[str, object]] = ()
    ) -> None:
        self.spec, self._study, self._seed, self._start = spec, study, sampler_seed, start

    @property
    def code_version(self) -> str:
        """Of the code that the study was begun with."""
        return self._study.study_name.rpartition(" ")[2]

    def counts(self) -> Counts:
        """What has become of them."""
        trials = self._all()
        states = [trial.state.name for trial in trials]
        failed = sum(trial.state.name == "FAIL" and "reason" in trial.user_attrs for trial in trials)
        running = sum(trial.state.name == "RUNNING" and not _is_lost(trial) for trial in trials)
        return Counts(states.count("COMPLETE"), states.count("PRUNED"), failed, running)

    def take_up(self) -> int:
        """Fails the trials whose process is gone, and puts their configurations in line again; how many there were."""
        lost = [trial for trial in self._all() if trial.state.name == "RUNNING" and _is_lost(trial)]
        for trial in lost:
            self._again(trial.number, trial.params or trial.system_attrs.get("fixed_params", {}), trial.user_attrs)
        return len(lost)

    def begin(self) -> Begun | None:
        """The next trial, first the default; ``None`` if it was one whose score is known, which then has that score."""
        from optuna.samplers import TPESampler

        with quiet_optuna():
            number = len(self._all())
            if number == 0:
                first = encode(self.spec.space, self.spec.default)
                self._study.enqueue_trial(first, user_attrs={"default": True}, skip_if_exists=True)
                for options in self._start:
                    self._study.enqueue_trial(encode(self.spec.space, options), skip_if_exists=True)
            seed = zlib.crc32(f"{self._seed} {self._study.study_name} {number}".encode())
            # Generators for each trial, so that a draw depends on the trials before it and not on interruptions.
            best = self.best()
            if best is not None and number >= RANDOM_TRIALS and is_near(number) and not self._waits():
                options = near(decode(self.spec.space, best.params), self.spec.space, np.random.default_rng(seed))
                self._study.enqueue_trial(encode(self.spec.space, options))
            self._study.sampler = TPESampler(seed=seed, multivariate=True, n_startup_trials=RANDOM_TRIALS)
            trial = self._study.ask(distributions(self.spec.space))
            options = decode(self.spec.space, trial.params)
            trial.set_user_attr("owner", asdict(Owner.current()))
            trial.set_user_attr("options", options)
            trial.set_user_attr("sampler_seed", seed)
        for other in self._all():
            if other.state.name == "COMPLETE" and other.params == trial.params:
                trial.set_user_attr("same_as", other.number)
                self._tell(trial, value=other.value)
                return None
        return Begun(trial, options, bool(trial.user_attrs.get("default")))

    def should_stop(self, begun: Begun, step: int, value: float) -> bool:
        """Notes a score on the way; whether the trial is worse than others were then. The default never is."""
        from optuna.exceptions import UpdateFinishedTrialError

        with quiet_optuna():
            try:
                begun.trial.report(value, step)
            except UpdateFinishedTrialError:  # another process took this one for dead
                return True
            return not begun.is_default and begun.trial.should_prune()

    def complete(self, begun: Begun, value: float, seconds: float) -> None:
        """A score."""
        self._note(begun, "seconds", round(seconds, 3))
        self._tell(begun.trial, value=value)

    def prune(self, begun: Begun, seconds: float) -> None:
        """Given up."""
        self._note(begun, "seconds", round(seconds, 3))
        self._tell(begun.trial, state="PRUNED")

    def fail(self, begun: Begun, reason: str) -> None:
        """A configuration that cannot be."""
        self._note(begun, "reason", reason)
        self._tell(begun.trial, state="FAIL")

    def interrupt(self, begun: Begun) -> None:
        """Stopped from outside: it will be tried again."""
        self._again(begun.trial.number, begun.trial.params, begun.trial.user_attrs)

    def lose_worker(self, begun: Begun, reason: str) -> bool:
        """Its worker died: it will be tried again, once. Whether it will be."""
        attempt = begun.trial.user_attrs.get("attempt", 1)
        if attempt >= ATTEMPTS:
            self.fail(begun, f"{reason}, {ATTEMPTS} times")
            return False
        self._again(begun.trial.number, begun.trial.params, begun.trial.user_attrs | {"attempt": attempt + 1})
        return True

    def best(self) -> FrozenTrial | None:
        """The complete trial with the best score, of equal ones the earliest."""
        return next(iter(self.ranked()), None)

    def ranked(self) -> list[FrozenTrial]:
        """The complete trials, the best score first, of equal ones the earliest."""
        done = [trial for trial in self._all() if trial.state.name == "COMPLETE"]
        return sorted(done, key=lambda trial: (-(trial.value or 0.0), trial.number))

    def default_score(self) -> float | None:
        """The score of the default configuration."""
        scores = [t.value for t in self._all() if t.user_attrs.get("default") and t.state.name == "COMPLETE"]
        return scores[0] if scores else None

    def reasons(self) -> list[str]:
        """Why trials failed."""
        return [str(trial.user_attrs["reason"]) for trial in self._all() if "reason" in trial.user_attrs]

    def mean_seconds(self) -> float | None:
        """Of the trials that were run."""
        seconds = [float(trial.user_attrs["seconds"]) for trial in self._all() if "seconds" in trial.user_attrs]
        return sum(seconds) / len(seconds) if seconds else None

    def _all(self) -> list[FrozenTrial]:
        return self._study.get_trials(deepcopy=False)

    def _waits(self) -> bool:
        """Whether a configuration is in line."""
        return any(trial.state.name == "WAITING" for trial in self._all())

    def _note(self, begun: Begun, key: str, value: object) -> None:
        from optuna.exceptions import UpdateFinishedTrialError

        with suppress(UpdateFinishedTrialError):  # another process took this one for dead
            begun.trial.set_user_attr(key, value)

    def _again(self, number: int, parameters: dict[str, object], attributes: dict[str, object]) -> None:
        # In line first: killed between the two, a configuration is tried twice and none is lost.
        kept = {key: value for key, value in attributes.items() if key in ("default", "attempt")}
        with quiet_optuna():
            self._study.enqueue_trial(parameters, user_attrs=kept)
        self._tell(number, state="FAIL")

    def _tell(self, trial: Trial | int, *, value: float | None = None, state: str | None = None) -> None:
        from optuna.trial import TrialState

        with quiet_optuna():
            self._study.tell(trial, value, state=None if state is None else TrialState[state], skip_if_finished=True)


def _is_lost(trial: FrozenTrial) -> bool:
    owner = trial.user_attrs.get("owner")
    return owner is None or Owner(**owner).is_gone()
