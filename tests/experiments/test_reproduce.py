"""Plans: what is done, what is left, what cannot be had; and how quickly that is known."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from lnp.errors import DataError
from lnp.experiments.code_version import code_version
from lnp.experiments.grid import Choice
from lnp.experiments.jobs import Event, Job, OnEvent, perform
from lnp.experiments.reproduce import make_plan, reproduce, tables_of
from lnp.experiments.store import Store
from lnp.experiments.tables import parse_table, table_names


class Here:
    """Runs jobs in this process; one seed fails."""

    def __init__(self, failing_seed: int | None = None) -> None:
        self.failing_seed, self.seen = failing_seed, list[Job]()

    def run(self, jobs: list[Job], store: Store, on_event: OnEvent) -> None:
        self.seen += jobs
        for job in jobs:
            if job.spec.seed == self.failing_seed:
                store.add_failure(job.identity.key, asdict(job.spec), "asked for")
                on_event(Event("failed", job, "asked for"))
            else:
                store.add(perform(job))
                on_event(Event("finished", job))


def test_a_second_time_only_what_failed_is_run_again(tiny, store: Store) -> None:
    tables, choice = [tiny(seeds=2)], Choice()
    plan = make_plan(tables, choice, store)
    assert (plan.total, plan.done, len(plan.jobs)) == (8, 0, 8)
    events: list[Event] = []
    outcome = reproduce(plan, Here(failing_seed=1), store, events.append)
    assert (outcome.finished, len(outcome.failed), len(events)) == (4, 4, 8)
    plan = make_plan(tables, choice, store)
    assert (plan.total, plan.done) == (8, 4)
    assert {job.spec.seed for job in plan.jobs} == {1}
    assert reproduce(plan, Here(), store).finished == 4
    plan = make_plan(tables, choice, store)
    assert plan.jobs == []
    executor = Here()
    assert reproduce(plan, executor, store).finished == 0
    assert executor.seen == []


def test_a_run_of_two_tables_is_run_once(tiny, store: Store) -> None:
    plan = make_plan([tiny(), tiny(seeds=2)], Choice(), store)
    assert len(plan.runs) == 4 + 8
    assert plan.total == len(plan.jobs) == 8
    assert [job.spec.seed for job in plan.jobs] == [0] * 4 + [1] * 4


def test_runs_of_other_code_count_if_asked(tiny, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    reproduce(make_plan([tiny()], Choice(), store), Here(), store)
    monkeypatch.setattr("lnp.experiments.identity.code_version", lambda method: "later")
    assert make_plan([tiny()], Choice(), store).done == 0
    assert make_plan([tiny()], Choice(), store, any_code=True).jobs == []


def test_a_dataset_that_is_not_at_hand_is_left_out(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def facts(name: str, cache: object) -> object:
        if name == "pubmed":
            raise DataError("No pubmed here.")
        return original("synthetic:nodes=60,classes=3,mean_degree=6", cache)

    from lnp.experiments.identity import dataset_facts as original

    monkeypatch.setattr("lnp.experiments.reproduce.dataset_facts", facts)
    choice = Choice(methods=["gcn"], rates=[0.2], seeds=1)
    plan = make_plan(tables_of("table-2"), choice, store)
    assert plan.unavailable == {"pubmed": "No pubmed here."}
    assert [run.grid_run.spec.dataset for run in plan.runs] == ["cora", "citeseer", "chameleon", "actor", "squirrel"]
    with pytest.raises(DataError, match="at hand, but: No pubmed here"):
        make_plan(tables_of("table-2"), Choice(methods=["gcn"], datasets=["pubmed"]), store)


def test_all_means_all() -> None:
    assert [table.name for table in tables_of("all")] == table_names()


def test_of_all_tables_those_that_a_choice_cannot_mean_are_left_out(store: Store, tiny) -> None:
    other = parse_table(
        "other", 'title="t"\nsource="s"\nseeds=1\n[[panel]]\nnoise="flip"\ndatasets=[]\nrates=[]\nmethods=[]'
    )
    assert make_plan([other, tiny()], Choice(), store).total == 4


def test_a_finished_grid_of_a_thousand_is_planned_with_little(
    tiny, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tiny(seeds=250)
    plan = make_plan([table], Choice(), store)
    assert len(plan.jobs) == 1000
    done = perform(plan.jobs[0])
    with store.transaction() as connection:  # a thousand rows as they would be, without the runs
        for job in plan.jobs:
            spec, identity = job.spec, job.identity
            row = (
                *(identity.key, identity.settings, spec.dataset, spec.method, spec.noise, spec.rate, spec.protocol),
                *(spec.seed, "gcn", 1.0, json.dumps({**done.record, "spec": asdict(spec)}), done.history),
                *(identity.code_version, spec.config_hash, 1.0, "2026-01-01T00:00:00", "0"),
            )
            connection.execute(f"INSERT INTO runs VALUES ({', '.join('?' * len(row))})", row)
    digested: list[str] = []
    monkeypatch.setattr("lnp.experiments.identity.load_dataset", None)  # would fail
    monkeypatch.setattr("lnp.experiments.code_version.digest_modules", lambda roots, source: digested.append(roots[0]))
    code_version.cache_clear()
    statements: list[str] = []
    with Store(store.path) as again:
        with again.transaction() as connection:
            connection.set_trace_callback(statements.append)
        plan = make_plan([table], Choice(), again, any_code=True)
        assert plan.done == 1000
        assert plan.seconds(again) == 0
    code_version.cache_clear()
    reads = [statement for statement in statements if statement.startswith("SELECT")]
    assert len(reads) == 3, reads  # keys, settings and checksums, however many runs there are
    assert not any(column in read for read in reads for column in ("history", "record", "*"))
    assert digested == ["lnp.methods.clean_only", "lnp.methods.joint"]
