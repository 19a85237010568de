"""Records from a store: the same numbers as the run, with its memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lnp.experiments.grid import Choice
from lnp.experiments.jobs import perform
from lnp.experiments.reproduce import make_plan
from lnp.experiments.store import Store
from lnp.experiments.tables import parse_table
from lnp.report.records import Results
from lnp.report.stored_records import merge, stored_results

TINY = """
title = "tiny"
source = "a test"
seeds = 2
[protocols]
paper = { protocol = "random" }
random = { protocol = "random" }
strict = { protocol = "random", selection = "trusted" }
[[panel]]
noise = "flip"
datasets = ["synthetic:nodes=60,classes=3,features=8,mean_degree=6"]
rates = [0.2]
methods = ["joint"]
trusted_sizes = [9]
[panel.variants]
short = { epochs = 2, hidden = 4 }
"""


def test_runs_of_the_store_and_their_memory(tmp_path: Path) -> None:
    table = parse_table("tiny", TINY)
    with Store(tmp_path / "runs.sqlite") as store:
        jobs = make_plan([table], Choice(), store).jobs
        assert stored_results(store, [table]).rows == ()
        store.add(perform(jobs[1]))
        rows = stored_results(store, [table]).rows
        (run,) = store.runs()
    # protocols paper and random are the same run here, and seed 0 has not been run
    assert [(row.table, row.part, row.protocol, row.seed) for row in rows] == [
        ("tiny", "short", "paper", 1),
        ("tiny", "short", "random", 1),
    ]
    for row in rows:
        assert row.test_accuracy == run.record["test_accuracy"]
        assert row.detection_ap == run.record["detection_ap"]
        assert (row.peak_mib, row.seconds, row.epochs) == (run.peak_mib, run.record["seconds"], 2)
        assert (row.config_hash, row.code_version) == (run.config_hash, run.code_version)


def test_where_both_have_a_run_the_store_counts(runs) -> None:
    files = runs("table-2", "cora", 0.8, "gcn", [40.0, 41.0])
    stored = [replace(files[1], test_accuracy=0.5, peak_mib=300.0)]
    both = merge(Results(tuple(files), ("a",)), Results(tuple(stored), ("b",)))
    assert [row.test_accuracy for row in both.rows] == pytest.approx([0.4, 0.5])
    assert [row.peak_mib for row in both.rows] == [None, 300.0]
    assert both.notes == ("a", "b")
