"""The epoch loop for several seeds of one method.

:func:`fit_together` does what :func:`lnp.engine.fit.fit` does, for every seed at once: the parameters of all seeds lie
in one tensor each, one Adam moves them, and each seed has its own labels, draws, selected epoch and history. On a small
graph most of an epoch is the overhead of many short operations, and five seeds share it. What comes out is what
separate fits give, up to the rounding of floating point numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from lnp.engine.checkpoint import Position, save_checkpoint
from lnp.engine.feed import predict
from lnp.engine.fit import FitOptions, FitResult, require_finite
from lnp.engine.history import EpochRecord, History
from lnp.engine.lockstep.adapt import check_together, template
from lnp.engine.lockstep.network import StackedGCN
from lnp.engine.lockstep.products import StackedGraph
from lnp.engine.lockstep.state import StackedState
from lnp.engine.selection import Selection
from lnp.methods.base import Epoch, LossFunction, Method, Stage, Terms
from lnp.methods.batch import Batch
from lnp.nn.graph_tensors import GraphTensors
from lnp.seeds import Generator, Randomness

__all__ = ["fit_together"]


def fit_together(
    methods: Sequence[Method],
    batches: Sequence[Batch],
    selections: Sequence[Selection],
    randomness: Sequence[Randomness],
    *,
    checkpoints: Sequence[Path] | None = None,
    options: FitOptions | None = None,
) -> list[FitResult]:
    """Trains one method per seed and leaves each in its selected state.

    Args:
        methods: Fresh methods of the same name and configuration, one per seed.
        batches: What each of them sees.
        selections: By what its epoch is selected.
        randomness: Its streams.
        checkpoints: A file per seed to write checkpoints to. Each is one of :func:`~lnp.engine.fit.fit`, which goes on
            from it with that seed alone.
        options: Without ``checkpoint``. ``on_epoch`` is called once an epoch, with the record of a seed that is still
            training. A seed that runs out of patience waits for the others, and its streams with it.

    Returns:
        One result per seed; ``seconds`` is an equal share of the whole time.

    Raises:
        ConfigError: These seeds cannot run together; ask :func:`~lnp.engine.lockstep.adapt.objection` first.
    """
    options = options or FitOptions()
    check_together(methods, batches)
    started = time.perf_counter()
    loop = _Lockstep(methods, batches, selections, randomness)
    try:
        loop.run(options, checkpoints)
    finally:
        loop.state.release()
    seconds = (time.perf_counter() - started) / len(methods)
    return [
        FitResult(predict(method, batch), history, seconds)
        for method, batch, history in zip(methods, batches, loop.histories, strict=True)
    ]


class _Lockstep:
    """All seeds, their common state, and where they stand."""

    def __init__(
        self,
        methods: Sequence[Method],
        batches: Sequence[Batch],
        selections: Sequence[Selection],
        randomness: Sequence[Randomness],
    ) -> None:
        self.methods, self.batches, self.selections, self.randomness = methods, batches, selections, randomness
        self.count = len(methods)
        self.template = template(methods[0])
        self.networks = [part for part in self.template.method.modules() if isinstance(part, StackedGCN)]
        self.caller = _Caller(self.template.method)
        self.state = StackedState(methods)
        self.histories = [History() for _ in methods]
        self.positions = [Position() for _ in methods]
        self.best: list[dict[str, Tensor] | None] = [None] * self.count
        self.waiting: dict[int, dict[str, dict[str, object]]] = {}
        self.graph = StackedGraph(batches[0].graph, self.count)
        streams = Randomness.__dataclass_fields__
        self.streams = Randomness(
            **{name: cast("Generator", [getattr(one, name) for one in randomness]) for name in streams}
        )
        self.labels = {name: [getattr(one, name) for one in batches] for name in ("given", "noisy", "trusted")}
        self.shared = {
            name: rows[0] for name, rows in self.labels.items() if all(torch.equal(row, rows[0]) for row in rows)
        }
        self.stacked = {name: torch.stack(rows) for name, rows in self.labels.items() if name not in self.shared}

    def run(self, options: FitOptions, checkpoints: Sequence[Path] | None) -> None:
        """All stages."""
        begun = time.perf_counter()
        own = [method.stages(batch) for method, batch in zip(self.methods, self.batches, strict=True)]
        for number, stage in enumerate(self.template.stages(self.batches[0])):
            self.positions = [Position(stage=number) for _ in self.methods]
            self.best = [None] * self.count
            self._begin(stage, [stages[number] for stages in own])
            adams = self.create_optimisers(stage)
            for epoch in range(stage.epochs):
                self._stop_seeds(options)
                if not self.training:
                    break
                self._train_one_epoch(stage, adams, epoch, options)
                for seed in self.training:
                    self.positions[seed].epoch += 1
                if checkpoints and (epoch + 1) % options.checkpoint_every == 0 and epoch + 1 < stage.epochs:
                    seconds = (time.perf_counter() - begun) / self.count
                    self._save(checkpoints, adams, seconds)
            for seed, streams in self.waiting.items():
                self.randomness[seed].restore(streams)
            self.waiting.clear()
            for method, best in zip(self.methods, self.best, strict=True):
                if best is not None:
                    method.load_state_dict(best)

    @property
    def training(self) -> list[int]:
        """The seeds that have not run out of patience in this stage."""
        return [seed for seed in range(self.count) if seed not in self.waiting]

    def _stop_seeds(self, options: FitOptions) -> None:
        for seed in self.training:
            position = self.positions[seed]
            if 0 < options.patience <= position.epoch - position.best_epoch:
                self.waiting[seed] = self.randomness[seed].state()  # what is drawn for it from now on is not its own

    def create_optimisers(self, stage: Stage) -> dict[str, torch.optim.Adam]:
        """The optimisers of a stage, each over the stacks of its parameters."""
        return {
            name: torch.optim.Adam(
                self.state.select(self.template.method, spec.parameters),
                lr=spec.learning_rate,
                weight_decay=spec.weight_decay,
                fused=True,
            )
            for name, spec in stage.optimisers.items()
        }

    def _begin(self, stage: Stage, own: Sequence[Stage]) -> None:
        self._forget()  # the selected states of the stage before were loaded
        for method, batch, randomness, mine in zip(self.methods, self.batches, self.randomness, own, strict=True):
            if mine.begin is not None:
                method.eval()
                mine.begin(batch, randomness)
        if stage.keeps_start:
            for seed, probabilities in enumerate(self._predict()):
                self._select(stage, seed, probabilities)

    def _train_one_epoch(
        self, stage: Stage, adams: dict[str, torch.optim.Adam], epoch: int, options: FitOptions
    ) -> None:
        method = self.template.method
        method.train()
        for part in stage.evaluates_parts:
            method.get_submodule(part).eval()
        terms: list[dict[str, float]] = [{} for _ in self.methods]
        for update in stage.updates:
            losses = self._call(partial(_with_streams, update.loss, self.streams))
            for mine, values in zip(terms, self._step(stage, adams[update.optimiser], losses, epoch), strict=True):
                mine.update(values)
        predictions = self._predict()
        for seed in self.training:
            score, improved = self._select(stage, seed, predictions[seed], advance=True)
            self._end_epoch(stage, seed, epoch, predictions[seed], improved)
            self.histories[seed].append(EpochRecord(stage.name, epoch, terms[seed], score, improved))
        if options.on_epoch is not None:
            options.on_epoch(self.histories[self.training[0]].records[-1], stage.epochs)

    def _end_epoch(self, stage: Stage, seed: int, epoch: int, probabilities: Tensor, improved: bool) -> None:
        method, selection = self.methods[seed], self.selections[seed]
        if type(method).end_epoch is Method.end_epoch:
            return
        score = partial(_score, method, selection)
        facts = Epoch(stage.name, epoch, stage.epochs, probabilities, score, improved)
        with torch.no_grad():
            method.end_epoch(self.batches[seed], facts)

    def _call(self, function: Callable[[Batch], Any]) -> Any:
        """``function`` of every seed's batch, with every seed's parameters and buffers in the template."""

        def of_one_seed(state: dict[str, Tensor], labels: dict[str, Tensor]) -> Any:
            seen = {**self.shared, **labels}
            batch = Batch(cast("GraphTensors", self.graph), class_count=self.batches[0].class_count, **seen)
            common = self.state.common(self.training[0])
            whole = {f"method.{name}": value for name, value in {**state, **common}.items()}
            return torch.func.functional_call(self.caller, whole, (function, batch))

        return torch.func.vmap(of_one_seed)(self.state.tensors, self.stacked)

    @torch.no_grad()
    def _predict(self) -> tuple[Tensor, ...]:
        self.template.method.eval()
        probabilities: Tensor = self._call(self.template.method.predict)
        return probabilities.unbind()

    def _step(self, stage: Stage, adam: torch.optim.Adam, terms: Terms, epoch: int) -> list[dict[str, float]]:
        if not terms:
            return [{} for _ in self.methods]
        values = torch.stack(list(terms.values()), dim=1)
        adam.zero_grad(set_to_none=True)
        values.sum().backward()  # type: ignore[no-untyped-call]
        adam.step()
        self._forget()
        plain = [dict(zip(terms, row, strict=True)) for row in values.tolist()]
        for seed, row in enumerate(plain):
            require_finite(row, f"The loss of seed number {seed + 1}", stage.name, epoch)
        return plain

    def _forget(self) -> None:
        for network in self.networks:
            network.forget()

    def _select(self, stage: Stage, seed: int, probabilities: Tensor, *, advance: bool = False) -> tuple[float, bool]:
        selection, position = self.selections[seed], self.positions[seed]
        score = _score(self.methods[seed], selection, probabilities)
        keeps_last = selection.rule == "last" or not stage.selects
        improved = keeps_last or selection.improves(score, position.best_score)
        if improved:
            position.best_score = score
            position.best_epoch = position.epoch + advance
            if not keeps_last:
                self.best[seed] = {name: value.clone() for name, value in self.methods[seed].state_dict().items()}
        return score, improved

    def _save(self, paths: Sequence[Path], adams: dict[str, torch.optim.Adam], seconds: float) -> None:
        for seed, path in enumerate(paths):
            if seed in self.waiting:  # its last checkpoint is good: from there it stops at the same epoch
                continue
            slots = {name: _slots_of(adam, seed) for name, adam in adams.items()}
            position = replace(self.positions[seed], seconds=seconds)
            save_checkpoint(
                path, self.methods[seed], self.randomness[seed], self.histories[seed], position, slots, self.best[seed]
            )


def _score(method: Method, selection: Selection, probabilities: Tensor) -> float:
    return selection.score(probabilities, method.given_distribution)


def _with_streams(loss: LossFunction, streams: Randomness, batch: Batch) -> Terms:
    return loss(batch, streams)


class _Caller(nn.Module):
    """Lets :func:`torch.func.functional_call` exchange the state of a method around any call."""

    def __init__(self, method: Method) -> None:
        super().__init__()
        self.method = method

    def forward(self, function: Callable[[Batch], Any], batch: Batch) -> Any:
        """Calls the function."""
        return function(batch)


def _slots_of(adam: torch.optim.Adam, seed: int) -> dict[str, Tensor]:
    """One seed's part of the optimiser's state, named as in a checkpoint."""
    state = adam.state_dict()["state"]
    return {
        f"{index}.{name}": value if value.dim() == 0 else value[seed].clone()
        for index, slots in state.items()
        for name, value in slots.items()
    }
