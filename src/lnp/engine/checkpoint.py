"""Checkpoints: everything that the rest of a run depends on, in one file without pickle."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from lnp.engine.files import read_tensors, write_tensors
from lnp.engine.history import History
from lnp.errors import ModelFileError
from lnp.methods.base import Method
from lnp.seeds import Randomness

__all__ = ["Position", "Resumed", "load_checkpoint", "save_checkpoint"]


@dataclass
class Position:
    """Where the loop stands: stage and epoch to run next, the best score so far, and the time already spent."""

    stage: int = 0
    epoch: int = 0
    best_score: float | None = None
    best_epoch: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Resumed:
    """What a checkpoint holds besides the method's state, which is loaded in place."""

    history: History
    position: Position
    optimisers: dict[str, dict[str, Tensor]]
    best: dict[str, Tensor] | None


def save_checkpoint(
    path: Path,
    method: Method,
    randomness: Randomness,
    history: History,
    position: Position,
    optimisers: dict[str, dict[str, Tensor]],
    best: dict[str, Tensor] | None,
) -> None:
    """Writes the checkpoint; a reader sees the old file or the new one, never a part."""
    tensors = {f"state/{name}": value for name, value in method.state_dict().items()}
    tensors |= {f"best/{name}": value for name, value in (best or {}).items()}
    for optimiser, slots in optimisers.items():
        tensors |= {f"optimiser/{optimiser}/{name}": value for name, value in slots.items()}
    about = {
        "method": type(method).__name__,
        "config": asdict(method.config),
        "randomness": randomness.state(),
        "history": history.to_json(),
        "position": asdict(position),
    }
    write_tensors(path, tensors, about)


def load_checkpoint(path: Path, method: Method, randomness: Randomness) -> Resumed | None:
    """Loads a checkpoint into ``method`` and ``randomness``; ``None`` where there is no file."""
    if not path.exists():
        return None
    tensors, about = read_tensors(path)
    facts: dict[str, Any] = about
    missing = {"method", "config", "randomness", "history", "position"} - facts.keys()
    if missing:
        raise ModelFileError(f"{path} is not a checkpoint: it lacks {', '.join(sorted(missing))}.")
    config = json.loads(json.dumps(asdict(method.config)))  # as a file gives it back: tuples are lists there
    if facts["method"] != type(method).__name__ or facts["config"] != config:
        raise ModelFileError(
            f"{path} was written by {facts['method']} with another configuration. Remove it to start anew, or use the "
            "configuration it was written with."
        )
    groups: dict[str, dict[str, Tensor]] = {"state": {}, "best": {}, "optimiser": {}}
    for key, value in tensors.items():
        group, name = key.split("/", 1)
        groups[group][name] = value
    try:
        method.load_state_dict(groups["state"])
    except RuntimeError as error:
        raise ModelFileError(
            f"{path} was written for a graph with other features or classes. Remove it to start anew."
        ) from error
    randomness.restore(facts["randomness"])
    optimisers: dict[str, dict[str, Tensor]] = {}
    for key, value in groups["optimiser"].items():
        optimiser, name = key.split("/", 1)
        optimisers.setdefault(optimiser, {})[name] = value
    return Resumed(
        history=History.from_json(facts["history"]),
        position=Position(**facts["position"]),
        optimisers=optimisers,
        best=groups["best"] or None,
    )
