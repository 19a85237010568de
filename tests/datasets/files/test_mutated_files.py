"""Thousands of damaged files: an import succeeds, or says in one message which file is wrong and writes nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lnp.datasets.files.import_options import ImportOptions
from lnp.datasets.load_graph import import_files
from lnp.datasets.own_graph import read_own_graph, write_own_graph
from lnp.errors import InputError
from lnp.seeds import Seeds

QUICK, ALL = 200, 2000


@pytest.fixture(scope="module")
def mutate() -> ModuleType:
    import importlib.util

    spec = importlib.util.spec_from_file_location("mutate", Path(__file__).with_name("mutate.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(folder: Path, mutate: Any, seeds: range) -> dict[str, int]:
    """Imports one damaged graph per seed; how many came through and how many were refused."""
    originals: dict[str, list[tuple[str, bytes]]] = {}
    for kind in mutate.FORMATS:
        (folder / kind).mkdir()
        paths = mutate.write_files(folder / kind, kind)
        originals[kind] = [(path.name, path.read_bytes()) for path in paths]
        own = import_files(paths, ImportOptions())
        assert (own.graph.node_count, own.graph.edge_count, own.class_names) == (6, 4, ("blue", "green", "red"))
    counts = {"imported": 0, "refused": 0}
    for seed in seeds:
        draw = Seeds(seed).generator("damage")
        kind = mutate.FORMATS[seed % len(mutate.FORMATS)]
        damaged = int(draw.integers(len(originals[kind])))
        desk, out = folder / "desk", folder / "out"
        desk.mkdir()
        paths = []
        for position, (name, content) in enumerate(originals[kind]):
            (desk / name).write_bytes(mutate.mutate(content, draw) if position == damaged else content)
            paths.append(desk / name)
        counts[_import(paths, out, desk, f"{kind}, seed {seed}")] += 1
        shutil.rmtree(desk)
        shutil.rmtree(out, ignore_errors=True)
    return counts


def _import(paths: list[Path], out: Path, desk: Path, what: str) -> str:
    try:
        own = import_files(paths, ImportOptions())
    except InputError as error:
        message = str(error)
        assert str(desk) in message, f"{what}: no file in: {message}"
        assert len(message) < 1000, f"{what}: {message}"
        assert not out.exists()
        return "refused"
    write_own_graph(own, out)
    again = read_own_graph(out)
    assert again.graph.checksum == own.graph.checksum, what
    assert (again.node_ids, again.texts, again.summary) == (own.node_ids, own.texts, own.summary), what
    return "imported"


def test_two_hundred(tmp_path: Path, mutate: ModuleType) -> None:
    counts = run(tmp_path, mutate, range(QUICK))
    assert sum(counts.values()) == QUICK
    assert min(counts.values()) > 10  # the damage is neither harmless nor fatal throughout


@pytest.mark.slow
def test_two_thousand(tmp_path: Path, mutate: ModuleType) -> None:
    counts = run(tmp_path, mutate, range(QUICK, QUICK + ALL))
    assert sum(counts.values()) == ALL
