"""Several seeds of one specification, one after another or together, in a folder from which a stopped run goes on.

::

    run/spec.json                           what was asked for, written first
    run/seed-0/model.safetensors, .json     a finished seed: model, record and history
    run/seed-1/checkpoint.safetensors       a seed at work; removed when it is finished
    run/result.json                         all seeds together, written last
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from lnp import __version__
from lnp.engine.files import write_text
from lnp.engine.fit import FitOptions
from lnp.engine.history import History
from lnp.engine.model_file import load_model, save_model
from lnp.engine.model_folder import FACTS
from lnp.engine.progress import OnEpoch
from lnp.errors import ConfigError, InputError, ModelFileError, check_range
from lnp.experiments.identity import matrix_digest
from lnp.experiments.protocol import get_protocol
from lnp.experiments.run import RunOutcome, run
from lnp.experiments.seed_groups import Records, train_in_groups
from lnp.experiments.spec import LATER, RunSpec
from lnp.experiments.together import run_together

__all__ = ["Runner", "Watch", "summarise", "train_seeds"]

SPEC, RESULT, CHECKPOINT = "spec.json", "result.json", "checkpoint.safetensors"

Watch = Callable[[str], AbstractContextManager[OnEpoch | None]]
"""From what is being trained ("seed 2 of 5") to a callback for its epochs."""


class Runner(Protocol):
    """What carries out one run."""

    def __call__(self, spec: RunSpec, *, device: str, options: FitOptions | None) -> RunOutcome:
        """Loads, corrupts, trains, predicts and scores."""
        ...


def train_seeds(
    spec: RunSpec,
    seeds: int,
    *,
    folder: Path | None = None,
    device: str = "cpu",
    watch: Watch | None = None,
    together: bool = False,
    runner: Runner = run,
) -> list[dict[str, Any]]:
    """Runs seeds 0 … ``seeds`` − 1 and returns their records as plain values.

    With a folder, seeds that are finished there are read and not run again, and one that was stopped goes on from its
    last checkpoint, to the same bits as if it had never been stopped (on the CPU). A folder with another specification
    is an error. A first run that cannot be done leaves nothing behind.

    Args:
        spec: What to run; its own ``seed`` is not used.
        seeds: How many.
        folder: Where to keep models, or ``None``.
        device: Where to compute.
        watch: Shows progress.
        together: Train in lock-step the seeds that have not begun (see :mod:`lnp.engine.lockstep`), a group of them on
            each core, with the same results up to rounding; an error where they cannot. Seeds that were stopped on the
            way go on one by one.
        runner: Takes the place of :func:`~lnp.experiments.run.run`, to share a run among processes for instance.
    """
    check_range("seeds", seeds, 1, 1e6)
    watch = watch or (lambda label: nullcontext())
    existed = folder is None or folder.exists()
    is_new = folder is not None and _claim(folder, spec)
    records = []
    done: Records = {}
    try:
        if together:
            _train_together(spec, seeds, folder, device, watch, done)
    except InputError:
        if folder is not None and is_new:
            _abandon(folder, keep=existed)
        raise
    for seed in range(seeds):
        if seed in done:
            records.append(done[seed])
            continue
        try:
            with watch(f"seed {seed + 1} of {seeds}") as on_epoch:
                records.append(_train_one(replace(spec, seed=seed), folder, device, on_epoch, runner))
        except InputError:
            if folder is not None and is_new and seed == 0:
                _abandon(folder, keep=existed)
            raise
    if folder is not None:
        write_text(folder / RESULT, json.dumps(summarise(records), indent=2, allow_nan=False) + "\n")
    return records


def summarise(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One object for all seeds: what was asked for once, what was found as lists with one value per seed.

    ``realised_rate`` is the mean over the seeds. ``noise`` is the name as asked for, ``noise_draw`` the one that the
    protocol made of it; ``trusted_size`` is ``None`` where the protocol trusts a share of the training nodes.
    ``peak_rss_mib`` is the process's largest memory up to the end of each seed.
    """
    spec, config = records[0]["spec"], records[0]["config"]
    by_share = get_protocol(spec["protocol"]).trusted_share is not None
    columns = {
        key: [record[key] for record in records] for key in ("epochs", "seconds", "seconds_per_epoch", "peak_rss_mib")
    }
    return {
        "dataset": spec["dataset"],
        "noise": spec["noise"],
        "noise_draw": records[0]["noise"],
        "rate": spec["rate"],
        "realised_rate": math.fsum(record["realised_rate"] for record in records) / len(records),
        "protocol": spec["protocol"],
        "selection": records[0]["selection"],
        "trusted_size": None if by_share else spec["trusted_size"],
        "scaling": spec["scaling"],
        "method": spec["method"],
        "backbone": config["backbone"],
        "batch": spec.get("batch", "full"),
        "config": config,
        "seeds": [record["spec"]["seed"] for record in records],
        "test_accuracy": [record["test_accuracy"] for record in records],
        "noise_detection": {
            "ap": [record["detection_ap"] for record in records],
            "auroc": [record["detection_auroc"] for record in records],
        },
        **columns,
    }


def _train_together(spec: RunSpec, seeds: int, folder: Path | None, device: str, watch: Watch, done: Records) -> None:
    """Trains the seeds that have not begun, a group of them on each core, and puts their records into ``done``."""
    homes = {seed: folder / f"seed-{seed}" for seed in range(seeds)} if folder is not None else {}
    new = [
        seed
        for seed in range(seeds)
        if seed not in homes or not ((homes[seed] / FACTS).exists() or (homes[seed] / CHECKPOINT).exists())
    ]
    if len(new) < 2:
        return
    train = partial(_train_group, spec, homes, device)

    def watched(group: Sequence[int]) -> Records:
        with watch(f"{len(new)} of {seeds} seeds together") as on_epoch:
            return train(group, on_epoch)

    done.update(train_in_groups(watched, train, new))


