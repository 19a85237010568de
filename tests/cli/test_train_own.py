"""``lnp train FOLDER`` and ``lnp predict MODEL FOLDER`` on a user's own graph."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import numpy as np
import pytest

from lnp.datasets.label_file import write_label_file
from lnp.datasets.load_graph import load_graph
from lnp.datasets.own_graph import read_own_graph, write_own_graph
from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.engine.model_file import load_model
from lnp.estimator import LNPClassifier
from lnp.seeds import Seeds

NAMES = ("red", "green", "blue")
FAST = ["--epochs", "4", "--set", "hidden=8"]


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    data = synthetic(SyntheticConfig(nodes=90, classes=3, features=8, mean_degree=6), Seeds(0).generator("graph"))
    labels = np.array(NAMES, dtype=object)[data.truth.labels]
    labels[::5] = None
    trusted = np.zeros(90, bool)
    for name in NAMES:
        trusted[np.flatnonzero(labels == name)[:4]] = True
    own = load_graph(
        data.graph, labels=labels, trusted=trusted, node_ids=[f"n{i}" for i in range(90)], class_names=NAMES
    )
    write_own_graph(own, tmp_path / "graph")
    return tmp_path / "graph"


def test_a_model_that_is_replaced_is_mentioned(call, graph: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    notes = [
        json.loads(call("train", graph, "--method", "gcn", "--out", model, "--json", *FAST).stdout)["notes"]
        for _ in range(2)
    ]
    assert [any("takes its place" in note for note in one) for one in notes] == [False, True]


def test_train_predict_and_back_again(call, graph: Path, tmp_path: Path) -> None:
    model, out = tmp_path / "model", tmp_path / "predictions.csv"
    result = call("train", graph, "--method", "lnp-v2", "--out", model, *FAST)
    assert result.exit_code == 0, result.output
    assert "lnp-v2 on" in result.stdout
    assert f"Next: lnp predict {model} {graph} --out predictions.csv" in result.stdout
    result = call("predict", model, graph, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["notes"] == []
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert list(rows[0]) == ["node", "given", "predicted", "confidence", "p_red", "p_green", "p_blue"]
    assert [row["node"] for row in rows] == [f"n{i}" for i in range(90)]
    own = read_own_graph(graph)
    expected = LNPClassifier.load(model, own.graph).predict_proba()
    written = np.array([[float(row[f"p_{name}"]) for name in NAMES] for row in rows])
    np.testing.assert_allclose(written, expected, atol=1e-6)
    assert [row["predicted"] for row in rows] == [NAMES[k] for k in expected.argmax(axis=1)]
    assert [row["given"] for row in rows] == ["" if k < 0 else NAMES[k] for k in own.labels.given]
    without = tmp_path / "without.csv"
    assert call("predict", model, "--out", without).exit_code == 0
    assert without.read_text() == out.read_text()  # the model knows the ids by itself


def test_json_says_what_was_done(call, graph: Path, tmp_path: Path) -> None:
    result = call("train", "--dataset", graph, "--out", tmp_path / "m", "--seeds", 2, "--json", *FAST)
    found = json.loads(result.stdout)
    assert (found["method"], found["selection"], found["notes"]) == ("lnp-channel", "val-given", [])
    assert (found["nodes"], found["labelled"], found["trusted"]) == (90, 72, 12)
    assert [row["seed"] for row in found["models"]] == [0, 1]
    assert sorted(path.name for path in (tmp_path / "m").iterdir()) == ["seed-0", "seed-1"]


def test_a_label_file_becomes_trusted_labels(call, graph: Path, tmp_path: Path) -> None:
    own = read_own_graph(graph)
    node = int(own.labels.noisy_nodes[0])
    other = NAMES[(own.labels.given[node] + 1) % 3]
    write_label_file(tmp_path / "verdicts.csv", [(own.node_ids[node], other, True), ("n0", "red", True)])
    arguments = ["--labels", tmp_path / "verdicts.csv", "--selection", "last", "--out", tmp_path / "m", *FAST]
    assert call("train", graph, *arguments).exit_code == 0
    observed = load_model(tmp_path / "m").observed
    assert NAMES[observed.given[node]] == other
    assert observed.trusted[[node, 0]].all()
    found = json.loads(call("predict", tmp_path / "m", graph, "--out", tmp_path / "p.csv", "--json").stdout)
    assert found["notes"] == []  # the model keeps what the file said
    rows = {row["node"]: row["given"] for row in csv.DictReader((tmp_path / "p.csv").read_text().splitlines())}
    assert (rows[own.node_ids[node]], rows["n0"]) == (other, "red")
    (tmp_path / "m" / "labels.csv").unlink()
    found = json.loads(call("predict", tmp_path / "m", graph, "--out", tmp_path / "p.csv", "--json").stdout)
    assert found["notes"][0].startswith("2 of 90 labels differ (1 of them taken away)")


def test_of_several_label_files_the_last_counts_and_every_seed_keeps_them(call, graph: Path, tmp_path: Path) -> None:
    own = read_own_graph(graph)
    first, second = (own.node_ids[node] for node in own.labels.noisy_nodes[:2])
    write_label_file(tmp_path / "one.csv", [(first, "red", True), (second, "red", True)])
    write_label_file(tmp_path / "two.csv", [(first, "blue", True)])
    files = ["--labels", tmp_path / "one.csv", "--labels", tmp_path / "two.csv"]
    arguments = ["--method", "gcn", "--selection", "last", "--seeds", 2, "--out", tmp_path / "m"]
    result = call("train", graph, *files, *arguments, *FAST)
    assert result.exit_code == 0, result.output
    for seed in (0, 1):
        observed = load_model(tmp_path / "m" / f"seed-{seed}").observed
        now = {own.node_ids[node]: NAMES[observed.given[node]] for node in observed.trusted_nodes}
        assert (now[first], now[second]) == ("blue", "red")
        kept = (tmp_path / "m" / f"seed-{seed}" / "labels.csv").read_text().splitlines()
        assert sorted(kept) == sorted(["node,label,trusted", f"{first},blue,1", f"{second},red,1"])


def test_a_file_that_corrects_and_trusts_nothing_is_mentioned(call, graph: Path, tmp_path: Path) -> None:
    own = read_own_graph(graph)
    node = int(own.labels.noisy_nodes[0])
    other = NAMES[(own.labels.given[node] + 1) % 3]
    for trusted in (False, True):
        write_label_file(tmp_path / "checks.csv", [(own.node_ids[node], other, trusted)])
        arguments = ["--labels", tmp_path / "checks.csv", "--method", "gcn", "--out", tmp_path / f"{trusted}", *FAST]
        notes = json.loads(call("train", graph, *arguments, "--json").stdout)["notes"]
        assert any("changes 1 labels and trusts none of them" in note for note in notes) is not trusted


def test_a_file_whose_marks_were_forgotten_is_mentioned(call, graph: Path, tmp_path: Path) -> None:
    own = read_own_graph(graph)
    node = int(own.labels.noisy_nodes[0])
    write_label_file(tmp_path / "checks.csv", [(own.node_ids[node], NAMES[own.labels.given[node]], False)])
    arguments = ["--labels", tmp_path / "checks.csv", "--method", "gcn", "--out", tmp_path / "m", *FAST]
    notes = json.loads(call("train", graph, *arguments, "--json").stdout)["notes"]
    assert any("checks.csv changes nothing. The column `trusted` should be 1" in note for note in notes)


def test_without_trust_it_says_what_it_loses(call, graph: Path, tmp_path: Path) -> None:
    own = read_own_graph(graph)
    given = [None if k < 0 else NAMES[k] for k in own.labels.given]
    write_own_graph(load_graph(own.graph, labels=given), tmp_path / "bare")
    result = call("train", tmp_path / "bare", "--out", tmp_path / "m", *FAST)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("note: No label is trusted, and that has a price: ")
    assert "gce on" in result.stdout
    refused = call("train", tmp_path / "bare", "--method", "lnp-v2", "--out", tmp_path / "n", *FAST)
    assert refused.exit_code == 2
    assert "there is none for class 'red', 'green', 'blue'. Check the label" in refused.stderr
    assert not (tmp_path / "n").exists()


def test_a_changed_graph_is_noticed(call, graph: Path, tmp_path: Path) -> None:
    assert call("train", graph, "--method", "gcn", "--out", tmp_path / "m", *FAST).exit_code == 0
    own = read_own_graph(graph)
    changed = load_graph(own.graph.with_features(own.graph.features * 2), labels=own.labels.given)
    write_own_graph(changed, graph)
    result = call("predict", tmp_path / "m", graph, "--out", tmp_path / "p.csv")
    assert result.exit_code == 2
    assert "it changed since: edges or features differ. Train again" in result.stderr
    assert not (tmp_path / "p.csv").exists()
    (graph / "nodes.csv").write_text("id,label\n")
    newer = (graph / "graph.json").stat().st_mtime + 5
    os.utime(graph / "nodes.csv", (newer, newer))
    result = call("train", graph, "--method", "gcn", "--out", tmp_path / "m", *FAST)
    assert result.stdout.startswith("note: nodes.csv changed since the import")


def test_bad_input_is_one_line(call, graph: Path, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    for arguments, message in [
        ([graph, "--rate", "0.3", "--out", "m"], "Expected `--rate` with a dataset"),
        ([graph, "--trusted", "5", "--out", "m"], "Expected `--trusted` with a dataset"),
        ([graph], "Expected `--out` with the folder for the model"),
        ([graph, "--selection", "val-clean", "--out", tmp_path / "m"], "Expected `selection` to be trusted"),
        ([graph, "--labels", tmp_path / "no.csv", "--out", tmp_path / "m"], "there is no such file"),
        ([raw, "--out", "m"], f"`lnp import {raw}`"),
        (["cora", "--dataset", "cora"], "Expected one graph to train on, but got both"),
        ([], "Expected one graph to train on, but got none"),
        (["digits", "--labels", "x.csv"], "Expected `--labels` with your own graph"),
        ([tmp_path / "absent", "--out", "m"], "to be a folder of `lnp import`, but it is not there"),
    ]:
        result = call("train", *arguments)
        assert result.exit_code == 2, arguments
        assert message in result.stderr
        assert result.stderr.count("\n") == 1
    assert not (tmp_path / "m").exists()


def test_a_dataset_may_be_named_without_an_option(call, small: list[str]) -> None:
    with_option = json.loads(call("train", *small, "--method", "gcn", "--json").stdout)
    without = json.loads(call("train", *small[1:], "--method", "gcn", "--json").stdout)
    assert without["test_accuracy"] == with_option["test_accuracy"]


def test_a_folder_that_is_not_there_is_no_dataset(call, tmp_path: Path) -> None:
    for name, state in ((tmp_path / "grahp", "not there"), (tmp_path / "nodes.csv", "a file")):
        if state == "a file":
            name.write_text("id,label\n")
        result = call("train", name, "--out", tmp_path / "model")
        assert result.exit_code == 2
        assert f"to be a folder of `lnp import`, but it is {state}. Import the graph first." in result.stderr
    result = call("train", f"synthetic:nodez={tmp_path}/x", "--out", tmp_path / "model")
    assert "Unknown" in result.stderr  # a dataset whose option has a path is a dataset
    assert "nodez" in result.stderr
