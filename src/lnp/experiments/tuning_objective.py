"""How good a configuration is: the score of the epoch kept, by the protocol's rule. No test label is read.

The epoch is kept by that rule as it is; the score by which configurations are compared is matched to the nodes that are
to be predicted (:mod:`lnp.experiments.matched`).

What a run does up to training, and not what comes after: predictions are compared with the labels that select, which a
:class:`~lnp.engine.selection.Selection` holds, and with no others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from lnp.datasets.dataset import Dataset
from lnp.engine.allocator import has_room, keep_freed_memory
from lnp.engine.feed import predict
from lnp.engine.fit import FitOptions, fit
from lnp.engine.history import EpochRecord
from lnp.engine.memory import preflight
from lnp.engine.selection import Selection
from lnp.errors import ConfigError
from lnp.experiments.matched import MatchedScore, match_twins
from lnp.experiments.spec import RunSpec
from lnp.experiments.tasks import task_of
from lnp.methods.base import Method, Stage
from lnp.methods.batch import Batch, full_batch
from lnp.methods.registry import create_method
from lnp.seeds import Seeds

__all__ = ["EVERY", "WARM_UP", "Hopeless", "Report", "score"]

EVERY = 10
"""Epochs between two reports."""

WARM_UP = 0.25
"""Share of the last stage before the first."""

WORST = -math.inf
"""Below every score."""

Report = Callable[[int, float], bool]
"""(epochs so far, best score so far) → whether to give up."""


class Hopeless(Exception):  # noqa: N818 (no error: a trial that is given up)
    """Whoever listens to the reports has heard enough."""


def score(spec: RunSpec, dataset: Dataset, *, seeds: int = 1, keepers: int = 0, report: Report | None = None) -> float:
    """The mean over ``seeds`` runs of the score of the epoch kept.

    Args:
        spec: The run; its seed is the first.
        dataset: The graph that ``spec`` names.
        seeds: How many seeds.
        keepers: As for :func:`~lnp.experiments.run.run`.
        report: Hears of the last stage every few epochs: epochs as if no patience had saved any, and the mean of the
            scores of the seeds done and of the best so far in the present one, by the rule as it is. Stages before are
            not judged, because what fine-tuning makes of them does not show yet.

    Raises:
        Hopeless: ``report`` said so.
        ConfigError: The loss became infinite, or the rule scores nothing.
    """
    done: list[float] = []
    before = 0
    for seed in range(spec.seed, spec.seed + seeds):
        run = _Run(replace(spec, seed=seed), dataset, keepers)

        def hear(epoch: int, best: float, offset: int = before) -> bool:
            return report is not None and report(offset + epoch, (sum(done) + best) / (len(done) + 1))

        done.append(run.score(hear))
        before += run.epochs
    return sum(done) / len(done)


class _Run:
    """Everything of a run but its evaluation."""

    def __init__(self, spec: RunSpec, dataset: Dataset, keepers: int) -> None:
        self.seeds, self.patience = Seeds(spec.seed), spec.patience
        task = task_of(spec, dataset, self.seeds)
        if task.selection.rule == "last":
            raise ConfigError("Expected a selection rule that scores, to tune by, but got 'last'.")
        self.selection: Selection = task.selection
        self.judge: MatchedScore = match_twins(task)
        self.batch: Batch = full_batch(task.graph, task.observed, task.split.train)
        needed = preflight(spec.method, spec.config(), self.batch)
        self.needed = needed if keepers and needed and has_room(needed, keepers) else None
        self.method: Method = create_method(
            spec.method, spec.config(), self.batch, self.seeds.generator("initialisation")
        )
        self.stages: list[Stage] = self.method.stages(self.batch)

    @property
    def epochs(self) -> int:
        """Of all stages in full."""
        return sum(stage.epochs for stage in self.stages)

    def score(self, report: Report) -> float:
        """Trains; the score of what is kept."""
        watch = _Watch(self.stages, self._start_score(), report)
        after = watch.on_epoch if self.needed is None else keep_freed_memory(self.needed, watch.on_epoch)
        options = FitOptions(patience=self.patience, on_epoch=after)
        result = fit(self.method, self.batch, self.selection, self.seeds.randomness(), options)
        return self.judge.score(result.probabilities, self.method.given_distribution)

    def _start_score(self) -> float:
        """Of the untrained method, where the first stage may keep it."""
        if not self.stages or not self.stages[0].keeps_start:
            return WORST
        return self.selection.score(predict(self.method, self.batch), self.method.given_distribution)


class _Watch:
    """Follows the score of the state that a stage would end with."""

    def __init__(self, stages: list[Stage], start: float, report: Report) -> None:
        self.stages, self.report = {stage.name: stage for stage in stages}, report
        self.last = stages[-1].name if stages else ""
        self.offset = sum(stage.epochs for stage in stages[:-1])
        self.stage, self.best = "", start

    def on_epoch(self, record: EpochRecord, epochs: int) -> None:
        """Follows one epoch; raises when the run need not go on."""
        stage, done = self.stages[record.stage], record.epoch + 1
        if record.stage != self.stage:
            self.stage = record.stage
            self.best = self.best if stage.keeps_start else WORST
        self.best = max(self.best, record.score) if stage.selects else record.score
        if record.stage != self.last or not stage.selects or done == epochs:
            return
        if done >= WARM_UP * epochs and done % EVERY == 0 and self.report(self.offset + done, self.best):
            raise Hopeless
