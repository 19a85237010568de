"""Files that are either whole or absent: everything is written beside its place and then moved there."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from lnp.errors import ModelFileError

__all__ = ["alone_in", "atomic_path", "read_tensors", "write_tensors", "write_text"]


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary path in the same folder that becomes ``path`` if the block succeeds and vanishes if it does not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Writes a whole text file."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_tensors(path: Path, tensors: dict[str, Tensor], about: Mapping[str, object]) -> None:
    """Writes tensors and a JSON object about them into one safetensors file."""
    with atomic_path(path) as temporary:
        # Clones, because the format refuses tensors that share memory, and networks may share parameters.
        whole = {name: value.clone(memory_format=torch.contiguous_format) for name, value in tensors.items()}
        save_file(whole, temporary, {"about": json.dumps(about)})


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, object]]:
    """Reads what :func:`write_tensors` wrote."""
    if not path.is_file():
        raise ModelFileError(f"Expected a model file at {path}, but there is none.")
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
            about = json.loads((file.metadata() or {})["about"])
    except (SafetensorError, KeyError, ValueError, OSError) as error:
        raise ModelFileError(
            f"{path} is not a readable model file ({error}). It may be truncated; write it again."
        ) from error
    return tensors, about


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """One process at a time, so that none overwrites what another has just added. A process that ends lets go."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
