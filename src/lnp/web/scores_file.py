"""An audit on disk: from the process that trained to the one that serves, and from one review to the next.

An npz file of the table's arrays, no pickle, and a line that says what the scores are of.
"""

from __future__ import annotations

import dataclasses
import zipfile
from pathlib import Path

import numpy as np

from lnp.audit.table import AuditTable
from lnp.engine.files import atomic_path
from lnp.errors import DataError

__all__ = ["read_scores", "read_scores_of", "write_scores"]

ABOUT = "about"


def write_scores(path: Path, table: AuditTable, about: str = "") -> None:
    """Writes every field of the table, and what the scores are of."""
    fields = {field.name: np.asarray(getattr(table, field.name)) for field in dataclasses.fields(table)}
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **fields, **{ABOUT: np.asarray(about)})  # type: ignore[arg-type]


def read_scores(path: Path) -> AuditTable:
    """Reads what :func:`write_scores` wrote."""
    table, _ = _read(path)
    return table


def read_scores_of(path: Path, about: str) -> AuditTable | None:
    """The scores in the file if they are of this; ``None`` where there is no file or they are of something else."""
    if not path.is_file():
        return None
    try:
        table, said = _read(path)
    except DataError:
        return None  # of another version, or damaged: they can be made again
    return table if said == about else None


def _read(path: Path) -> tuple[AuditTable, str]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            fields = {name: arrays[name] for name in arrays.files}
        about = str(fields.pop(ABOUT))
        fields["class_names"] = tuple(str(name) for name in fields["class_names"])
        fields["scorer"] = str(fields["scorer"])
        return AuditTable(**fields), about
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"Expected {path} to hold the scores of an audit, but got: {error}.") from error
