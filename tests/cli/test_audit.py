"""``lnp audit`` on a dataset and on somebody's own graph."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from lnp.audit.files import read_audit
from lnp.datasets.own_graph import OwnGraph, read_own_graph, write_own_graph
from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.seeds import Seeds

GRAPH = "synthetic:nodes=90,classes=3,features=8,mean_degree=6"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as `lnp import` makes it: 80 nodes with names and a text, one class with a name like a script."""
    data = synthetic(
        SyntheticConfig(nodes=80, classes=3, features=6, signal=3.0, mean_degree=6), Seeds(0).generator("x")
    )
    names = ("red", "<script>", "blue")
    ids = tuple(f"node {i}" for i in range(80))
    graph = Graph.from_edges(data.graph.edges, data.graph.features, class_names=names, node_ids=ids, name="mine")
    given = data.truth.labels.copy()
    given[[3, 4]] = (given[[3, 4]] + 1) % 3
    given[70:] = -1
    labels = ObservedLabels(given, np.isin(np.arange(80), np.arange(20, 35)), class_count=3)
    folder = tmp_path_factory.mktemp("own") / "graph"
    write_own_graph(OwnGraph(graph, labels, ids, names, {"title": tuple(f"T{i} <i>" for i in range(80))}, ()), folder)
    return folder


@pytest.fixture
def model(call, own: Path, tmp_path: Path) -> Path:
    result = call("train", own, "--method", "gcn", "--epochs", 15, "--set", "hidden=8", "--out", tmp_path / "model")
    assert result.exit_code == 0, result.output
    return tmp_path / "model"


def test_own_graph_gives_a_table_and_a_page(call, own: Path, model: Path, tmp_path: Path) -> None:
    out, page = tmp_path / "audit.csv", tmp_path / "audit.html"
    result = call("audit", model, own, "--out", out, "--page", page, "--scorer", "model")
    assert result.exit_code == 0, result.output
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 70
    qualities = [float(row["quality"]) for row in rows]
    assert qualities == sorted(qualities)
    assert {row["node"] for row in rows} == {f"node {i}" for i in range(70)}
    assert sum(row["trusted"] == "1" for row in rows) == 15
    html = page.read_text(encoding="utf-8")
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "T3 &lt;i&gt;" in html or rows[0]["node"] not in ("node 3",)
    assert "70 labels, 15 trusted" in result.stdout
    assert f"Wrote {out} and {page}" in result.stdout


def test_verdicts_count(call, own: Path, model: Path, tmp_path: Path) -> None:
    verdicts = tmp_path / "verdicts.csv"
    verdicts.write_text("node,label,trusted\nnode 3,red,1\nnode 4,blue,1\n")
    before = read_own_graph(own).labels.given
    wrong = [node for node, label in ((3, 0), (4, 2)) if before[node] != label]
    result = call("audit", model, own, "--labels", verdicts, "--scorer", "model", "--out", tmp_path / "a.csv", "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["trusted"] == 17
    assert said["checked"] == {"known": 2, "had_been_wrong": len(wrong)}
    table = read_audit(tmp_path / "a.csv", tuple(f"node {i}" for i in range(80)))
    assert table.given[table.nodes == 3].tolist() == [0]
    assert table.quality[table.nodes == 4].tolist() == [1.0]


def test_what_the_model_was_trained_with_counts_unless_other_files_are_named(call, own: Path, tmp_path: Path) -> None:
    checks, others = tmp_path / "checks.csv", tmp_path / "others.csv"
    checks.write_text("node,label,trusted\nnode 3,red,1\nnode 4,blue,1\n")
    others.write_text("node,label,trusted\nnode 5,red,1\n")
    model = tmp_path / "m"
    result = call("train", own, "--method", "gcn", "--epochs", 5, "--labels", checks, "--out", model)
    assert result.exit_code == 0, result.output
    result = call("audit", model, own, "--scorer", "model", "--out", tmp_path / "a.csv")
    assert f"What {model / 'labels.csv'} says counts" in result.stdout
    assert re.search(r"70 labels, 17 trusted \(. of 2 had been wrong\)", result.stdout)
    with_others = call("audit", model, own, "--scorer", "model", "--labels", others, "--out", tmp_path / "b.csv")
    assert "70 labels, 16 trusted" in with_others.stdout
    assert "labels.csv" not in with_others.stdout


def test_a_dataset_is_audited_with_the_labels_of_its_model(call, small: list[str], tmp_path: Path) -> None:
    assert call("train", *small, "--method", "gcn", "--out", tmp_path / "run").exit_code == 0
    out = tmp_path / "audit.parquet"
    result = call("audit", tmp_path / "run", GRAPH, "--out", out, "--scorer", "cleanlab", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["scorer"], found["files"]) == ("cleanlab", [str(out)])
    table = read_audit(out)
    assert table.scorer == "cleanlab"
    assert found["labels"] == table.nodes.size
    assert found["estimated_wrong_share"] == pytest.approx(table.wrong_share)
    np.testing.assert_allclose(found["transition"], table.transition)
    again = call("audit", tmp_path / "run", GRAPH, "--out", out, "--scorer", "cleanlab", "--json")
    assert json.loads(again.stdout) == found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--scorer", "cleanlap"], "Unknown scorer 'cleanlap'. Did you mean 'cleanlab'?"),
        (["--out", "audit.txt"], "Expected the file of an audit to end in .csv or .parquet, but got 'audit.txt'."),
        (["--page", "."], "Expected a file for the page, but . is a folder."),
        (["--labels", "nowhere.csv"], "Expected"),
        (["--page", "page.csv"], "Expected the file of the page to end in .html or .htm, but got 'page.csv'."),
    ],
)
def test_bad_input_is_one_line(call, own: Path, model: Path, tmp_path: Path, change: list[str], message: str) -> None:
    arguments = ["audit", model, own, "--scorer", "model", "--out", tmp_path / "new" / "a.csv", *change]
    result = call(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {message}")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "new").exists()


def test_several_models_are_not_mixed(call, small: list[str], tmp_path: Path) -> None:
    assert call("train", *small, "--method", "gcn", "--seeds", 2, "--out", tmp_path / "run").exit_code == 0
    result = call("audit", tmp_path / "run", GRAPH, "--out", tmp_path / "a.csv")
    assert result.exit_code == 2
    assert "holds 2, and each may have its own labels. Name one of them" in result.stderr
    result = call("audit", tmp_path / "run", "digits", "--out", tmp_path / "a.csv")
    assert result.exit_code == 2


def test_the_first_seed_stands_for_all_on_an_own_graph(call, own: Path, tmp_path: Path) -> None:
    many = tmp_path / "many"
    trained = call("train", own, "--method", "gcn", "--epochs", 5, "--set", "hidden=8", "--seeds", 2, "--out", many)
    assert trained.exit_code == 0, trained.output
    rows = {}
    for name in (many, many / "seed-0", many / "seed-1"):
        result = call("audit", name, own, "--scorer", "model", "--out", tmp_path / "a.csv")
        assert result.exit_code == 0, result.output
        assert (f"{many} holds 2 seeds; seed-0 stands for all" in result.stdout) == (name == many)
        rows[name] = (tmp_path / "a.csv").read_text()
    assert rows[many] == rows[many / "seed-0"] != rows[many / "seed-1"]


def test_another_graph_is_refused(call, model: Path, tmp_path: Path) -> None:
    result = call("audit", model, "digits", "--out", tmp_path / "a.csv", "--scorer", "model")
    assert result.exit_code == 2
    assert "was trained on" in result.stderr
