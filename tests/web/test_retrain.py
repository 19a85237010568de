from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lnp.web import retrain
from lnp.web.retrain import Retraining, reserve_folder

ANY = Path(__file__).with_name("any_training.py")


def make(how: str, on_done: Callable[[Path, Path], None] = lambda *_: None) -> Retraining:
    return Retraining(Path("graph"), "model", on_done, (sys.executable, str(ANY), how))


def wait_for(condition: Callable[[], object], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.01)


def test_a_training_runs_to_its_end_and_hands_over(tmp_path: Path) -> None:
    handed: list[tuple[Path, str]] = []
    training = make("quick", lambda out, scores: handed.append((out, scores.read_text(encoding="utf-8"))))
    (tmp_path / "model").mkdir()
    assert training.start(tmp_path / "model", "node,label\nn1,ä\n", verdicts=7)
    assert not training.start(tmp_path / "model", "", verdicts=9)  # one at a time
    wait_for(lambda: training.status.state != "running")
    assert handed == [(tmp_path / "model-review-1", "node,label\nn1,ä\n")]
    assert (training.status.state, training.status.verdicts) == ("done", 7)
    assert "model-review-1" in training.status.message


@pytest.mark.parametrize(
    ("how", "message"),
    [("crash", "RuntimeError: out of luck"), ("silent", "without a word"), ("bad labels", "Expected better labels.")],
)
def test_a_failure_is_said_and_the_next_can_start(tmp_path: Path, how: str, message: str) -> None:
    training = make(how, lambda *_: pytest.fail("nothing was trained"))
    training.start(tmp_path / "model", "", 1)
    wait_for(lambda: training.status.state == "failed")
    assert message in training.status.message
    wait_for(lambda: list(tmp_path.iterdir()) == [])  # no empty folder is left
    assert training.start(tmp_path / "model", "", 1)
    wait_for(lambda: training.status.state == "failed")


def test_what_goes_wrong_in_taking_over_is_said(tmp_path: Path) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("no room")

    training = make("quick", refuse)
    training.start(tmp_path / "model", "", 1)
    wait_for(lambda: training.status.state == "failed")
    assert "no room" in training.status.message


@pytest.mark.parametrize("how", ["long", "stubborn"])
def test_a_training_can_be_stopped(tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrain, "GRACE", 0.5)
    training = make(how, lambda *_: pytest.fail("it was stopped"))
    training.start(tmp_path / "model", "", 1)
    wait_for(lambda: training.status.epoch > 2)
    process = training._process
    assert process is not None
    assert training.stop()
    training.close()
    assert training.status.state == "stopped"
    assert process.poll() is not None
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
    assert not training.stop()


def test_progress_is_reported(tmp_path: Path) -> None:
    training = make("long")
    training.start(tmp_path / "model", "", 1)
    wait_for(lambda: training.status.epoch >= 2)
    seen = training.status
    assert (seen.state, seen.stage, seen.epochs) == ("running", "train", 10_000)
    wait_for(lambda: training.status.epoch > seen.epoch)
    training.close()


def test_new_models_never_take_the_place_of_old_ones(tmp_path: Path) -> None:
    model = tmp_path / "model"
    names = []
    for _ in range(3):
        model = reserve_folder(model)  # trained again from the last one
        names.append(model.name)
    assert names == ["model-review-1", "model-review-2", "model-review-3"]
    assert reserve_folder(tmp_path / "run" / "seed-0") == tmp_path / "run-review-1"
