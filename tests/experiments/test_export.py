"""Records as text: what is in them, that they are sorted, and that the same records give the same bytes."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from lnp.errors import ConfigError, DataError
from lnp.experiments.export import RUN_COLUMNS, export_results, run_rows, write_runs
from lnp.experiments.grid import Choice
from lnp.experiments.jobs import perform
from lnp.experiments.reproduce import make_plan
from lnp.experiments.store import Store


def read(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_results_of_a_table(tiny, store: Store, tmp_path: Path) -> None:
    tables = [tiny(seeds=2)]
    jobs = make_plan(tables, Choice(), store).jobs
    for job in reversed(jobs[1:]):  # the order of finishing must not matter, nor that one is missing
        store.add(perform(job))
    (path,) = export_results(make_plan(tables, Choice(), store), store, tmp_path)
    assert path.name == "tiny.paper.csv"
    rows = read(path)
    assert path.read_text(encoding="utf-8").splitlines()[0] == (
        "table,protocol,dataset,noise,rate,backbone,method,seed,test_accuracy,detection_ap,detection_auroc,epochs,"
        "seconds,config_hash,code_version"
    )
    assert len(rows) == 7
    assert [(row["rate"], row["method"], row["seed"]) for row in rows] == sorted(
        (row["rate"], row["method"], row["seed"]) for row in rows
    )
    by_key = {(run.spec["rate"], run.spec["method"], run.spec["seed"]): run for run in store.runs()}
    for row in rows:
        run = by_key[float(row["rate"]), row["method"], int(row["seed"])]
        assert float(row["test_accuracy"]) == pytest.approx(run.record["test_accuracy"], abs=1e-6)
        assert float(row["detection_ap"]) == pytest.approx(run.record["detection_ap"], abs=1e-6)
        assert (row["table"], row["protocol"], row["backbone"]) == ("tiny/short", "paper", "gcn")
        assert (row["config_hash"], row["code_version"]) == (run.config_hash, run.code_version)
    before = path.read_bytes()
    export_results(make_plan(tables, Choice(), store), store, tmp_path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.glob("*.csv*")] == ["tiny.paper.csv"]


def test_lines_of_other_stores_stay_and_those_of_the_same_run_are_replaced(tiny, store: Store, tmp_path: Path) -> None:
    plan = make_plan([tiny(seeds=2)], Choice(), store)
    for job in plan.jobs[:3]:
        store.add(perform(job))
    (path,) = export_results(make_plan([tiny(seeds=2)], Choice(), store), store, tmp_path)
    first, *others = read(path)
    older = first | {"test_accuracy": "0.123456"}  # the same run, with another result
    elsewhere = first | {"seed": "17"}  # a run that this store does not have
    former = first | {"seed": "18", "config_hash": "another"}  # not to be averaged with what it is now
    write(path, [elsewhere, older, former, *others])
    export_results(make_plan([tiny(seeds=2)], Choice(), store), store, tmp_path)
    after = read(path)
    assert sorted(after, key=str) == sorted([first, elsewhere, *others], key=str)
    seeds = [int(row["seed"]) for row in after if row | {"seed": ""} == first | {"seed": ""}]
    assert seeds == [0, 17]
    path.write_text("table,seed\n", encoding="utf-8")
    with pytest.raises(DataError, match="to have the columns table, protocol"):
        export_results(make_plan([tiny(seeds=2)], Choice(), store), store, tmp_path)


def test_a_table_without_a_finished_run_gets_no_file(tiny, store: Store, tmp_path: Path) -> None:
    assert export_results(make_plan([tiny()], Choice(), store), store, tmp_path / "results") == []


def test_any_runs_as_csv_and_parquet(jobs, store: Store, tmp_path: Path) -> None:
    polars = pytest.importorskip("polars", reason="needs polars")
    for job in jobs()[:2]:
        store.add(perform(job))
    runs = store.runs()
    write_runs(runs, tmp_path / "runs.csv")
    write_runs(runs, tmp_path / "runs.parquet")
    text, frame = read(tmp_path / "runs.csv"), polars.read_parquet(tmp_path / "runs.parquet")
    assert tuple(text[0]) == tuple(frame.columns) == RUN_COLUMNS
    assert frame.to_dicts() == run_rows(runs)
    assert [row["key"] for row in text] == [run.key for run in runs]
    assert float(text[0]["realised_rate"]) == pytest.approx(runs[0].record["realised_rate"], abs=1e-6)


def test_other_endings_and_a_missing_polars_are_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        ConfigError, match=r"Expected `--export` to name a \.csv or \.parquet file, but got 'runs\.xls'"
    ):
        write_runs([], tmp_path / "runs.xls")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ConfigError, match="Expected the package polars"):
        write_runs([], tmp_path / "runs.parquet")
