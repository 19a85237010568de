"""``lnp suggest-trusted``: a list, and a file to fill in that training accepts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lnp.datasets.label_file import read_label_file
from lnp.datasets.own_graph import OwnGraph, read_own_graph, write_own_graph
from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.seeds import Seeds


@pytest.fixture
def own(tmp_path: Path) -> Path:
    data = synthetic(
        SyntheticConfig(nodes=80, classes=3, features=6, signal=3.0, mean_degree=6), Seeds(0).generator("x")
    )
    names, ids = ("red", "green", "blue"), tuple(f"n{i}" for i in range(80))
    graph = Graph.from_edges(data.graph.edges, data.graph.features, class_names=names, node_ids=ids, name="mine")
    labels = ObservedLabels(data.truth.labels, np.zeros(80, bool), class_count=3)
    write_own_graph(OwnGraph(graph, labels, ids, names, {}, ()), tmp_path / "graph")
    return tmp_path / "graph"


def test_every_class_gets_its_share(call, own: Path) -> None:
    result = call("suggest-trusted", own, "--budget", 9, "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["nodes"]
    assert [row["given"] for row in rows].count("red") == 3
    assert len({row["node"] for row in rows}) == 9
    assert sum(row["stands_for"] for row in rows) == 80
    assert call("suggest-trusted", own, "--budget", 9, "--json").stdout == result.stdout
    shown = call("suggest-trusted", own, "--budget", 9).stdout
    assert all(row["node"] in shown for row in rows)


def test_the_file_trusts_nothing_until_somebody_has_filled_it_in(call, own: Path, tmp_path: Path) -> None:
    checks = tmp_path / "checks.csv"
    result = call("suggest-trusted", own, "--budget", 6, "--out", checks)
    assert result.exit_code == 0, result.output
    before = read_own_graph(own)
    untouched = read_label_file(checks, before)
    assert not untouched.labels.trusted.any()
    np.testing.assert_array_equal(untouched.labels.given, before.labels.given)
    checks.write_text(checks.read_text().replace(",0\n", ",1\n"))
    assert read_label_file(checks, before).labels.trusted.sum() == 6
    more = json.loads(call("suggest-trusted", own, "--budget", 6, "--labels", checks, "--json").stdout)
    filled = checks.read_text()
    assert not {row["node"] for row in more["nodes"]} & {line.split(",")[0] for line in filled.splitlines()}


def test_more_than_there_is(call, own: Path) -> None:
    result = call("suggest-trusted", own, "--budget", 200)
    assert "only 80 labels that nobody checked" in result.stdout


def test_bad_input_is_one_line(call, own: Path, tmp_path: Path) -> None:
    for arguments in ([tmp_path / "nothing"], [own, "--budget", 0], [own, "--out", tmp_path]):
        result = call("suggest-trusted", *arguments)
        assert result.exit_code == 2
        assert result.stderr.count("\n") == 1
