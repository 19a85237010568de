"""Records in files in the place of a store: which runs they spare, and which they must not."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from lnp.experiments.export import export_results
from lnp.experiments.grid import Choice, GridRun, expand
from lnp.experiments.jobs import perform
from lnp.experiments.recorded import recorded_in
from lnp.experiments.reproduce import make_plan
from lnp.experiments.store import Store
from lnp.experiments.tables import load_table


@pytest.fixture
def folder(tiny, store: Store, tmp_path: Path) -> Path:
    """The first seed of a small table, recorded."""
    for job in make_plan([tiny()], Choice(), store).jobs:
        store.add(perform(job))
    export_results(make_plan([tiny()], Choice(), store), store, tmp_path / "results")
    return tmp_path / "results"


def test_only_what_no_file_has_is_planned(tiny, folder: Path, tmp_path: Path) -> None:
    with Store(tmp_path / "new.sqlite") as new:
        plan = make_plan([tiny(seeds=3)], Choice(), new, is_recorded=recorded_in(folder))
        assert (plan.recorded, plan.total, plan.done) == (4, 8, 0)
        assert {job.spec.seed for job in plan.jobs} == {1, 2}
        whole = make_plan([tiny()], Choice(), new, is_recorded=recorded_in(folder))
        assert (whole.recorded, whole.total, whole.jobs) == (4, 0, [])
        nothing = make_plan([tiny()], Choice(), new, is_recorded=recorded_in(tmp_path / "none"))
        assert (nothing.recorded, nothing.total) == (0, 4)


def test_a_record_with_another_configuration_spares_nothing(tiny, folder: Path) -> None:
    (path,) = folder.glob("*.csv")
    runs = expand(tiny(), Choice())
    assert list(map(recorded_in(folder), runs)) == [True] * 4
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(runs[0].spec.config_hash, "0" * 12), encoding="utf-8")
    same = [run.spec.config_hash == runs[0].spec.config_hash for run in runs]
    assert list(map(recorded_in(folder), runs)) == [not one for one in same]
    assert any(same)
    assert not all(same)


def test_what_is_added_stands_beside_what_was_there(tiny, folder: Path, tmp_path: Path) -> None:
    (path,) = folder.glob("*.csv")
    before = path.read_text(encoding="utf-8").splitlines()
    with Store(tmp_path / "new.sqlite") as new:
        is_recorded = recorded_in(folder)
        for job in make_plan([tiny(seeds=2)], Choice(), new, is_recorded=is_recorded).jobs:
            new.add(perform(job))
        export_results(make_plan([tiny(seeds=2)], Choice(), new, is_recorded=is_recorded), new, folder)
    after = path.read_text(encoding="utf-8").splitlines()
    assert set(before) < set(after)
    assert len(after) == 1 + 8


@pytest.mark.parametrize("name", ["table-1", "table-2"])
def test_every_shipped_record_with_todays_configuration_is_found(name: str) -> None:
    """By a count of another kind: lines of the file whose run and configuration the grid has."""
    results = Path(__file__).parents[2] / "results"
    runs = expand(load_table(name), Choice())
    by_hand = {_words(run) for run in runs}
    with (results / f"{name}.paper.csv").open(encoding="utf-8", newline="") as file:
        names = ("table", "dataset", "noise", "rate", "method", "seed", "config_hash")
        lines = {tuple(line[one] for one in names) for line in csv.DictReader(file)}
    is_recorded: Callable[[GridRun], bool] = recorded_in(results)
    assert sum(map(is_recorded, runs)) == len(by_hand & lines) > 0


def _words(run: GridRun) -> tuple[str, ...]:
    spec = run.spec
    return (run.label, spec.dataset, spec.noise, f"{spec.rate:g}", spec.method, str(spec.seed), spec.config_hash)
