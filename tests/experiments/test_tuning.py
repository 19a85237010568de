"""Studies carried out by worker processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lnp.datasets.catalog import load_dataset
from lnp.experiments.grid import Choice
from lnp.experiments.tuning import TrialEvent, Tuner, trials_left
from lnp.experiments.tuning_file import TuningFile
from lnp.experiments.tuning_objective import score
from lnp.experiments.tuning_study import TuningOptions, find_studies
from lnp.experiments.tuning_trials import Begun, Counts, Trials
from lnp.experiments.tuning_worker import attempt


@pytest.fixture
def studies(tiny, tmp_path: Path) -> list[Trials]:
    specs, _ = find_studies([tiny(epochs=20)], Choice(rates=[0.4]), TuningOptions())
    file = TuningFile(tmp_path / "trials.sqlite")
    return [file.open(spec) for spec in specs]


def test_every_study_gets_its_trials_and_their_scores_are_right(studies: list[Trials]) -> None:
    events: list[TrialEvent] = []
    Tuner(trials=4).run(studies, events.append)
    assert [study.counts().counted for study in studies] == [4, 4]
    assert len(events) == 8
    assert sum(event.study_done for event in events) == 2
    dataset = load_dataset(studies[0].spec.spec.dataset)
    for study in studies:
        best = study.best()
        assert best.value == score(study.spec.trial_spec(best.user_attrs["options"]), dataset)
        assert best.value >= study.default_score() == score(study.spec.spec, dataset)
    events.clear()
    Tuner(trials=4).run(studies, events.append)
    assert events == []
    assert [trials_left(study, 6) for study in studies] == [2, 2]


@pytest.mark.parametrize("kind", ["failed", "pruned"])
def test_a_trial_that_does_not_end_well_is_not_the_end(
    studies: list[Trials], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """In this process, with a worker that ends every second trial in that way."""
    from lnp.experiments import tuning
    from lnp.experiments.tuning_worker import Ended

    study, number = studies[0], 0
    dataset = load_dataset(study.spec.spec.dataset)
    crew = tuning._Crew(Tuner(trials=5), [study], lambda event: None)

    class Pipe:
        def send(self, message: object) -> None:
            nonlocal number
            number += 1
            self.answer = attempt(message, dataset) if number % 2 else Ended(kind, 1.0, reason="it diverged")  # type: ignore[arg-type]

        def recv(self) -> object:
            return self.answer

        def close(self) -> None:
            pass

    class Process:
        def join(self, seconds: float = 0) -> None:
            pass

        def is_alive(self) -> bool:
            return False

    worker = tuning._Worker(Process(), Pipe())  # type: ignore[arg-type]
    crew.workers.append(worker)
    monkeypatch.setattr(tuning, "wait", lambda pipes: pipes)
    crew.work()
    crew.dismiss()
    assert study.counts() == Counts(complete=3, **{kind: 2})
    assert study.reasons() == (["it diverged"] * 2 if kind == "failed" else [])


def test_no_trial_is_begun_after_the_end(studies: list[Trials]) -> None:
    began = time.monotonic()
    Tuner(trials=4, seconds=0.0).run(studies)
    assert time.monotonic() - began < 5
    assert [study.counts() for study in studies] == [Counts(), Counts()]


def test_studies_side_by_side_before_trials_side_by_side(studies: list[Trials]) -> None:
    from lnp.experiments.tuning import _Crew, _Worker

    crew = _Crew(Tuner(trials=2, workers=3), list(studies), lambda event: None)

    def at_work(study: Trials) -> Begun:
        begun = study.begin()
        assert begun is not None
        crew.workers.append(_Worker(None, None, study, begun))  # type: ignore[arg-type]
        return begun

    order = []
    while (study := crew._next_study()) is not None:
        order.append(studies.index(study))
        at_work(study)
    assert order == [0, 1, 0, 1]


def test_killed_again_and_again_it_finishes_what_was_asked(tmp_path: Path) -> None:
    script = Path(__file__).with_name("tuning_killed.py")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "error"}
    done = subprocess.run(
        [sys.executable, script, tmp_path / "trials.sqlite", "5", "3"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 studies of 5, ")
    assert done.stdout.endswith("kills, integrity ok\n")
    assert int(done.stdout.split()[4]) >= 2