def _train_group(
    spec: RunSpec, homes: dict[int, Path], device: str, group: Sequence[int], on_epoch: OnEpoch | None = None
) -> Records:
    """Trains some seeds in lock-step, and keeps them where they have a home."""
    checkpoints = [homes[seed] / CHECKPOINT for seed in group] if homes else None
    options = FitOptions(on_epoch=on_epoch)
    outcomes = run_together(spec, group, device=device, options=options, checkpoints=checkpoints, keep_memory=True)
    records: Records = {}
    for seed, outcome in zip(group, outcomes, strict=True):
        records[seed] = outcome.record.to_json()
        if homes:
            _save(homes[seed], replace(spec, seed=seed), outcome)
            (homes[seed] / CHECKPOINT).unlink(missing_ok=True)
    return records


def _train_one(
    spec: RunSpec, folder: Path | None, device: str, on_epoch: OnEpoch | None, runner: Runner
) -> dict[str, Any]:
    if folder is None:
        return runner(spec, device=device, options=FitOptions(on_epoch=on_epoch)).record.to_json()
    home = folder / f"seed-{spec.seed}"
    checkpoint = home / CHECKPOINT
    if (home / FACTS).exists():
        record = _finished(home)
    else:
        outcome = runner(spec, device=device, options=FitOptions(on_epoch=on_epoch, checkpoint=checkpoint))
        record = outcome.record.to_json()
        _save(home, spec, outcome)
    checkpoint.unlink(missing_ok=True)
    return record


def _save(home: Path, spec: RunSpec, outcome: RunOutcome) -> None:
    graph = outcome.dataset.graph
    save_model(
        home,
        name=spec.method,
        method=outcome.method,
        graph=graph,
        observed=outcome.task.observed,
        train=outcome.task.split.train,
        batch=None if spec.batch == "full" else outcome.batch,
        scaling=spec.scaling or outcome.dataset.scaling,
        about={
            "spec": asdict(spec),
            "record": outcome.record.to_json(),
            "history": _rows(outcome.result.history),
            "node_ids": None if graph.node_ids is None else list(graph.node_ids),
        },
    )


def _rows(history: History) -> list[dict[str, object]]:
    """JSON knows no not-a-number, which is the score of the rule ``last``."""
    return [{**row, "score": row["score"] if row["score"] == row["score"] else None} for row in history.to_json()]


def _finished(home: Path) -> dict[str, Any]:
    record = load_model(home).about.get("record")
    if not isinstance(record, dict):
        raise ModelFileError(f"Expected {home / FACTS} to hold the record of a run, but it does not. Remove {home}.")
    return record


def _claim(folder: Path, spec: RunSpec) -> bool:
    """Writes what was asked for, or compares it with what the folder was made for. Whether the folder is new."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"Expected {folder} to be a folder for the run, but it is a file. Choose another.")
    if (folder / FACTS).exists():
        raise ConfigError(f"Expected {folder} to be free for the run, but it holds a model. Choose another folder.")
    path, wanted = folder / SPEC, _identity(spec)
    if not path.exists():
        if any(folder.glob(f"seed-*/{FACTS}")):
            raise ConfigError(
                f"Expected {folder} to be new or to have a {SPEC}, but it has models and none. Choose another folder."
            )
        write_text(path, json.dumps({"lnp": __version__, **wanted}, indent=2) + "\n")
        return True
    try:
        present = _flat(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, OSError, KeyError, TypeError, AttributeError) as error:
        raise ModelFileError(f"{path} does not describe a run ({error}). Remove {folder} to start anew.") from error
    for name, value in _flat(wanted).items():
        found = present.get(name, LATER.get(name))  # folders of earlier versions know fewer options
        if found != value:
            raise ConfigError(
                f"Expected {folder} to be a new folder or to hold the same run, but it holds one with {name} "
                f"{found!r} instead of {value!r}. Choose another folder, or remove that one."
            )
    return False


def _identity(spec: RunSpec) -> dict[str, Any]:
    """What makes two runs the same, however their options were written; JSON values."""
    parts = {key: value for key, value in asdict(spec).items() if key not in ("seed", "preset", "options")}
    if spec.batch == "full":
        parts.pop("batch")  # folders of earlier versions do not say so
    if spec.protocol == "strict" and spec.selection is None:
        parts["rule"] = spec.rule  # earlier versions had another one, and two must not be mixed
    if (matrix := matrix_digest(spec.noise)) is not None:
        parts["matrix"] = matrix  # the file may be another one by now
    identity: dict[str, Any] = json.loads(json.dumps({**parts, "config": asdict(spec.config())}))
    return identity


def _flat(identity: dict[str, Any]) -> dict[str, Any]:
    return {**{name: value for name, value in identity.items() if name != "config"}, **identity["config"]}


def _abandon(folder: Path, *, keep: bool) -> None:
    (folder / SPEC).unlink(missing_ok=True)
    first = folder / "seed-0"
    (first / CHECKPOINT).unlink(missing_ok=True)
    with suppress(OSError):  # not there, or somebody else's files are in it
        first.rmdir()
    if not keep:
        with suppress(OSError):
            folder.rmdir()
