"""Carries studies out: trials on worker processes, everything that is kept written by the parent.

As many studies as there are workers go on at a time, each with one trial, so that a draw depends on all trials before
it; only where fewer studies are left than workers has one several trials at a time. Studies finish one after the other.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from lnp.errors import check_choice, check_range
from lnp.experiments.processes import dismiss
from lnp.experiments.tuning_trials import Begun, Trials
from lnp.experiments.tuning_worker import Ended, OnTheWay, TrialTask, serve
from lnp.experiments.worker import environment, obituary

__all__ = ["OnTrial", "TrialEvent", "Tuner", "trials_left"]


@dataclass(frozen=True)
class TrialEvent:
    """A trial ended.

    Args:
        trials: The study.
        kind: "complete", "known" (tried before), "pruned", "failed", or "retried" (its worker died, it will be tried
            again).
        value: The score, if complete.
        reason: Why, for the last two.
        study_done: Whether it was the last of its study.
    """

    trials: Trials
    kind: str
    value: float | None = None
    reason: str = ""
    study_done: bool = False


OnTrial = Callable[[TrialEvent], None]


@dataclass(frozen=True, kw_only=True)
class Tuner:
    """Worker processes.

    Args:
        trials: How many trials each study shall have.
        workers: Trials at a time.
        threads: Threads of torch in each.
        seconds: After so long no trial is begun; ``None`` for no end.
        start: How processes are started, "spawn" or "fork".
    """

    trials: int
    workers: int = 1
    threads: int = 1
    seconds: float | None = None
    start: str = "spawn"

    def __post_init__(self) -> None:
        check_range("trials", self.trials, 1, 1e6)
        check_range("workers", self.workers, 1, 1024)
        check_range("threads", self.threads, 1, 1024)
        check_choice("start", self.start, ("spawn", "fork"))

    def run(self, studies: Sequence[Trials], on_trial: OnTrial | None = None) -> None:
        """Returns when every study has its trials or the time is over; an interrupt leaves all to be gone on with."""
        for study in studies:
            study.take_up()
        crew = _Crew(self, list(studies), on_trial or (lambda event: None))
        try:
            crew.work()
        finally:
            crew.dismiss()


def trials_left(study: Trials, trials: int) -> int:
    """How many trials a study still needs, without those that live processes have under way."""
    counts = study.counts()
    return max(0, trials - counts.counted - counts.running)


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    pipe: Connection
    study: Trials | None = None
    begun: Begun | None = None


@dataclass(eq=False)
class _Crew:
    """The workers of one call."""

    settings: Tuner
    studies: list[Trials]
    on_trial: OnTrial
    workers: list[_Worker] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def work(self) -> None:
        while True:
            while self._is_idle() and (study := self._next_study()) is not None:
                self._begin(study)
            busy = [worker for worker in self.workers if worker.begun is not None]
            if not busy:
                return
            readable = wait([worker.pipe for worker in busy])
            for worker in busy:
                if worker.pipe in readable:
                    self._hear(worker)

    def dismiss(self) -> None:
        """Lets workers go; a trial under way will be tried again."""
        dismiss((worker.process, worker.pipe, worker.begun is not None) for worker in self.workers)
        for worker in self.workers:
            if worker.begun is not None and worker.study is not None:
                worker.study.interrupt(worker.begun)
        self.workers.clear()

    def _is_idle(self) -> bool:
        return len(self.workers) < self.settings.workers or any(worker.begun is None for worker in self.workers)

    def _next_study(self) -> Trials | None:
        """The first one that nobody works at, else the one with the fewest at work."""
        seconds = self.settings.seconds
        if seconds is not None and time.monotonic() - self.began > seconds:
            return None
        at_work = {id(study): sum(worker.study is study for worker in self.workers) for study in self.studies}
        left = []
        for study in list(self.studies):
            if study.counts().counted >= self.settings.trials:
                self.studies.remove(study)
            elif trials_left(study, self.settings.trials):
                left.append(study)
                if not at_work[id(study)]:
                    break
        return min(left, key=lambda study: at_work[id(study)], default=None)

    def _begin(self, study: Trials) -> None:
        begun = study.begin()
        if begun is None:  # its score was known
            self._say(study, "known")
            return
        worker = next((each for each in self.workers if each.begun is None), None) or self._hire()
        worker.study, worker.begun = study, begun
        with suppress(BrokenPipeError):  # it died while idle; that is heard next
            worker.pipe.send(TrialTask(study.spec.trial_spec(begun.options), study.spec.seeds))

    def _hire(self) -> _Worker:
        ours, theirs = multiprocessing.Pipe()
        threads, context = self.settings.threads, multiprocessing.get_context(self.settings.start)
        # mypy knows one context only by its general name, which has no Process.
        process = context.Process(  # type: ignore[attr-defined]
            target=serve, args=(theirs, threads, os.getpid(), self.settings.workers), daemon=True
        )
        with environment(threads):
            process.start()
        theirs.close()
        self.workers.append(_Worker(process, ours))
        return self.workers[-1]

    def _hear(self, worker: _Worker) -> None:
        study, begun = worker.study, worker.begun
        assert study is not None
        assert begun is not None
        try:
            message: OnTheWay | Ended = worker.pipe.recv()
        except (EOFError, ConnectionResetError):
            self._bury(worker, study, begun)
            return
        if isinstance(message, OnTheWay):
            stop = study.should_stop(begun, message.step, message.value)
            with suppress(BrokenPipeError):
                worker.pipe.send(stop)
            return
        if message.kind == "complete":
            assert message.value is not None
            study.complete(begun, message.value, message.seconds)
        elif message.kind == "pruned":
            study.prune(begun, message.seconds)
        else:
            study.fail(begun, message.reason)
        worker.study = worker.begun = None
        self._say(study, message.kind, message.value, message.reason)

    def _bury(self, worker: _Worker, study: Trials, begun: Begun) -> None:
        worker.process.join()
        worker.pipe.close()
        self.workers.remove(worker)
        reason = obituary(worker.process.exitcode)
        again = study.lose_worker(begun, reason)
        self._say(study, "retried" if again else "failed", reason=reason)

    def _say(self, study: Trials, kind: str, value: float | None = None, reason: str = "") -> None:
        done = study.counts().counted >= self.settings.trials
        self.on_trial(TrialEvent(study, kind, value, reason, done))
