"""Rows that stay, readers beside writers, and files that are no store."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from lnp.errors import DataError
from lnp.experiments.identity import DatasetFacts, Identity
from lnp.experiments.jobs import perform
from lnp.experiments.records import Finished
from lnp.experiments.store import Store


@pytest.fixture
def done(jobs) -> Finished:
    return perform(jobs()[0])


def another(run: Finished, key: str, **spec: object) -> Finished:
    record = {**run.record, "spec": {**run.record["spec"], **spec}}
    return replace(run, record=record, identity=Identity(key, f"settings of {key}", "v1"))


def test_a_run_comes_back_as_it_was(store: Store, done: Finished) -> None:
    assert store.add(done)
    (row,) = store.runs()
    assert row.record == done.record
    assert row.key == done.identity.key
    assert row.spec["method"] == "clean-only"
    assert row.config["hidden"] == 4
    assert row.code_version == done.identity.code_version
    assert row.finished_at.endswith("+00:00")
    assert store.history(row.key)["stages"] == [["train", 2]]
    assert 50 < row.peak_mib < 50_000


def test_a_key_is_written_once_and_stays(store: Store, done: Finished) -> None:
    assert store.add(done)
    assert not store.add(replace(done, peak_mib=1.0))
    assert len(store) == 1
    assert store.runs()[0].peak_mib == done.peak_mib
    for statement in ("UPDATE runs SET seconds = 0", "DELETE FROM runs"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"), store.transaction() as connection:
            connection.execute(statement)
    assert len(store) == 1


def test_a_transaction_that_fails_leaves_nothing(store: Store, done: Finished) -> None:
    def write_half() -> None:
        with store.transaction() as connection:
            connection.execute("INSERT INTO datasets VALUES ('a', 'b', 'c')")
            raise KeyError

    with pytest.raises(KeyError):
        write_half()
    assert "a" not in store.facts_cache()
    assert store.add(done)  # the file is free again


def test_filters_and_keys(store: Store, done: Finished) -> None:
    for number, (method, rate) in enumerate([("gcn", 0.2), ("gcn", 0.4), ("gce", 0.4)]):
        store.add(another(done, f"k{number}", method=method, rate=rate))
    assert [run.key for run in store.runs(method="gcn")] == ["k0", "k1"]
    assert [run.key for run in store.runs(rate=0.4, method=None)] == ["k2", "k1"]
    assert [run.key for run in store.runs({"k0", "k2"})] == ["k0", "k2"]
    assert store.finished_keys() == {"k0", "k1", "k2"}
    assert "k1" in store
    assert "k3" not in store
    assert store.settings()["settings of k1"] == "k1"
    with pytest.raises(DataError, match="to have the run k3"):
        store.history("k3")


def test_mean_seconds_by_kind(store: Store, done: Finished) -> None:
    for number, seconds in enumerate((1.0, 3.0)):
        run = another(done, f"k{number}", method="gcn", dataset="cora", seed=number)
        store.add(replace(run, record={**run.record, "seconds": seconds}))
    assert store.seconds() == {("cora", "gcn", "gcn"): 2.0}


def test_a_reader_sees_what_is_committed_while_another_writes(store: Store) -> None:
    with Store(store.path) as reader:
        with store.transaction() as connection:
            connection.execute("INSERT INTO datasets VALUES ('a', 'b', 'c')")
            assert "a" not in reader.facts_cache()  # neither waits nor sees half of it
        assert reader.facts_cache()["a"] == DatasetFacts("b", "c")


def test_the_file_is_durable(store: Store) -> None:
    with store.transaction() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_failures_vanish_when_the_run_is_finished(store: Store, done: Finished) -> None:
    key, spec = done.identity.key, done.record["spec"]
    store.add_failure(key, spec, "first")
    store.add_failure(key, spec, "second")
    (failure,) = store.failures()
    assert (failure.reason, failure.spec) == ("second", spec)
    store.add(done)
    assert store.failures() == []


def test_facts_are_kept_in_the_file(store: Store) -> None:
    store.facts_cache()["cora 1"] = DatasetFacts("abc", "row")
    with Store(store.path) as again:
        assert dict(again.facts_cache()) == {"cora 1": DatasetFacts("abc", "row")}


def test_another_file_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    path.write_text("no database at all, but long enough to look at " * 20, encoding="utf-8")
    with pytest.raises(DataError, match=r"notes\.sqlite to be a store of runs, but got: file is not a database"):
        Store(path)
    connection = sqlite3.connect(tmp_path / "new.sqlite")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(DataError, match="of version 1, but got 99"):
        Store(tmp_path / "new.sqlite")


def test_spec_survives_json(done: Finished, jobs) -> None:
    assert done.record["spec"] == asdict(jobs()[0].spec)
