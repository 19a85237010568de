"""The bars over runs and trials."""

from __future__ import annotations

import sys

import pytest

from lnp.cli.progress import run_progress, step_progress


@pytest.fixture
def quick_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a log have a line for every step."""
    monkeypatch.setattr("lnp.engine.log_lines.EVERY", 0.0)


def test_short_work_is_silent_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with run_progress("training", 3) as on_run:
        on_run("gcn", 0)
    with step_progress("table-2", 0) as advance:
        advance("nothing", 0)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("quick_minute")
def test_a_log_gets_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with run_progress("training", 3) as on_run:
        on_run("gcn", 0)
    with step_progress("table-2", 8) as advance:
        advance("gcn: complete", 3)
        advance("gcn: retried", 0)
    shown = capsys.readouterr()
    assert shown.out == ""
    first, second, third = shown.err.splitlines()
    assert first.startswith("training: 1 of 3, gcn, seed 0 done; 0:00:00 so far")
    assert second.startswith("table-2: 3 of 8, gcn: complete; ")
    assert third.startswith("table-2: 3 of 8, gcn: retried; ")


def test_a_terminal_sees_runs_on_standard_error_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with run_progress("training", 2) as on_run:
        on_run("gcn", 0)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "1/2" in shown.err
    assert "gcn, seed 0 done" in shown.err


def test_steps_may_be_several_or_none(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with step_progress("table-2", 4) as advance:
        advance("gcn: retried", 0)
        advance("gcn: complete", 3)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "3/4" in shown.err
    assert "gcn: complete" in shown.err
