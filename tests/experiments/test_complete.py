"""When a grid that was complete is known to be so, and when it must be planned again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import lnp
from lnp.experiments.complete import Question, note_complete, runs_if_complete
from lnp.experiments.reproduce import Plan
from lnp.experiments.store import Store

CHOICE = {"methods": ["gcn"], "datasets": None, "rates": [0.2], "seeds": 3, "protocol": "paper", "config": "tuned"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one data file, the one that ``LNP_DATA`` names, and a copy of the package's files."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "cora.npz").write_bytes(b"a graph")
    (tmp_path / "lnp" / "methods").mkdir(parents=True)
    (tmp_path / "lnp" / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "lnp" / "methods" / "gcn.py").write_text("WIDTH = 64\n", encoding="utf-8")
    (tmp_path / "lnp" / "tuned.json").write_text("[]", encoding="utf-8")
    monkeypatch.setattr(lnp, "__file__", str(tmp_path / "lnp" / "__init__.py"))
    monkeypatch.setenv("LNP_DATA", str(data))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def known(folder: Path, store: Store) -> Callable[..., int | None]:
    """Notes that the grid of ``CHOICE`` is complete; then tells what is known of grids like it."""
    note_complete(store, Question("table-2", CHOICE), whole(12))

    def tell(name: str = "table-2", any_code: bool = False, **changed: object) -> int | None:
        return runs_if_complete(store.path, Question(name, CHOICE | changed, any_code))

    return tell


def whole(runs: int) -> Plan:
    """A plan of which nothing is left."""
    plan = Plan([])
    vars(plan)["total"] = runs
    return plan


def test_the_same_question_is_answered_and_any_other_is_not(known) -> None:
    assert known() == 12
    assert known(name="table-1") is None
    assert known(any_code=True) is None
    others = {"methods": ["gcn", "gce"], "datasets": ["cora"], "rates": None, "seeds": 4, "protocol": "strict"}
    for field, value in (others | {"config": "default"}).items():
        assert known(**{field: value}) is None, field


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("data/cora.npz", "another graph"),
        ("data/mine.npz", "one more"),
        ("data/snap_patents.mat", "one more"),
        ("cache/lnp/actor.npz", "a download"),
        ("lnp/methods/gcn.py", "WIDTH = 65\n"),
        ("lnp/methods/new.py", ""),
        ("lnp/tuned.json", "[1]"),
    ],
)
def test_a_changed_or_new_file_counts(known, folder: Path, file: str, content: str) -> None:
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_text(content, encoding="utf-8")
    assert known() is None


def test_files_that_decide_nothing_do_not_count(known, folder: Path) -> None:
    (folder / "lnp" / "__pycache__").mkdir()
    (folder / "lnp" / "__pycache__" / "gcn.pyc").write_bytes(b"x")
    (folder / "data" / "README.md").write_text("x", encoding="utf-8")
    assert known() == 12


def test_another_folder_counts(known, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LNP_DATA", str(folder))
    assert known() is None
    monkeypatch.setenv("LNP_DATA", str(folder / "data"))
    assert known() == 12
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    assert known() is None


def test_a_folder_that_went_counts(known, folder: Path) -> None:
    shutil.rmtree(folder / "data")
    assert known() is None


def test_configurations_of_a_file_count_by_content(folder: Path, store: Store) -> None:
    file = folder / "mine.json"
    file.write_text("[]", encoding="utf-8")
    question = Question("table-2", CHOICE | {"config": str(file)})
    note_complete(store, question, whole(3))
    assert runs_if_complete(store.path, replace(question)) == 3
    file.write_text("[2]", encoding="utf-8")
    assert runs_if_complete(store.path, replace(question)) is None


def test_what_is_not_complete_or_cannot_be_watched_is_not_kept(folder: Path, store: Store, jobs) -> None:
    left = whole(12)
    vars(left)["jobs"] = jobs()
    elsewhere = CHOICE | {"datasets": ["npz:path=/there/mine.npz"]}
    for question, plan in (
        (Question("table-2", CHOICE), left),
        (Question("table-2", CHOICE), replace(whole(12), unavailable={"pubmed": "not here"})),
        (Question("table-2", elsewhere), whole(12)),
    ):
        note_complete(store, question, plan)
        assert runs_if_complete(store.path, replace(question)) is None


def test_a_package_that_changed_while_runs_went_on_is_not_the_one_that_was_asked(folder: Path, store: Store) -> None:
    question = Question("table-2", CHOICE)
    assert runs_if_complete(store.path, question) is None
    (folder / "lnp" / "methods" / "gcn.py").write_text("WIDTH = 1\n", encoding="utf-8")
    note_complete(store, question, whole(12))
    assert runs_if_complete(store.path, replace(question)) is None


def test_a_store_that_is_not_there_is_not_made(folder: Path) -> None:
    assert runs_if_complete(folder / "none.sqlite", Question("table-2", CHOICE)) is None
    assert not (folder / "none.sqlite").exists()
