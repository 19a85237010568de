"""The bars over runs and trials."""

from __future__ import annotations

import sys

import pytest

from lnp.cli.progress import run_progress, step_progress


def test_nothing_is_shown_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with run_progress("training", 3) as on_run:
        assert on_run is None
    assert capsys.readouterr().err == ""


def test_a_terminal_sees_runs_on_standard_error_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with run_progress("training", 2) as on_run:
        assert on_run is not None
        on_run("gcn", 0)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "1/2" in shown.err
    assert "gcn, seed 0 done" in shown.err


def test_steps_may_be_several_or_none(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with step_progress("table-2", 4) as advance:
        assert advance is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with step_progress("table-2", 0) as advance:
        assert advance is None
    with step_progress("table-2", 4) as advance:
        assert advance is not None
        advance("gcn: retried", 0)
        advance("gcn: complete", 3)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "3/4" in shown.err
    assert "gcn: complete" in shown.err
