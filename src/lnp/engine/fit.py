"""The only epoch loop.

Every method, of one stage or three, on the whole graph or in parts, runs through :func:`fit`. In each epoch every
update of the stage takes one optimiser step for each batch; then the method predicts in evaluation mode, the selection
rule scores the prediction, and the best state so far is kept. A stage ends with its selected state loaded, and the next
stage starts from there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from lnp.engine.checkpoint import Position, load_checkpoint, save_checkpoint
from lnp.engine.feed import Feed, as_feed
from lnp.engine.history import EpochRecord, History
from lnp.engine.selection import Selection
from lnp.errors import ConfigError
from lnp.methods.base import Epoch, Method, Stage, Terms
from lnp.methods.batch import Batch
from lnp.seeds import Randomness

__all__ = ["FitOptions", "FitResult", "fit", "require_finite"]


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """How to run the loop; nothing here changes what is minimised.

    Args:
        patience: Stop a stage after this many epochs without a better score; 0 never stops early.
        checkpoint: File to write checkpoints to and to resume from; ``None`` writes none.
        checkpoint_every: Epochs between checkpoints.
        on_epoch: Called with every epoch's record and the number of epochs of the stage, for progress bars.
    """

    patience: int = 0
    checkpoint: Path | None = None
    checkpoint_every: int = 50
    on_epoch: Callable[[EpochRecord, int], None] | None = None


@dataclass(frozen=True)
class FitResult:
    """What training gave: probabilities of the selected state, the history, and how long it took."""

    probabilities: Tensor
    history: History
    seconds: float

    @property
    def epochs(self) -> int:
        """Epochs run, over all stages."""
        return len(self.history)

    @property
    def seconds_per_epoch(self) -> float:
        """Mean time of an epoch with its evaluation."""
        return self.seconds / max(1, self.epochs)


def fit(
    method: Method,
    batch: Batch | Feed,
    selection: Selection,
    randomness: Randomness,
    options: FitOptions | None = None,
) -> FitResult:
    """Trains ``method`` on ``batch``, or on the batches of a feed, and leaves it in its selected state.

    With ``options.checkpoint`` naming an existing file, training continues where that file left off; on the CPU the
    final weights are then bit-equal to those of an uninterrupted run.
    """
    options = options or FitOptions()
    started = time.perf_counter()
    feed = as_feed(batch)
    history, position = History(), Position()
    stages = method.stages(feed.batch)
    resumed = load_checkpoint(options.checkpoint, method, randomness) if options.checkpoint else None
    if resumed is not None:
        history, position = resumed.history, resumed.position
    for number in range(position.stage, len(stages)):
        if number > position.stage:
            position = Position(stage=number, seconds=position.seconds)
        loop = _StageLoop(method, feed, stages[number], selection, randomness, history, position)
        if resumed is not None and number == resumed.position.stage:
            loop.restore(resumed.optimisers, resumed.best)
        loop.run(options, started)
    return FitResult(feed.predict(method), history, position.seconds + time.perf_counter() - started)


class _StageLoop:
    """The epochs of one stage."""

    def __init__(
        self,
        method: Method,
        feed: Feed,
        stage: Stage,
        selection: Selection,
        randomness: Randomness,
        history: History,
        position: Position,
    ) -> None:
        self.method, self.feed, self.stage, self.selection = method, feed, stage, selection
        self.randomness, self.history, self.position = randomness, history, position
        self.best: dict[str, Tensor] | None = None
        self.optimisers: dict[str, torch.optim.Adam] = {}
        self.fixed: frozenset[str] = frozenset()  # names of the parameters that no optimiser of the stage moves

    def run(self, options: FitOptions, started: float) -> None:
        """Runs what is left of the stage and loads its selected state."""
        stage, position = self.stage, self.position
        if position.epoch == 0:
            if stage.begin is not None:
                self.method.eval()
                stage.begin(self.feed.batch, self.randomness)
            if stage.keeps_start:
                self._select(self.feed.predict(self.method))
        self._create_optimisers()
        before = position.seconds
        while position.epoch < stage.epochs and not self._out_of_patience(options):
            self._train_one_epoch(options)
            position.epoch += 1
            if options.checkpoint and position.epoch % options.checkpoint_every == 0 and position.epoch < stage.epochs:
                position.seconds = before + time.perf_counter() - started
                self._save(options.checkpoint)
                position.seconds = before
        if self.best is not None:
            self.method.load_state_dict(self.best, strict=False)  # what the stage does not move is not in it

    def _out_of_patience(self, options: FitOptions) -> bool:
        # Asked before an epoch and not after it, so that a resumed run stops where an uninterrupted one does.
        return 0 < options.patience <= self.position.epoch - self.position.best_epoch

    def restore(self, optimisers: dict[str, dict[str, Tensor]], best: dict[str, Tensor] | None) -> None:
        """Continues from a checkpoint."""
        self.best = best
        self._create_optimisers()
        for name, flat in optimisers.items():
            _load_adam(self.optimisers[name], flat)

    def _create_optimisers(self) -> None:
        if self.optimisers:
            return
        for name, spec in self.stage.optimisers.items():
            self.optimisers[name] = torch.optim.Adam(
                list(spec.parameters), lr=spec.learning_rate, weight_decay=spec.weight_decay, fused=True
            )
        moved = {id(one) for adam in self.optimisers.values() for group in adam.param_groups for one in group["params"]}
        self.fixed = frozenset(name for name, one in self.method.named_parameters() if id(one) not in moved)

    def _train_one_epoch(self, options: FitOptions) -> None:
        terms: dict[str, list[float]] = {}
        batches = 0
        for batch in self.feed.epoch(self.method, self.randomness, self.stage.nodes):
            batches += 1
            self._set_modes()
            found: dict[str, float] = {}
            for update in self.stage.updates:
                found.update(self._step(update.optimiser, update.loss(batch, self.randomness)))
            for name, value in found.items():
                terms.setdefault(name, []).append(value)
        self.feed.synchronise(self.method)
        probabilities = self.feed.predict(self.method)
        score, improved = self._select(probabilities, advance=True)
        epoch = Epoch(
            self.stage.name,
            self.position.epoch,
            self.stage.epochs,
            probabilities,
            self._score,
            improved,
        )
        with torch.no_grad():
            self.method.end_epoch(self.feed.batch, epoch)
        # A batch without a term has none of the nodes that it runs over.
        means = {name: math.fsum(values) / batches for name, values in terms.items()}
        record = EpochRecord(self.stage.name, self.position.epoch, means, score, improved)
        self.history.append(record)
        if options.on_epoch is not None:
            options.on_epoch(record, self.stage.epochs)

    def _set_modes(self) -> None:
        self.method.train()
        for part in self.stage.evaluates_parts:
            self.method.get_submodule(part).eval()

    def _step(self, optimiser: str, terms: Terms) -> dict[str, float]:
        if not terms:  # nothing to learn from this time, for instance an empty selection of nodes
            return {}
        values = torch.stack(list(terms.values()))
        adam = self.optimisers[optimiser]
        adam.zero_grad(set_to_none=True)
        values.sum().backward()  # type: ignore[no-untyped-call]
        self.feed.reduce_gradients(parameter for group in adam.param_groups for parameter in group["params"])
        adam.step()
        plain = dict(zip(terms, values.tolist(), strict=True))
        require_finite(plain, "The loss", self.stage.name, self.position.epoch)
        return plain

    def _select(self, probabilities: Tensor, *, advance: bool = False) -> tuple[float, bool]:
        score = self._score(probabilities)
        keeps_last = self.selection.rule == "last" or not self.stage.selects
        improved = keeps_last or self.selection.improves(score, self.position.best_score)
        if improved:
            self.position.best_score = score
            self.position.best_epoch = self.position.epoch + advance
            if not keeps_last:  # the last state needs no copy
                self.best = self._changing()
        return score, improved

    def _changing(self) -> dict[str, Tensor]:
        """A copy of what epochs of the stage may change: buffers, and parameters that one of its optimisers moves."""
        state = self.method.state_dict()
        return {name: value.clone() for name, value in state.items() if name not in self.fixed}

    def _score(self, probabilities: Tensor) -> float:
        return self.selection.score(probabilities, self.method.given_distribution)

    def _save(self, path: Path) -> None:
        adams = {name: _flat_adam(adam) for name, adam in self.optimisers.items()}
        save_checkpoint(path, self.method, self.randomness, self.history, self.position, adams, self.best)


def require_finite(terms: dict[str, float], whose: str, stage: str, epoch: int) -> None:
    """Ends a run whose loss has left the real numbers, with what to do."""
    if not all(math.isfinite(value) for value in terms.values()):
        raise ConfigError(
            f"{whose} became infinite or not a number in epoch {epoch} of stage {stage!r} "
            f"({', '.join(f'{name} {value:g}' for name, value in terms.items())}). "
            "Lower `learning_rate` or the weight of that term."
        )


def _flat_adam(adam: torch.optim.Adam) -> dict[str, Tensor]:
    state = adam.state_dict()["state"]
    return {f"{index}.{name}": value for index, slots in state.items() for name, value in slots.items()}


def _load_adam(adam: torch.optim.Adam, flat: dict[str, Tensor]) -> None:
    whole = adam.state_dict()
    slots: dict[int, dict[str, Tensor]] = {}
    for key, value in flat.items():
        index, name = key.split(".")
        slots.setdefault(int(index), {})[name] = value
    whole["state"] = slots
    adam.load_state_dict(whole)
