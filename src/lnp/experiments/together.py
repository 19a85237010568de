"""Several seeds of one specification in lock-step.

Only seeds with as many labels of each kind can be: random splits round the shares of a class by chance, so T_N may have
a node more or less. Those that are alike go together, and one that is like no other goes alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lnp.datasets.catalog import load_dataset
from lnp.engine.allocator import has_room, keep_freed_memory
from lnp.engine.fit import FitOptions, FitResult, fit
from lnp.engine.lockstep.adapt import check_together
from lnp.engine.lockstep.fit import fit_together
from lnp.engine.memory import preflight
from lnp.errors import ConfigError
from lnp.experiments.run import RunOutcome, evaluate
from lnp.experiments.spec import RunSpec
from lnp.experiments.tasks import task_of
from lnp.methods.batch import Batch, full_batch
from lnp.methods.registry import create_method
from lnp.seeds import Seeds

__all__ = ["run_together"]


def run_together(
    spec: RunSpec,
    seeds: Sequence[int],
    *,
    device: str = "cpu",
    options: FitOptions | None = None,
    checkpoints: Sequence[Path] | None = None,
    keep_memory: bool = False,
) -> list[RunOutcome]:
    """What :func:`~lnp.experiments.run.run` does, for several seeds at once.

    Args:
        spec: What to run; its own ``seed`` is not used.
        seeds: The seeds.
        device: Where to compute.
        options: As for :func:`~lnp.engine.lockstep.fit.fit_together`.
        checkpoints: A file for each seed.
        keep_memory: Whether this process may keep what it frees (:mod:`lnp.engine.allocator`): stacks are made and
            thrown away in every step.

    Returns:
        One outcome per seed.

    Raises:
        ConfigError: These seeds have to run one after another.
    """
    if spec.batching.kind != "full":
        raise ConfigError("Expected seeds to be trained together on the full batch, but got mini-batches.")
    options = replace(options or FitOptions(), patience=spec.patience)
    dataset = load_dataset(spec.dataset)
    streams = [Seeds(seed) for seed in seeds]
    tasks = [task_of(spec, dataset, stream, device=device, on_epoch=options.on_epoch) for stream in streams]
    tasks = [replace(task, graph=tasks[0].graph) for task in tasks]  # scaled alike: one copy serves all
    batches = [full_batch(task.graph, task.observed, task.split.train, device=device) for task in tasks]
    methods = [
        create_method(spec.method, spec.config(), batch, stream.generator("initialisation"))
        for batch, stream in zip(batches, streams, strict=True)
    ]
    needed = len(seeds) * preflight(spec.method, spec.config(), batches[0])
    if keep_memory and has_room(needed):
        options = replace(options, on_epoch=keep_freed_memory(needed, options.on_epoch))
    check_together(2 * methods[:1], 2 * batches[:1])  # whatever the sizes are
    selections, randomness = [task.selection for task in tasks], [stream.randomness() for stream in streams]
    results: dict[int, FitResult] = {}
    for alike in _alike(batches):
        first = alike[0]
        paths = None if checkpoints is None else [checkpoints[place] for place in alike]
        if len(alike) == 1:
            alone = options if paths is None else replace(options, checkpoint=paths[0])
            results[first] = fit(methods[first], batches[first], selections[first], randomness[first], alone)
            continue
        rows = [[column[place] for place in alike] for column in (methods, batches, selections, randomness)]
        results |= zip(alike, fit_together(*rows, checkpoints=paths, options=options), strict=True)  # type: ignore[arg-type]
    outcomes = []
    for place, (seed, task, batch, method) in enumerate(zip(seeds, tasks, batches, methods, strict=True)):
        result = results[place]
        quality = method.label_quality(batch, result.probabilities).cpu().numpy()
        record = evaluate(replace(spec, seed=seed), dataset, task, result, quality)
        outcomes.append(RunOutcome(record, dataset, task, batch, method, result, quality))
    return outcomes


def _alike(batches: Sequence[Batch]) -> list[list[int]]:
    """The places of batches with as many nodes in T_N and in T_C."""
    groups: dict[tuple[int, int], list[int]] = {}
    for place, batch in enumerate(batches):
        groups.setdefault((batch.noisy.numel(), batch.trusted.numel()), []).append(place)
    return list(groups.values())
