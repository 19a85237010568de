"""Verdicts on small tables whose answers are plain."""

from __future__ import annotations

import pytest

from lnp.experiments.tables import load_table
from lnp.report.comparison import compare
from lnp.report.verdicts import agreement, beaten, best_or_runner_up, losses, reach, undersold


def test_a_cell_reaches_with_the_figure_minus_one_deviation_and_a_miss_is_listed(runs) -> None:
    # Table 2, Cora 0.8: v1 64.81 ± 1.61, v2 67.31 ± 3.11
    rows = [
        *runs("table-2", "cora", 0.8, "lnp-v1", [63.19, 63.19]),  # needed: 63.20
        *runs("table-2", "cora", 0.8, "lnp-v2", [64.20]),  # exactly what is needed
        *runs("table-1", "cora", 0.2, "lnp-v1", [90.0]),
        *runs("table-2", "cora", 0.8, "gcn", [10.0]),
    ]
    tables = [compare(load_table(name), "paper", rows) for name in ("table-1", "table-2", "table-7")]
    found = reach(tables, "paper")
    assert found.total == 96
    assert [(one.table, one.cell.method) for one in found.missed] == [("table-2", "lnp-v1")]
    assert len(found.reached) == 2
    assert len(found.not_run) == 93
    assert reach(tables, "strict").total == 0


def test_agreement_counts_sides(runs) -> None:
    # Table 2, GCN: Cora 0.2 82.89 ± 0.14, 0.4 67.39 ± 0.42, 0.6 51.99 ± 1.13
    rows = [
        *runs("table-2", "cora", 0.2, "gcn", [82.8, 83.0]),
        *runs("table-2", "cora", 0.4, "gcn", [77.0, 78.0]),
        *runs("table-2", "cora", 0.6, "gcn", [40.0, 41.0]),
        *runs("table-2", "cora", 0.8, "gcn", [41.33]),
    ]
    (row,) = agreement(compare(load_table("table-2"), "paper", rows))
    assert (row.method, row.within, row.above, row.below, row.unknown, row.cells) == ("gcn", 1, 1, 1, 1, 4)
    assert row.mean_gap == pytest.approx((0.01 + 10.11 - 11.49 + 0.0) / 4)


def test_undersold_are_baselines_only(runs) -> None:
    rows = [
        *runs("table-2", "cora", 0.4, "gcn", [77.0, 78.0]),
        *runs("table-2", "cora", 0.6, "gcn", [60.0, 90.0]),  # far above, but so are its errors
        *runs("table-2", "cora", 0.4, "gce", [88.0, 88.5]),
        *runs("table-2", "cora", 0.4, "lnp-v2", [95.0, 95.1]),
    ]
    found = undersold(compare(load_table("table-2"), "paper", rows))
    assert [(cell.method, cell.rate) for cell in found] == [("gce", 0.4), ("gcn", 0.4)]  # the largest gap first


def test_where_a_baseline_beats_both_versions(runs) -> None:
    rows = [
        *runs("table-2", "cora", 0.2, "lnp-v1", [80.0, 80.2]),
        *runs("table-2", "cora", 0.2, "lnp-v2", [85.0, 85.2]),
        *runs("table-2", "cora", 0.2, "gcn", [83.0, 83.2]),  # above v1 only
        *runs("table-2", "cora", 0.4, "lnp-v2", [70.0, 70.2]),
        *runs("table-2", "cora", 0.4, "gcn", [71.0, 71.2]),
        *runs("table-2", "cora", 0.4, "glc", [73.0, 73.2]),
        *runs("table-2", "cora", 0.6, "gcn", [99.0]),  # nothing to beat
        *runs("table-2", "cora", 0.8, "lnp-v1", [50.0]),
        *runs("table-2", "cora", 0.8, "gcn", [51.0]),
    ]
    table = compare(load_table("table-2"), "paper", rows)
    first, second = beaten(table)
    assert (first.place, first.other.method, first.in_paper) == (("cora", 0.4), "glc", False)
    assert first.lead.value == pytest.approx(3.0)
    assert first.lead.side == "above"
    assert (second.place, second.in_paper, second.lead.side) == (("cora", 0.8), True, "unknown")
    assert best_or_runner_up(table, table.methods) == (1, 3, 3)
    assert best_or_runner_up(table, table.columns) == (1, 2, 3)  # at 0.4 both gcn and glc are ahead


def test_losses_over_the_rows_run_under_both_protocols(runs) -> None:
    rows = [
        *runs("table-2", "cora", 0.2, "gcn", [80.0, 82.0]),
        *runs("table-2", "cora", 0.4, "gcn", [70.0]),
        *runs("table-2", "cora", 0.6, "gcn", [10.0]),  # not run under strict
        *runs("table-2", "cora", 0.2, "gcn", [78.0], protocol="strict"),
        *runs("table-2", "cora", 0.4, "gcn", [71.0], protocol="strict"),
        *runs("table-2", "cora", 0.4, "gce", [71.0], protocol="strict"),
    ]
    tables = [compare(load_table("table-2"), protocol, rows) for protocol in ("paper", "strict")]
    (loss,) = losses(tables, "strict")
    assert (loss.method, loss.cells) == ("gcn", 2)
    assert loss.value == pytest.approx((3.0 - 1.0) / 2)
    assert loss.sd == pytest.approx(8**0.5)  # of 3 and −1
    assert losses(tables, "random") == []
