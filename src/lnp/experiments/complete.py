"""Grids that were found complete before: known again without planning them, so without loading torch or any graph.

Records are never deleted, so a grid that was complete once is complete for good, as long as it is the same grid: the
same question, asked of the same package, on the same data files. A digest of the first two and a list of the third are
kept in the store (table ``grids``). Whatever differs, the grid is planned as if nothing were known.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import lnp
from lnp.experiments.store_file import open_store_file

if TYPE_CHECKING:
    from lnp.experiments.reproduce import Plan
    from lnp.experiments.store import Store

__all__ = ["Question", "list_files", "note_complete", "runs_if_complete"]

TABLE = """
CREATE TABLE IF NOT EXISTS grids (question TEXT PRIMARY KEY, files TEXT NOT NULL, runs INTEGER NOT NULL) WITHOUT ROWID
"""
"""Made when it is first needed, so that a store of an older version, which knows nothing of it, is read as it is."""

CODE = (".py", ".toml", ".json")
"""Files of the package that determine which runs a grid has and what identifies them."""

ENVIRONMENT = ("LNP_DATA", "XDG_CACHE_HOME", "HOME")
"""Variables that say in which folders data files are."""


@dataclass(frozen=True)
class Question:
    """What was asked.

    Args:
        name: A table or figure, or "all".
        choice: The fields of :class:`~lnp.experiments.grid.Choice`.
        any_code: Whether runs of other code count.
    """

    name: str
    choice: Mapping[str, object]
    any_code: bool = False

    @cached_property
    def digest(self) -> str | None:
        """Of question, package and environment when it was first asked for; ``None`` where no data file is watched."""
        return self.digest_now()

    def digest_now(self) -> str | None:
        """The same as things are now."""
        if "path=" in str(self.choice.get("datasets")):
            return None
        config = Path(str(self.choice.get("config")))
        digest = hashlib.sha256(json.dumps([self.name, dict(self.choice), self.any_code]).encode())
        digest.update(json.dumps([os.environ.get(name) for name in ENVIRONMENT]).encode())
        package = sorted(path for path in Path(lnp.__file__).parent.rglob("*") if path.suffix in CODE)
        for path in [*package, *([config] if config.is_file() else [])]:
            content = path.read_bytes()
            digest.update(f"\n{path} {len(content)}\n".encode() + content)
        return digest.hexdigest()[:32]


def runs_if_complete(store: Path, question: Question) -> int | None:
    """How many runs the grid has, all of them finished; ``None`` where that is not known."""
    if question.digest is None or not store.is_file():
        return None
    with closing(open_store_file(store)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'grids'").fetchone():
            return None
        row = connection.execute("SELECT files, runs FROM grids WHERE question = ?", (question.digest,)).fetchone()
    if row is None or row[0] != _files(list(json.loads(row[0]))):
        return None
    return int(row[1])


def note_complete(store: Store, question: Question, plan: Plan) -> None:
    """Keeps that the grid is complete, if all of it is, and if the package is still the one that was asked."""
    from lnp.experiments.identity import data_folders

    if plan.jobs or plan.unavailable or question.digest is None or question.digest != question.digest_now():
        return
    files = _files([str(folder) for folder in data_folders()])
    with store.transaction() as connection:
        connection.execute(TABLE)
        connection.execute("INSERT OR REPLACE INTO grids VALUES (?, ?, ?)", (question.digest, files, plan.total))


def list_files(folder: Path) -> list[tuple[str, int, int]]:
    """Which data files a folder has, how large and how old; none where there is no folder."""
    paths = sorted([*folder.glob("*.npz"), *folder.glob("*.mat")]) if folder.is_dir() else []
    return [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in paths]


def _files(folders: list[str]) -> str:
    return json.dumps({folder: list_files(Path(folder)) for folder in folders})
