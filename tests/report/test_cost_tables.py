"""Tables of costs, detection and protocols."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lnp.report.cost_tables import cost_table, detection_table, loss_table, timing_table
from lnp.report.costs import timings
from lnp.report.records import Results
from lnp.report.results import analyse


@pytest.fixture
def rows(runs):
    return [
        *runs("table-2", "cora", 0.2, "gcn", [80.0], seconds=2.0),
        *runs("table-2", "cora", 0.4, "gcn", [70.0], seconds=2.0),
        *runs("table-2", "cora", 0.2, "gce", [80.0], seconds=3.0, detection_ap=0.7),
        *runs("table-2", "actor", 0.2, "gcn", [30.0], seconds=4.0),
        *runs("table-2", "cora", 0.2, "gcn", [78.0], protocol="strict", seconds=2.0),
        *runs("table-2", "cora", 0.4, "gcn", [71.0], protocol="strict", seconds=2.0),
    ]


def test_losses(rows) -> None:
    found = loss_table(analyse(Results(tuple(rows))).losses)
    assert found.head == ("method", "table-2, paper → strict")
    assert found.rows == (("gcn", "75.0 → 74.5 (−0.5 ± 2.1; 2)"),)  # drops of 2 and −1


def test_a_loss_over_one_row_does_not_lead(rows, runs) -> None:
    more = [
        *runs("table-2", "cora", 0.2, "apl", [60.0]),
        *runs("table-2", "cora", 0.2, "apl", [69.0], protocol="strict"),
        *runs("table-2", "cora", 0.2, "gce", [71.0], protocol="strict"),
    ]
    found = loss_table(analyse(Results((*rows, *more))).losses)
    assert [row[0] for row in found.rows] == ["gcn", "apl", "gce"]  # losses of 0.5 over two rows; −9 and 9 over one


def test_detection(rows) -> None:
    found = detection_table(analyse(Results(tuple(rows))).tables[0])
    assert found.head == ("method", "rate 0.2", "rate 0.4", "mean")
    assert found.rows == (
        ("gcn", "50.0 / 75.0", "50.0 / 75.0 (1)", "50.0 / 75.0"),
        ("gce", "70.0 / 75.0 (1)", "–", "70.0 / 75.0"),  # better, but on one graph and rate of three
    )


def test_costs_with_and_without_memory(rows) -> None:
    found = cost_table(analyse(Results(tuple(rows))))
    assert found.head == ("method", "actor", "cora")
    assert found.rows == (
        ("gce", "–", "3.0 s (1.5×), 30.0 ms"),
        ("gcn", "4.0 s (1.0×), 40.0 ms", "2.0 s (1.0×), 20.0 ms"),
    )
    assert "Peak memory is not in the files of records" in found.note
    known = cost_table(analyse(Results(tuple(replace(row, peak_mib=512.0) for row in rows))))
    assert known.rows[0][2] == "3.0 s (1.5×), 30.0 ms, 512 MiB"
    assert "and peak memory of the process" in known.note


def test_timings(runs) -> None:
    rows = [
        *runs("table-8", "arxiv-year", 0.8, "gcn", [40.0], seconds=10.0),
        *runs("table-8", "arxiv-year", 0.8, "lnp-v1", [40.0], seconds=40.0),
    ]
    found = timing_table("paper", timings(rows, "paper"))
    by_method = {row[1]: row for row in found.rows}
    assert by_method["lnp-v1"] == ("arxiv-year (paper: snap-patents)", "lnp-v1", "614.85", "4.9×", "40.00", "4.0×")
    assert by_method["nrgnn"][2:] == ("OOM", "–", "not run", "–")
