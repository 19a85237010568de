"""Trials of a study: which count, which come again, what is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from lnp.experiments.grid import Choice
from lnp.experiments.processes import Owner
from lnp.experiments.tuning_file import TuningFile
from lnp.experiments.tuning_study import StudySpec, TuningOptions, find_studies
from lnp.experiments.tuning_trials import Begun, Counts, Trials

GONE = Owner(Owner.current().host, 2**22 - 7, 1)


@pytest.fixture
def spec(tiny) -> StudySpec:
    return find_studies([tiny()], Choice(methods=["joint"], rates=[0.4]), TuningOptions())[0][0]


@pytest.fixture
def study(spec: StudySpec, tmp_path: Path) -> Trials:
    return TuningFile(tmp_path / "trials.sqlite").open(spec)


def again(study: Trials, tmp_path: Path) -> Trials:
    """As another process sees it."""
    return TuningFile(tmp_path / "trials.sqlite").open(study.spec)


def play(study: Trials, trials: int, value: Callable[[dict[str, object]], float]) -> list[dict[str, object]]:
    """Trials without training."""
    drawn = []
    while study.counts().counted < trials:
        begun = study.begin()
        if begun is not None:
            drawn.append(begun.options)
            study.complete(begun, value(begun.options), 1.0)
    return drawn


def begin(study: Trials) -> Begun:
    begun = study.begin()
    assert begun is not None
    return begun


def test_the_default_comes_first_and_is_never_pruned(study: Trials) -> None:
    first = begin(study)
    assert first.is_default
    assert first.options == study.spec.default
    study.complete(first, 0.1, 2.0)
    second = begin(study)
    assert not second.is_default
    assert second.options != study.spec.default
    assert study.default_score() == 0.1
    assert study.mean_seconds() == 2.0


def test_draws_depend_on_seed_and_scores_alone(spec: StudySpec, tmp_path: Path) -> None:
    def value(options: dict[str, object]) -> float:
        return float(options["dropout"])  # type: ignore[arg-type]

    drawn = [play(TuningFile(tmp_path / f"{n}.sqlite", seed).open(spec), 7, value) for n, seed in enumerate((3, 3, 4))]
    assert drawn[0] == drawn[1] != drawn[2]
    path = tmp_path / "stopped.sqlite"  # opened anew for every trial
    for count in range(1, 8):
        play(TuningFile(path, 3).open(spec), count, value)
    assert TuningFile(path, 3).open(spec).best().user_attrs["options"] in drawn[0]
    assert [play(TuningFile(path, 3).open(spec), 7, value)] == [[]]
    options = sorted(TuningFile(path, 3).open(spec)._all(), key=lambda trial: trial.number)
    assert [trial.user_attrs["options"] for trial in options] == drawn[0]


def test_the_sampler_learns(spec: StudySpec, tmp_path: Path) -> None:
    def score(options: dict[str, float]) -> float:
        return -abs(options["dropout"] - 0.7)

    late: list[float] = []
    for seed in range(4):  # one study is a matter of luck
        study = TuningFile(tmp_path / f"{seed}.sqlite", seed).open(spec)
        late += [float(options["dropout"]) for options in play(study, 26, score)[14:]]  # type: ignore[arg-type]
    assert sum(abs(value - 0.7) < 0.15 for value in late) > len(late) * 0.6  # three of seven values


def test_the_best_is_the_earliest_of_the_best(study: Trials) -> None:
    assert study.best() is None
    for value in (0.4, 0.6, 0.6, 0.5):
        study.complete(begin(study), value, 1.0)
    assert study.best().number == 1
    assert study.default_score() == 0.4


def test_what_counts(study: Trials, tmp_path: Path) -> None:
    study.complete(begin(study), 0.4, 1.0)
    study.prune(begin(study), 1.0)
    study.fail(begin(study), "ConfigError: the loss became infinite")
    under_way = begin(study)
    assert study.counts() == Counts(complete=1, pruned=1, failed=1, running=1)
    assert study.counts().counted == 3
    assert study.reasons() == ["ConfigError: the loss became infinite"]
    assert again(study, tmp_path).take_up() == 0  # its process, this one, lives
    study.interrupt(under_way)
    assert study.counts() == Counts(complete=1, pruned=1, failed=1, running=0)
    assert begin(study).options == under_way.options


def test_a_trial_of_a_process_that_is_gone_is_done_again(study: Trials, tmp_path: Path) -> None:
    lost = begin(study)
    lost.trial.set_user_attr("owner", asdict(GONE))
    other = again(study, tmp_path)
    assert other.counts() == Counts()
    assert other.take_up() == 1
    assert other.take_up() == 0
    redone = begin(other)
    assert redone.is_default
    assert redone.options == lost.options
    other.complete(redone, 0.5, 1.0)
    assert other.counts() == Counts(complete=1)
    assert other.default_score() == 0.5
    study.complete(lost, 0.9, 1.0)  # it lived after all, but its trial is over
    assert other.best().value == 0.5


def test_a_configuration_that_kills_its_worker_fails_the_second_time(study: Trials) -> None:
    first = begin(study)
    assert study.lose_worker(first, "the worker was ended by SIGKILL")
    second = begin(study)
    assert second.options == first.options
    assert study.counts().counted == 0
    assert not study.lose_worker(second, "the worker was ended by SIGKILL")
    assert study.reasons() == ["the worker was ended by SIGKILL, 2 times"]
    assert study.counts() == Counts(failed=1)


def test_a_known_configuration_is_not_run_again(study: Trials) -> None:
    first = begin(study)
    study.complete(first, 0.5, 1.0)
    study._study.enqueue_trial(first.trial.params)
    assert study.begin() is None
    assert study.counts() == Counts(complete=2)
    assert study.best().number == 0


def test_trials_below_the_median_are_pruned(study: Trials) -> None:
    for value in (0.5, 0.6, 0.7, 0.8, 0.9):
        begun = begin(study)
        assert not study.should_stop(begun, 10, value)
        study.complete(begun, value, 1.0)
    poor, good = begin(study), begin(study)
    assert study.should_stop(poor, 10, 0.69)
    assert not study.should_stop(good, 10, 0.71)


def test_two_draws_of_three_are_near_the_best_so_far(spec: StudySpec, tmp_path: Path) -> None:
    rank = {"0.2": 1.0, "0.3": 2.0}  # of some value or other, so that the best is seldom the latest
    study = TuningFile(tmp_path / "a.sqlite").open(spec)
    far, close = [], []
    play(study, 5, lambda options: rank.get(str(options["dropout"]), 0.0))
    for number in range(5, 41):
        best = study.best().user_attrs["options"]  # type: ignore[union-attr]
        begun = study.begin()
        if begun is None:
            continue
        changed = sum(value != best[option] for option, value in begun.options.items())
        (far if number % 3 == 2 else close).append(changed)
        study.complete(begun, rank.get(str(begun.options["dropout"]), 0.0), 1.0)
    assert len(close) >= 15
    assert sum(close) / len(close) < 2.6 < sum(far) / len(far)
