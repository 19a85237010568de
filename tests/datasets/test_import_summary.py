"""A summary says everything, to people and to programs."""

from __future__ import annotations

import json

import pytest

from lnp.datasets.import_summary import ClassRow, ColumnRow, Finding, ImportSummary
from lnp.errors import DataError

SUMMARY = ImportSummary(
    source="nodes.csv and edges.csv",
    nodes=1200,
    edges=3400,
    features=7,
    labelled=900,
    trusted=25,
    homophily=0.81,
    adjusted_homophily=0.77,
    classes=(ClassRow("red", 500, 20), ClassRow("a long\nname", 400, 5)),
    columns=(ColumnRow("id", "id"), ColumnRow("size", "numbers", 1, "2 missing, filled with the median 3")),
    findings=(Finding("self-loops", 3, "3 edges lead from a node to itself; left out."),),
)


def test_json_survives_a_file() -> None:
    assert ImportSummary.from_json(json.loads(json.dumps(SUMMARY.to_json()))) == SUMMARY


def test_people_read_everything() -> None:
    text = str(SUMMARY)
    for part in ("1,200 nodes, 3,400 edges, 7 features, 2 classes", "900 nodes have a label, 25 of them trusted"):
        assert part in text
    assert "on 81% of the edges (0.77 beyond chance)" in text
    assert "  red          500       20\n" in text
    assert "  a long name  400       5\n" in text  # one line, whatever the name holds
    assert "  size  numbers  1         2 missing, filled with the median 3" in text
    assert text.endswith("worth knowing:\n  - 3 edges lead from a node to itself; left out.")


def test_programs_ask_for_a_count() -> None:
    assert (SUMMARY.count("self-loops"), SUMMARY.count("isolated nodes")) == (3, 0)


@pytest.mark.parametrize("values", [3, {}, {**SUMMARY.to_json(), "nodse": 1}, {**SUMMARY.to_json(), "classes": [1]}])
def test_other_json_is_refused(values: object) -> None:
    with pytest.raises(DataError, match=r"Expected `summary`"):
        ImportSummary.from_json(values)
