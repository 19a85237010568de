"""Finals: who is in them, that their scores are means over the seeds asked for, and that the best mean wins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lnp.datasets.catalog import load_dataset
from lnp.errors import ConfigError
from lnp.experiments.grid import Choice
from lnp.experiments.tuning import Tuner, trials_left
from lnp.experiments.tuning_file import TuningFile
from lnp.experiments.tuning_final import Final, finals, run_finals
from lnp.experiments.tuning_objective import score
from lnp.experiments.tuning_study import TuningOptions, find_studies


@pytest.fixture
def file(tmp_path: Path) -> TuningFile:
    return TuningFile(tmp_path / "trials.sqlite")


@pytest.fixture
def searches(tiny, file: TuningFile):
    specs, _ = find_studies([tiny(epochs=20)], Choice(rates=[0.4]), TuningOptions())
    found = [file.open(spec) for spec in specs]
    Tuner(trials=5).run(found)
    return found


def test_the_best_and_the_default_meet_again(searches, file: TuningFile) -> None:
    judged = finals(searches, file, Final(finalists=2, seeds=3))
    run_finals(judged, Tuner(trials=99))
    for search, final in zip(searches, judged, strict=True):
        ranked = [trial.user_attrs["options"] for trial in search.ranked()]
        expected = [search.spec.default, *[one for one in ranked if one != search.spec.default][:2]]
        assert [trial.user_attrs["options"] for trial in sorted(final.ranked(), key=lambda t: t.number)] == expected
        spec, dataset = final.spec.spec, load_dataset(final.spec.spec.dataset)
        for trial in final.ranked():
            one = final.spec.trial_spec(trial.user_attrs["options"])
            each = [score(replace(one, seed=spec.seed + k), dataset) for k in range(3)]
            assert trial.value == pytest.approx(np.mean(each), abs=1e-12)
        assert final.best().value == max(trial.value for trial in final.ranked())
        assert final.default_score() is not None


def test_a_final_is_gone_on_with_and_not_held_twice(searches, file: TuningFile) -> None:
    final = Final(finalists=3, seeds=2)
    judged = finals(searches[:1], file, final)
    Tuner(trials=2).run(judged)  # stopped on the way
    again = finals(searches[:1], file, final)
    assert trials_left(again[0], 4) == 2
    run_finals(again, Tuner(trials=1))
    assert again[0].counts().counted == 4
    events: list[object] = []
    run_finals(finals(searches[:1], file, final), Tuner(trials=1), events.append)
    assert events == []
    assert searches[0].counts().counted == 5  # the search is as it was
    assert searches[0].spec.name != again[0].spec.name


def test_a_search_that_goes_further_is_judged_anew(searches, file: TuningFile) -> None:
    """What is found later gets its chance; a final of the old finalists would be over."""
    final = Final(finalists=99, seeds=1)
    run_finals(finals(searches, file, final), Tuner(trials=1))
    Tuner(trials=7).run(searches)
    judged = finals(searches, file, final)
    run_finals(judged, Tuner(trials=1))
    for search, one in zip(searches, judged, strict=True):
        found = [trial.user_attrs["options"] for trial in one.ranked()]
        assert all(trial.user_attrs["options"] in found for trial in search.ranked())


def test_a_search_without_a_score_has_no_final(tiny, file: TuningFile) -> None:
    specs, _ = find_studies([tiny()], Choice(rates=[0.4]), TuningOptions())
    assert finals([file.open(spec) for spec in specs], file, Final(finalists=2)) == []


def test_numbers_that_make_no_sense() -> None:
    with pytest.raises(ConfigError, match="finalists"):
        Final(finalists=-1)
    with pytest.raises(ConfigError, match="final_seeds"):
        Final(seeds=0)
