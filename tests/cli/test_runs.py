"""The list of finished and failed runs."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from lnp.experiments.identity import dataset_facts, identify
from lnp.experiments.jobs import Job, perform
from lnp.experiments.spec import RunSpec
from lnp.experiments.store import Store

GRAPH = "synthetic:nodes=60,classes=3,features=8,mean_degree=6"


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Two finished runs and one that failed."""
    path = tmp_path / "runs.sqlite"
    facts = dataset_facts(GRAPH)
    with Store(path) as store:
        for method, rate in (("joint", 0.2), ("clean-only", 0.4), ("gcn", 0.4)):
            options = {"epochs": 2, "hidden": 4}
            spec = RunSpec(dataset=GRAPH, method=method, rate=rate, options=options, trusted_size=9)
            identity = identify(spec, facts)
            if method == "gcn":
                store.add_failure(identity.key, asdict(spec), "the worker was ended by SIGKILL")
            else:
                store.add(perform(Job(identity, spec)))
    return path


def test_lists_and_filters(call, filled: Path) -> None:
    text = call("runs", "--store", filled).stdout
    assert text.startswith("2 runs")
    assert "joint" in text
    rows = json.loads(call("runs", "--store", filled, "--rate", 0.2, "--json").stdout)
    assert [row["method"] for row in rows] == ["joint"]
    assert json.loads(call("runs", "--store", filled, "--rate", 0.2, "--method", "gcn", "--json").stdout) == []


def test_failed_runs_and_why(call, filled: Path) -> None:
    (row,) = json.loads(call("runs", "--store", filled, "--failed", "--json").stdout)
    assert (row["method"], row["reason"]) == ("gcn", "the worker was ended by SIGKILL")
    assert "SIGKILL" in call("runs", "--store", filled, "--failed", "--method", "gcn").stdout
    assert "0 failed" in call("runs", "--store", filled, "--failed", "--method", "gce").stdout


def test_export(call, filled: Path, tmp_path: Path) -> None:
    said = call("runs", "--store", filled, "--export", tmp_path / "out.csv").stdout
    assert said.startswith("Wrote 2 runs to")
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()))
    assert {(row["method"], row["rate"]) for row in rows} == {("joint", "0.2"), ("clean-only", "0.4")}


def test_errors(call, filled: Path, tmp_path: Path) -> None:
    missing = call("runs", "--store", tmp_path / "none.sqlite")
    assert missing.exit_code == 2
    assert "but there is none. Make one with `lnp reproduce`." in missing.stderr
    assert not (tmp_path / "none.sqlite").exists()
    unknown = call("runs", "--store", filled, "--method", "gcm")
    assert unknown.exit_code == 2
    assert "Unknown method 'gcm'" in unknown.stderr
    both = call("runs", "--store", filled, "--failed", "--export", tmp_path / "out.csv")
    assert both.exit_code == 2
