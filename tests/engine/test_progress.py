from __future__ import annotations

import contextlib
import os
import pty
import re
import sys
from collections.abc import Callable

import pytest

from lnp.engine.history import EpochRecord
from lnp.engine.progress import describe_epoch, epoch_progress

SHOW_CURSOR, HIDE_CURSOR, CLEAR_LINE = "\x1b[?25h", "\x1b[?25l", "\x1b[2K"


def record(epoch: int, *, stage: str = "train") -> EpochRecord:
    return EpochRecord(stage, epoch, {"noisy_ce": 1.5, "kl": 0.25}, 0.75, True)


@pytest.fixture
def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], str]:
    """Runs a function whose standard error is a terminal, and gives what it wrote there."""
    for name, value in {"TERM": "xterm", "COLUMNS": "160", "LINES": "40"}.items():
        monkeypatch.setenv(name, value)
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)

    def run(function: Callable[[], None]) -> str:
        master, slave = pty.openpty()
        with os.fdopen(slave, "w") as stream, monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", stream)
            function()
        parts = []
        with contextlib.suppress(OSError):  # what Linux says at the end of a terminal
            while part := os.read(master, 65536):
                parts.append(part)
        os.close(master)
        return b"".join(parts).decode()

    return run


def test_a_terminal_shows_label_stage_count_terms_and_score(on_terminal) -> None:
    def train() -> None:
        with epoch_progress("lnp-v2 on [digits]") as on_epoch:
            on_epoch(record(0), 10)
            on_epoch(record(2, stage="fine-tuning"), 7)

    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", on_terminal(train))
    assert re.search(r"lnp-v2 on \[digits\] · train\s.*1/10\s.*noisy_ce 1.5  kl 0.25  score 0.75", text)
    assert re.search(r"lnp-v2 on \[digits\] · fine-tuning\s.*3/7\s", text)


def test_an_interrupt_passes_through_and_gives_the_cursor_back(on_terminal) -> None:
    def interrupted() -> None:
        with epoch_progress("gcn") as on_epoch:
            on_epoch(record(0), 10)
            raise KeyboardInterrupt

    def train() -> None:
        with pytest.raises(KeyboardInterrupt):
            interrupted()

    text = on_terminal(train)
    assert HIDE_CURSOR in text  # while the bar moved
    assert text.rindex(SHOW_CURSOR) > text.rindex(HIDE_CURSOR)
    assert text.endswith(CLEAR_LINE)  # of the bar itself nothing stays


def test_nothing_when_it_is_switched_off(on_terminal) -> None:
    def train() -> None:
        with epoch_progress("gcn", enabled=False) as on_epoch:
            assert on_epoch is None

    assert on_terminal(train) == ""


def test_without_a_terminal_short_work_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    with epoch_progress("gcn") as on_epoch:
        on_epoch(record(0), 10)
    assert capfd.readouterr() == ("", "")


def test_without_a_terminal_long_work_logs_every_stage(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lnp.engine.log_lines.EVERY", 0.0)
    with epoch_progress("gcn on digits") as on_epoch:
        on_epoch(record(4), 10)
        on_epoch(record(0, stage="fine-tuning"), 7)
    first, second = capfd.readouterr().err.splitlines()
    assert first.startswith("gcn on digits · train: 5 of 10, noisy_ce 1.5  kl 0.25  score 0.75; 0:00:00 so far")
    assert second.startswith("gcn on digits · fine-tuning: 1 of 7, ")


def test_a_score_that_is_not_a_number_is_left_out() -> None:
    assert describe_epoch(EpochRecord("train", 0, {"ce": 2.0}, float("nan"), True)) == "ce 2"
