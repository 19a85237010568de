"""The two files of a saved model, ``model.safetensors`` and ``model.json``, written as one and checked when read.

A crash while saving leaves the earlier model or the new one. Both files carry the fingerprint of the model they belong
to, and the tensors carry a copy of the facts, so that a save cut off between the two files still reads as the new one.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

from torch import Tensor

from lnp import __version__
from lnp.engine.files import read_tensors, write_tensors, write_text
from lnp.errors import ConfigError, ModelFileError

__all__ = [
    "FACTS",
    "FORMAT",
    "TENSORS",
    "UNFINISHED",
    "read_folder",
    "require_folder",
    "require_no_part",
    "write_folder",
]

FORMAT = 1
"""The version of the format that this code writes; it reads this one and those before."""

TENSORS, FACTS = "model.safetensors", "model.json"

UNFINISHED = "unfinished"
"""Beside several models while they are trained: without all of them they are not what was asked for."""

KINDS: dict[str, type] = {
    "format": int,
    "fingerprint": str,
    "lnp": str,
    "method": str,
    "config": dict,
    "class_names": list,
    "nodes": int,
    "features": int,
    "graph": str,
    "checksum": str,
    "scaling": str,
    "about": dict,
}
"""What model.json must hold."""


def require_folder(folder: Path) -> None:
    """Raises where ``folder`` is something else."""
    if folder.exists() and not folder.is_dir():
        raise ModelFileError(f"Expected {folder} to be a folder to save a model in, but it is a file.")


def require_no_part(path: Path) -> None:
    """Raises where a file to write would take the place of a file of a model; others may lie beside it."""
    from lnp.datasets.kept_labels import KEPT  # with what reads tables, which a benchmark does not need

    if path.name in (FACTS, TENSORS, KEPT) and (path.parent / FACTS).exists():
        raise ConfigError(f"Expected another file than {path}, which belongs to the model in {path.parent}.")


def write_folder(folder: Path, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
    """Writes both files through a folder beside this one; other files of the folder stay."""
    require_folder(folder)
    try:
        text = json.dumps(facts, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"Expected `about` and the options to be plain JSON values, but: {error}.") from error
    facts = {**facts, "fingerprint": _fingerprint(text, tensors)}
    staging = folder.parent / f".{folder.resolve().name}.{os.getpid()}.tmp"
    try:
        write_tensors(staging / TENSORS, tensors, facts)
        write_text(staging / FACTS, json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
        if folder.exists():
            for name in (TENSORS, FACTS):  # the tensors first: from then on the folder reads as the new model
                os.replace(staging / name, folder / name)
        else:
            os.rename(staging, folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def read_folder(folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the facts of one saved model."""
    for path in (folder / FACTS, folder / TENSORS):
        if not path.is_file():
            raise ModelFileError(
                f"Expected a saved model in {folder}, but there is no {path.name}. Give the folder it was saved to."
            )
    path = folder / FACTS
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise ModelFileError(f"{path} is not readable JSON ({error}). Save the model again.") from error
    _check_facts(path, facts)
    tensors, copy = read_tensors(folder / TENSORS)
    if copy.get("fingerprint") != facts["fingerprint"]:  # a save was cut off between the two files
        _check_facts(folder / TENSORS, copy)
        facts = copy
    return tensors, facts


def _check_facts(path: Path, facts: object) -> None:
    if not isinstance(facts, dict) or not isinstance(facts.get("format"), int):
        raise ModelFileError(f"{path} does not describe a saved model. Give the folder that a model was saved to.")
    if not 1 <= facts["format"] <= FORMAT:
        raise ModelFileError(
            f"{path} has format {facts['format']}, written by lnp {facts.get('lnp', 'of another version')}, but lnp "
            f"{__version__} reads formats up to {FORMAT}. Install that version to read it."
        )
    for key, kind in KINDS.items():
        if not isinstance(facts.get(key), kind):
            state = f"got {facts[key]!r}" if key in facts else "it is missing"
            raise ModelFileError(
                f"Expected `{key}` of {path} to be a {kind.__name__}, but {state}. Save the model again."
            )


def _fingerprint(text: str, tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256(text.encode())
    for key, value in sorted(tensors.items()):
        digest.update(key.encode())
        digest.update(value.contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]
