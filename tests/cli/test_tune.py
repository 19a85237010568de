"""Tuning from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

GRAPH = "synthetic:nodes=120,classes=3,features=8,mean_degree=6"


@pytest.fixture
def one(tmp_path: Path) -> list[object]:
    """Label propagation, which needs no training, on a small graph."""
    part = ["--datasets", GRAPH, "--methods", "label-propagation", "--rates", "0.2,0.8", "--protocol", "random"]
    return ["tune", "table-2", *part, "--study", tmp_path / "trials.sqlite", "--out", tmp_path / "tuned.json"]


def test_dry_run_counts_and_writes_nothing(call, one, tmp_path: Path) -> None:
    result = call(*one, "--trials", 5, "--dry-run", "--json")
    assert result.exit_code == 0, result.stderr
    said = json.loads(result.stdout)
    assert (said["studies"], said["trials"], said["left"]) == (2, 10, 10)
    assert said["estimated_seconds"] > 0
    assert call(*one, "--dry-run").stdout.startswith("table-2: 2 studies, 24 trials, 24 left, about ")
    assert list(tmp_path.iterdir()) == []


def test_trials_winners_and_more_trials(call, one, tmp_path: Path) -> None:
    first = call(*one, "--trials", 3, "--json")
    assert first.exit_code == 0, first.stderr
    said = json.loads(first.stdout)
    assert said["left"] == 0
    written = json.loads((tmp_path / "tuned.json").read_text(encoding="utf-8"))
    assert [entry["rate"] for entry in written] == [0.2, 0.8]
    assert sorted(said["winners"], key=lambda entry: entry["rate"]) == written
    assert all(entry["found"]["trials"] == 3 for entry in written)
    assert all(entry["found"]["score"] >= entry["found"]["default_score"] for entry in written)
    left = json.loads(call(*one, "--trials", 4, "--dry-run", "--json").stdout)
    assert left["left"] == 2
    again = call(*one, "--trials", 3)
    assert again.stdout.endswith(f"2 studies, 0 trials left. Winners are in {tmp_path / 'tuned.json'}.\n")
    assert "label-propagation on synthetic" in again.stdout
    store = tmp_path / "runs.sqlite"
    used = call("reproduce", *one[1:10], "--seeds", 1, "--store", store, "--config", tmp_path / "tuned.json")
    assert used.exit_code == 0, used.stderr
    runs = json.loads(call("runs", "--store", store, "--json").stdout)
    assert len(runs) == 2


def test_finals_decide_by_more_seeds(call, one, tmp_path: Path) -> None:
    plan = json.loads(call(*one, "--trials", 3, "--finalists", 2, "--dry-run", "--json").stdout)
    assert (plan["trials"], plan["final_trials"]) == (6, 6)
    assert "then up to 6 in finals, about " in call(*one, "--finalists", 2, "--dry-run").stdout
    result = call(*one, "--trials", 3, "--finalists", 2, "--final-seeds", 4, "--json")
    assert result.exit_code == 0, result.stderr
    written = json.loads((tmp_path / "tuned.json").read_text(encoding="utf-8"))
    assert [entry["found"]["seeds"] for entry in written] == [4, 4]
    assert sorted(json.loads(result.stdout)["winners"], key=lambda entry: entry["rate"]) == written
    # What one seed finds later does not replace it.
    assert call(*one, "--trials", 4).exit_code == 0
    assert json.loads((tmp_path / "tuned.json").read_text(encoding="utf-8")) == written


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table-3"], "Unknown table 'table-3'"),
        (["table-2", "--rates", "high"], "Expected `--rates` to be numbers separated by commas, but got 'high'."),
        (["table-2", "--methods", "gnc"], "Unknown method 'gnc'"),
        (["table-2", "--trials", "0"], "trials"),
        (["table-2", "--out", "."], "Expected a file to write to, but . is a folder."),
        (["table-2", "--dry-run", "--start", "nowhere.json"], "nowhere.json"),
        (["table-2", "--protocol", "fair"], "Expected `protocol` to be one of paper, random, strict"),
    ],
)
def test_errors_are_one_line(call, tmp_path: Path, arguments: list[str], message: str) -> None:
    result = call("tune", *arguments, "--study", tmp_path / "trials.sqlite")
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_an_interrupt_says_how_to_go_on(call, one, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lnp.experiments.tuning.Tuner.run", interrupt)
    result = call(*one)
    assert result.exit_code == 130
    assert "the same command goes on from there" in result.stderr
    assert (tmp_path / "tuned.json").read_text(encoding="utf-8") == "[]\n"


def test_a_study_without_a_score_is_no_success(call, one, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self, studies, on_trial) -> None:
        for study in studies:
            study.fail(study.begin(), "ConfigError: it diverged")

    monkeypatch.setattr("lnp.experiments.tuning.Tuner.run", fail)
    result = call(*one, "--trials", 1)
    assert result.exit_code == 1
    assert "No score: label-propagation on synthetic" in result.stdout
    assert "it diverged" in result.stdout
