"""An imported graph on disk: the same bits back, or an error that names the file."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import lnp.datasets.own_graph as module
from lnp.datasets.npz import load_npz
from lnp.datasets.own_graph import OwnGraph, is_own_graph, read_own_graph, require_free, write_own_graph
from lnp.errors import DataError, LabelError
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels

CLASSES = ("red", "<script>", "blau é")


def make(*, sparse: bool = False, weighted: bool = False, shift: float = 0.0) -> OwnGraph:
    draw = np.random.default_rng(3)
    x = draw.random((6, 4)).astype(np.float32) + shift
    x[x < 0.5] = 0
    ids = ("a", "b,c", "", "\n", "é", "006")
    edges = np.array([[0, 1, 2, 4], [1, 2, 3, 5]])
    graph = Graph.from_edges(
        edges,
        sp.csr_array(x) if sparse else x,
        weights=[1, 2, 0.5, 3] if weighted else None,
        class_names=CLASSES,
        node_ids=ids,
        name="mine",
    )
    labels = ObservedLabels([0, 1, -1, 2, 1, 0], [True, False, False, True, False, False], class_count=3)
    texts = {"title": ("x", "", "long " * 50, "é", "\0", "y"), "kind": ("k",) * 6}
    return OwnGraph(graph, labels, ids, CLASSES, texts, ("f1", "f2", "f3", "f4"), (2, 2), "somewhere")


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_everything_comes_back(tmp_path: Path, sparse: bool, weighted: bool) -> None:
    own = make(sparse=sparse, weighted=weighted)
    own = replace(own, labels=own.labels.checked([1], [2])) if weighted else own
    write_own_graph(own, tmp_path / "new" / "graph")
    again = read_own_graph(tmp_path / "new" / "graph")
    assert again.graph.checksum == own.graph.checksum
    assert (again.graph.adjacency != own.graph.adjacency).nnz == 0
    assert sp.issparse(again.graph.features) == sparse
    np.testing.assert_array_equal(again.labels.given, own.labels.given)
    np.testing.assert_array_equal(again.labels.trusted, own.labels.trusted)
    assert again.labels.before.tolist() == [-1, 1 if weighted else -1, -1, -1, -1, -1]
    for name in ("node_ids", "class_names", "texts", "feature_names", "picture_shape", "source", "summary"):
        assert getattr(again, name) == getattr(own, name), name
    assert again.graph.notes == {"picture_shape": (2, 2)}
    assert again.graph.name == "mine"
    assert sorted(path.name for path in (tmp_path / "new").rglob("*")) == ["graph", "graph.json", "graph.npz"]


def test_the_arrays_are_a_graph_file_like_any_other(tmp_path: Path) -> None:
    own = make()
    write_own_graph(own, tmp_path / "graph")
    plain = load_npz(tmp_path / "graph" / "graph.npz", class_names=CLASSES)
    np.testing.assert_array_equal(plain.graph.edges, own.graph.edges)
    np.testing.assert_array_equal(plain.truth.labels, own.labels.given)


def test_other_files_stay_and_the_graph_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("keep")
    write_own_graph(make(), tmp_path)
    write_own_graph(make(shift=1.0), tmp_path)
    assert (tmp_path / "nodes.csv").read_text() == "keep"
    assert read_own_graph(tmp_path).graph.checksum == make(shift=1.0).graph.checksum
    assert len(list(tmp_path.iterdir())) == 3


def test_a_write_cut_off_between_the_files_reads_as_the_new_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_own_graph(make(), tmp_path)
    new = replace(make(shift=1.0), texts={"other": ("t",) * 6, "more": ("u",) * 6, "third": ("v",) * 6})
    moved = []

    def stop_after_one(source: Path, target: Path) -> None:
        if moved:
            raise KeyboardInterrupt
        moved.append(target)
        os.rename(source, target)

    monkeypatch.setattr(module.os, "replace", stop_after_one)
    with pytest.raises(KeyboardInterrupt):
        write_own_graph(new, tmp_path)
    again = read_own_graph(tmp_path)
    assert again.graph.checksum == new.graph.checksum
    assert again.texts == new.texts
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.json", "graph.npz"]


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **arrays: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(module.np, "savez", fail)
    with pytest.raises(OSError, match=r"no space"):
        write_own_graph(make(), tmp_path / "graph")
    assert list(tmp_path.iterdir()) == []


def test_damage_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "graph"
    write_own_graph(make(), folder)
    facts, arrays = (folder / "graph.json").read_text(), (folder / "graph.npz").read_bytes()
    for text, message in [
        ("{", "graph.json to be readable JSON"),
        ("[]", "graph.json to describe an imported graph"),
        (facts.replace('"format": 1', '"format": 9'), "format 9"),
        (facts.replace('"classes"', '"klasses"'), "Expected `classes` of .*graph.json to be a list, but it is missing"),
        (facts.replace('"nodes": 6', '"nodes": "6"'), "Expected `nodes` of .*graph.json to be a int, but got '6'"),
    ]:
        (folder / "graph.json").write_text(text)
        with pytest.raises(DataError, match=message):
            read_own_graph(folder)
    (folder / "graph.json").write_text(facts)
    (folder / "graph.npz").write_bytes(arrays[: len(arrays) // 2])
    with pytest.raises(DataError, match=r"graph.npz to be a readable npz file"):
        read_own_graph(folder)
    (folder / "graph.npz").unlink()
    with pytest.raises(DataError, match=r"there is no graph.npz. Make one with `lnp import`"):
        read_own_graph(folder)


def test_arrays_that_contradict_the_facts_are_refused(tmp_path: Path) -> None:
    write_own_graph(make(), tmp_path)
    with np.load(tmp_path / "graph.npz", allow_pickle=False) as archive:
        whole = dict(archive)
    for key, value, message in [
        ("y", np.array([1, 1, -1, 2, 1, 0]), "`labels_checksum`"),
        ("y", np.array([7, 1, -1, 2, 1, 0]), "node 0 has 7"),
        ("x", whole["x"] + 1, "`checksum`"),
        ("edge_index", whole["edge_index"] + 100, "names node"),
        ("node_ids_ends", whole["node_ids_ends"][:-1], "do not divide"),
    ]:
        np.savez(tmp_path / "graph.npz", **{**whole, key: value})
        with pytest.raises(DataError, match=message):
            read_own_graph(tmp_path)


def test_parts_that_do_not_fit_are_refused() -> None:
    own = make()
    with pytest.raises(LabelError, match=r"for 6 nodes in 3 classes"):
        replace(own, labels=ObservedLabels([0, 1], class_count=3))
    for change, message in [
        ({"node_ids": ("a",)}, "`node_ids` to name the 6 nodes"),
        ({"class_names": ("x", "y", "z")}, "`class_names` to be those of the graph"),
        ({"texts": {"t": ("x",)}}, "6 texts in column 't'"),
        ({"feature_names": ("x",)}, "4 `feature_names` or none"),
        ({"picture_shape": (3, 3)}, "3 × 3 to have all 4 features"),
    ]:
        with pytest.raises(DataError, match=message):
            replace(own, **change)


def test_a_taken_folder_is_told_apart(tmp_path: Path) -> None:
    require_free(tmp_path / "new")
    require_free(tmp_path)
    write_own_graph(make(), tmp_path)
    assert is_own_graph(tmp_path)
    with pytest.raises(DataError, match=r"has one. Choose another folder, or pass --overwrite"):
        require_free(tmp_path)
    require_free(tmp_path, overwrite=True)
    with pytest.raises(DataError, match=r"it is a file"):
        require_free(tmp_path / "graph.json")


def test_repr_points_at_the_summary() -> None:
    assert repr(make()) == "OwnGraph(Graph('mine', 6 nodes, 4 edges, 4 features, 3 classes), 5 labelled, 2 trusted)"


def test_the_facts_are_for_people(tmp_path: Path) -> None:
    write_own_graph(make(), tmp_path)
    facts = json.loads((tmp_path / "graph.json").read_text(encoding="utf-8"))
    assert (facts["nodes"], facts["edges"], facts["labelled"], facts["trusted"]) == (6, 4, 5, 2)
    assert facts["classes"] == list(CLASSES)
