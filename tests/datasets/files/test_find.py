"""Which files of a folder are the graph."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lnp.datasets.files.find import changed_since, find_files
from lnp.errors import DataError


def fill(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).write_text("x")
    return folder


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["nodes.csv", "edges.csv", "README.md", "graph.npz", "graph.json"], ["nodes.csv", "edges.csv"]),
        (["Vertices.TSV", "links.parquet", "labels.csv"], ["Vertices.TSV", "links.parquet"]),
        (["my.graphml", "notes.txt"], ["my.graphml"]),
        (["arrays.npz", ".hidden.npz"], ["arrays.npz"]),
    ],
)
def test_files_are_found(tmp_path: Path, names: list[str], found: list[str]) -> None:
    assert [path.name for path in find_files(fill(tmp_path, *names))] == found


@pytest.mark.parametrize(
    "names",
    [
        [],
        ["nodes.csv"],
        ["nodes.csv", "nodes.tsv", "edges.csv"],
        ["a.gexf", "b.gexf"],
        ["nodes.csv", "edges.csv", "g.gexf"],
    ],
)
def test_what_is_unclear_is_an_error_that_lists_what_there_is(tmp_path: Path, names: list[str]) -> None:
    listed = ", ".join(sorted(names)) or "nothing"
    with pytest.raises(DataError, match=rf"but found {listed}. Name the files themselves"):
        find_files(fill(tmp_path, *names))


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no .*absent"):
        find_files(tmp_path / "absent")


def test_newer_files_are_noticed(tmp_path: Path) -> None:
    fill(tmp_path, "nodes.csv", "edges.csv", "other.csv", "graph.npz", "graph.json")
    for name in ("nodes.csv", "edges.csv", "other.csv", "graph.npz"):
        os.utime(tmp_path / name, (1000, 1000))
    assert changed_since(tmp_path) == []
    imported = (tmp_path / "graph.json").stat().st_mtime
    for name in ("edges.csv", "other.csv"):
        os.utime(tmp_path / name, (imported + 10, imported + 10))
    (note,) = changed_since(tmp_path)
    assert note.startswith("edges.csv changed since the import")
