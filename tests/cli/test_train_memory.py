"""What ``lnp train`` says of memory before it begins."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from lnp.cli.main import app
from lnp.engine.available import LIMIT

SMALL = ["train", "synthetic:nodes=100", "--method", "gcn", "--epochs", "1", "--set", "fine_tune_epochs=0"]


@pytest.fixture
def everything_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a run of any size were worth a word."""
    monkeypatch.setattr("lnp.engine.memory.WORTH_SAYING", 0)


def test_one_line_on_standard_error_for_all_seeds(everything_counts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, "2GiB")
    result = CliRunner().invoke(app, [*SMALL, "--seeds", "2", "--json"])
    assert result.exit_code == 0, result.output
    assert len(json.loads(result.stdout)["test_accuracy"]) == 2
    assert result.stderr.count("Memory at the peak: about") == 1
    assert "of 2.0 GiB that can be had" in result.stderr


def test_a_run_that_cannot_fit_ends_before_it_begins(everything_counts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, "100MB")
    result = CliRunner().invoke(app, SMALL)
    assert result.exit_code == 2
    assert "error: Expected a run that fits into 95 MiB of memory" in result.stderr
    assert "--batch neighbours" in result.stderr


def test_small_runs_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, "100MB")
    result = CliRunner().invoke(app, SMALL)
    assert result.exit_code == 0, result.output
    assert "Memory" not in result.output


def test_a_limit_that_is_none_of_both_is_refused(everything_counts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, "plenty")
    result = CliRunner().invoke(app, SMALL)
    assert result.exit_code == 2
    assert "12GiB" in result.stderr
