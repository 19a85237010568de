"""Studies in their file: found again, apart by version of the code, and nothing but SQLite."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from lnp.errors import DataError
from lnp.experiments.grid import Choice
from lnp.experiments.tuning_file import TuningFile
from lnp.experiments.tuning_study import TuningOptions, find_studies
from lnp.experiments.tuning_trials import Begun, Counts, Trials


@pytest.fixture
def study(tiny, tmp_path: Path) -> Trials:
    spec = find_studies([tiny()], Choice(methods=["joint"], rates=[0.4]), TuningOptions())[0][0]
    return TuningFile(tmp_path / "trials.sqlite").open(spec)


def begin(study: Trials) -> Begun:
    begun = study.begin()
    assert begun is not None
    return begun


def test_another_version_of_the_code_begins_anew_unless_told(
    study: Trials, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.complete(begin(study), 0.5, 1.0)
    monkeypatch.setattr("lnp.experiments.identity.code_version", lambda method: "another")
    file = TuningFile(tmp_path / "trials.sqlite")
    assert file.find(study.spec) is None
    kept = file.open(study.spec, any_code=True)
    assert kept.counts().complete == 1
    assert kept.code_version == study.code_version != "another"
    assert file.open(study.spec).counts() == Counts()


def test_the_file_is_whole_sqlite_and_nothing_else_will_do(study: Trials, tmp_path: Path) -> None:
    begin(study)
    assert sqlite3.connect(tmp_path / "trials.sqlite").execute("PRAGMA journal_mode").fetchone() == ("wal",)
    (tmp_path / "text.sqlite").write_text("not a database, and long enough to be seen as such" * 100)
    with pytest.raises(DataError, match=r"Expected .*text\.sqlite to be a file of `lnp tune`"):
        TuningFile(tmp_path / "text.sqlite")
