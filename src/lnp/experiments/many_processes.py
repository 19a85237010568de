"""``lnp train --distributed``: one run shared by many processes, on one machine or several.

Process 0 leads. It alone loads the dataset, hides the truth, writes the hops of the features to a file (where there is
none yet, and after all have agreed that memory will do), and keeps models and checkpoints. It tells the others the
labels to learn from, the rule that selects, and what the last checkpoint holds; each then reads its own rows of the
hops from that file, so machines need to share the folder of the cache. A follower never sees a true label of a test
node. All end with the same method.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lnp.datasets.catalog import load_dataset
from lnp.engine.allocator import keep_freed_memory
from lnp.engine.available import memory_limit
from lnp.engine.distributed import DistributedFeed, share
from lnp.engine.fit import FitOptions, FitResult, fit
from lnp.engine.memory_together import preflight_together
from lnp.engine.process_group import ProcessGroup, process_group
from lnp.engine.selection import Selection
from lnp.engine.sizes import Sizes
from lnp.errors import ConfigError, DataError, InputError
from lnp.experiments.protocol import Task
from lnp.experiments.run import RunOutcome, evaluate
from lnp.experiments.spec import RunSpec
from lnp.experiments.tasks import task_of
from lnp.experiments.training import Watch, train_seeds
from lnp.methods.base import Method
from lnp.methods.batch import Batch, full_batch
from lnp.methods.registry import METHODS, create_method, entry
from lnp.nn.hops import HopRows, hops_identity, stored_hops
from lnp.nn.hops_file import HopsFile, hops_file
from lnp.seeds import Seeds

__all__ = ["CHECKPOINT_EVERY", "check_shareable", "train_together"]

CHECKPOINT_EVERY = 10
"""Epochs between checkpoints: fewer than on one process, because epochs are long and processes get lost."""

NEVER = 2**62


def train_together(
    spec: RunSpec,
    seeds: int,
    *,
    folder: Path | None = None,
    device: str = "cpu",
    watch: Watch | None = None,
    announce: Callable[[str], None] | None = None,
) -> list[dict[str, Any]] | None:
    """The same as :func:`~lnp.experiments.training.train_seeds`, called by every process that torchrun started.

    On process 0 ``announce`` takes a line on the memory of a large run.

    Returns:
        The records on process 0, ``None`` on all others.
    """
    check_shareable(spec)
    memory_limit()  # what the user allows is read before anybody waits for this process
    with process_group(device) as group:
        if group.rank > 0:
            _follow(group)
            return None
        try:
            runner = partial(_lead, group, announce)
            records = train_seeds(spec, seeds, folder=folder, device=device, watch=watch, runner=runner)
        except InputError:
            group.send({"end": True}, [])
            group.wait()  # the others end as after a run, and must not find this one gone
            raise
        group.send({"end": True}, [])
        return records


def check_shareable(spec: RunSpec) -> None:
    """Raises unless many processes can share the run."""
    if not entry(spec.method).method.in_parts:
        able = ", ".join(sorted(name for name, row in METHODS.items() if row.method.in_parts))
        raise ConfigError(
            f"Expected a method that many processes can share, but {spec.method} needs the whole graph. Those that "
            f"can: {able}."
        )
    if spec.batch != "full":
        raise ConfigError(
            f"Expected `batch` full with many processes, whose parts are their shares, but got {spec.batch}."
        )
    backbone = spec.config().backbone
    if backbone != "sign":
        raise ConfigError(
            f"Expected `--backbone sign` with `--distributed`, but got {backbone}: only with hops computed beforehand "
            "does a process need no other rows than its own."
        )


def _lead(
    group: ProcessGroup,
    announce: Callable[[str], None] | None,
    spec: RunSpec,
    *,
    device: str,
    options: FitOptions | None,
) -> RunOutcome:
    dataset = load_dataset(spec.dataset)
    watched = options.on_epoch if options else None
    task = task_of(spec, dataset, Seeds(spec.seed), device=device, on_epoch=watched)
    config = spec.config()
    sizes = Sizes.of(task.graph, copies=1 if task.graph.features is dataset.graph.features else 2)
    labels = full_batch(task.graph, task.observed, task.split.train)
    options = replace(options or FitOptions(), patience=spec.patience, checkpoint_every=CHECKPOINT_EVERY)
    message = {
        "end": False,
        "spec": asdict(spec),
        "hops": hops_identity(task.graph, config.propagation, config.layers),
        "sizes": asdict(sizes),
        "rule": task.selection.rule,
    }
    selecting = [torch.from_numpy(task.selection.nodes), torch.from_numpy(task.selection.labels), _transition(task)]
    group.send(message, [labels.given, labels.noisy, labels.trusted, *selecting, _contents(options.checkpoint)])
    needed = preflight_together(group, spec.method, config, sizes, graph=spec.dataset, announce=announce)
    try:
        file = stored_hops(task.graph, config.propagation, config.layers)
    except InputError:
        _all_go_on(group, False)
        raise
    _all_go_on(group, True)
    if needed is not None:
        options = replace(options, on_epoch=keep_freed_memory(needed, options.on_epoch, beforehand=True))
    batch, method, result = _train(
        group, spec, file, labels.class_count, [labels.given, labels.noisy, labels.trusted], task.selection, options
    )
    quality = method.label_quality(batch, result.probabilities).cpu().numpy()
    record = evaluate(spec, dataset, task, result, quality)
    return RunOutcome(record, dataset, task, batch, method, result, quality)


def _follow(group: ProcessGroup) -> None:
    """Takes part in every run until process 0 says that it was the last."""
    while True:
        message, tensors = group.receive()
        if message["end"]:
            return
        given, noisy, trusted, nodes, chosen, transition, contents = tensors
        spec = RunSpec(**message["spec"])
        known = transition.numpy() if transition.numel() else None
        selection = Selection(message["rule"], nodes.numpy(), chosen.numpy(), known)
        with tempfile.TemporaryDirectory(prefix="lnp-") as folder:
            checkpoint = Path(folder) / "checkpoint.safetensors" if contents.numel() else None
            if checkpoint is not None:
                checkpoint.write_bytes(contents.numpy().tobytes())
            # Process 0 alone writes checkpoints; all have the same state.
            options = FitOptions(patience=spec.patience, checkpoint=checkpoint, checkpoint_every=NEVER)
            sizes = Sizes(**message["sizes"])
            try:
                needed = preflight_together(group, spec.method, spec.config(), sizes, graph=spec.dataset)
            except InputError:  # process 0 says it
                continue
            if not _all_go_on(group, True):
                continue
            if needed is not None:
                options = replace(options, on_epoch=keep_freed_memory(needed, beforehand=True))
            file = hops_file(message["hops"])
            try:
                _train(group, spec, file, sizes.classes, [given, noisy, trusted], selection, options)
            except InputError:  # process 0 has met the same and says it, unless it is this process's own
                if file is None:
                    raise


def _all_go_on(group: ProcessGroup, willing: bool) -> bool:
    """Waits until process 0 has the hops; whether it has."""
    return bool(group.least(torch.tensor(int(willing), device=group.device)))


def _train(
    group: ProcessGroup,
    spec: RunSpec,
    file: HopsFile | None,
    class_count: int,
    labels: list[Tensor],
    selection: Selection,
    options: FitOptions,
) -> tuple[Batch, Method, FitResult]:
    found = group.least(torch.tensor(int(file is not None), device=group.device))
    if file is None:
        raise DataError(
            f"Expected process {group.rank} to find the hops that process 0 wrote, but there are none. Let the "
            "machines share one folder and set XDG_CACHE_HOME to it."
        )
    if not int(found):
        raise DataError("Expected every process to find the hops that process 0 wrote, but one did not.")
    config, seeds = spec.config(), Seeds(spec.seed)
    given, noisy, trusted = (one.to(group.device) for one in labels)
    mapped = HopRows(torch.from_numpy(file.mapped()), config.propagation)
    own = torch.from_numpy(file.read(share(file.shape[1], group.rank, group.size))).to(group.device)
    whole = Batch(graph=mapped, given=given, noisy=noisy, trusted=trusted, class_count=class_count)  # type: ignore[arg-type]
    watched = torch.from_numpy(selection.nodes).to(group.device)
    feed = DistributedFeed(group, whole, HopRows(own, config.propagation), watched)
    method = create_method(spec.method, config, whole, seeds.generator("initialisation"))
    if group.device.type != "cpu" and any(stage.begin is not None for stage in method.stages(whole)):
        raise ConfigError(f"Expected `--device cpu` with {spec.method}, which looks at the whole graph between stages.")
    result = fit(method, feed, selection, seeds.randomness(), options)
    return whole, method, replace(result, probabilities=feed.predict_all(method))


def _transition(task: Task) -> Tensor:
    """The noise matrix by which an epoch is chosen; no number where there is none."""
    return torch.zeros(0) if task.selection.transition is None else torch.from_numpy(task.selection.transition)


def _contents(checkpoint: Path | None) -> Tensor:
    if checkpoint is None or not checkpoint.exists():
        return torch.zeros(0, dtype=torch.uint8)
    return torch.frombuffer(bytearray(checkpoint.read_bytes()), dtype=torch.uint8)
