from __future__ import annotations

import pytest

from lnp.engine.log_lines import LogLines


class Clock:
    """Seconds that pass only when told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_line_a_minute_with_the_time_that_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = LogLines("table-2", 200, clock=clock)
    for done in range(1, 101):  # five seconds each
        clock.now += 5
        lines.at(done, f"run {done}")
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.splitlines()[:2] == [
        "table-2: 12 of 200, run 12; 0:01:00 so far, about 0:15:40 left",
        "table-2: 24 of 200, run 24; 0:02:00 so far, about 0:14:40 left",
    ]
    assert len(written.err.splitlines()) == 500 // 60


def test_work_of_less_than_a_minute_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = LogLines("scoring labels", 4, clock=clock)
    for done in range(1, 5):
        clock.now += 14.9
        lines.at(done, "a network")
    assert capsys.readouterr().err == ""


def test_nothing_done_yet_is_no_guess_of_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = LogLines("table-5", 4, clock=clock)
    clock.now = 90.0
    lines.at(0, "lpm retried")
    assert capsys.readouterr().err == "table-5: 0 of 4, lpm retried; 0:01:30 so far\n"
