"""What won near by is tried first."""

from __future__ import annotations

from typing import Any

from lnp.experiments.grid import Choice
from lnp.experiments.tables import load_table
from lnp.experiments.tuning_start import starting_points
from lnp.experiments.tuning_study import StudySpec, TuningOptions, find_studies

GRAPH = "synthetic:nodes=60,classes=3,features=8,mean_degree=6"


def study() -> StudySpec:
    choice = Choice(datasets=[GRAPH], methods=["gcn"], rates=[0.4])
    return find_studies([load_table("table-2")], choice, TuningOptions())[0][0]


def entry(dropout: float, **changes: Any) -> dict[str, Any]:
    plain = {"method": "gcn", "dataset": GRAPH, "noise": "flip", "rate": 0.4, "selection": "val-clean"}
    return plain | {"options": {"dropout": dropout}} | changes


def test_nearest_first_each_once_and_never_the_default() -> None:
    entries = [
        entry(0.2, dataset="cora"),
        entry(0.3, noise="uniform-mix"),
        entry(0.4, rate=0.8),
        entry(0.6, rate=0.6),
        entry(0.6, rate=0.2),  # the same configuration once more
        entry(0.5, rate=0.6),  # the default
        entry(0.7, method="gce"),
        entry(0.8, selection="trusted"),
    ]
    found = starting_points(entries, study())
    assert [options["dropout"] for options in found] == [0.6, 0.4, 0.3, 0.2]
    assert all(options | {"dropout": 0.5} == study().default for options in found)
    assert [options["dropout"] for options in starting_points(entries, study(), most=1)] == [0.6]


def test_what_the_space_does_not_have_is_left_out() -> None:
    (found,) = starting_points([entry(0.3, options={"hidden": 4096, "gone": 1, "dropout": 0.3})], study())
    assert found == study().default | {"dropout": 0.3}
