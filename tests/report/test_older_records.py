"""Records of configurations that are no longer shipped: which count, and what is said of them."""

from __future__ import annotations

from lnp.experiments.grid import Choice, expand
from lnp.experiments.tables import load_table
from lnp.report.older_records import older_records


def hash_now(table: str, dataset: str, rate: float, method: str, **choice: str) -> str:
    chosen = Choice(methods=[method], datasets=[dataset], rates=[rate], seeds=1, **choice)
    (run,) = expand(load_table(table), chosen)
    return run.spec.config_hash


def test_records_of_shipped_configurations_are_passed_over(runs) -> None:
    now = hash_now("table-2", "cora", 0.8, "gcn")
    strict = hash_now("table-2", "cora", 0.8, "gcn", protocol="strict")
    assert now != strict
    rows = runs("table-2", "cora", 0.8, "gcn", [70.0, 71.0], config_hash=now)
    assert older_records(rows) == []
    assert older_records(runs("table-2", "cora", 0.8, "gcn", [70.0], config_hash=strict, protocol="strict")) == []


def test_the_others_are_counted_by_graph_with_what_to_do(runs) -> None:
    rows = [
        *runs("table-2", "cora", 0.8, "gcn", [70.0, 71.0], config_hash=hash_now("table-2", "cora", 0.8, "gcn")),
        *runs("table-2", "cora", 0.8, "gce", [70.0, 71.0], config_hash="older"),
        *runs("table-2", "actor", 0.2, "gce", [30.0], config_hash="older"),
        *runs("table-2", "actor", 0.2, "gce", [30.0], config_hash="older", protocol="strict"),
        *runs("figure-ablation", "cora", 0.8, "lnp-v2", [60.0], part="nl", config_hash="older"),
    ]
    assert older_records(rows) == [
        "figure-ablation, protocol paper: 1 of 1 records have another configuration than the one shipped now (cora 1).",
        "table-2, protocol paper: 3 of 5 records have another configuration than the one shipped now (actor 1, cora "
        "2).",
        "table-2, protocol strict: 1 of 1 records have another configuration than the one shipped now (actor 1).",
        "What has another configuration is run again by lnp reproduce with --skip-recorded.",
    ]


def test_what_a_table_does_not_have_is_not_judged(runs) -> None:
    """A graph of one's own in the place of the table's: nothing is shipped for it to be compared with."""
    assert older_records(runs("table-2", "mine", 0.8, "gcn", [70.0], config_hash="older")) == []
