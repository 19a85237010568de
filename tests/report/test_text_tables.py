"""Tables of strings."""

from __future__ import annotations

import pytest

from lnp.report.records import Results
from lnp.report.results import Analysis, TableSection, analyse
from lnp.report.text_tables import agreement_table, beaten_table, missed_table, rank_table, undersold_table


@pytest.fixture
def analysis(runs) -> Analysis:
    rows = [
        *runs("table-2", "cora", 0.8, "gcn", [50.0, 50.2]),
        *runs("table-2", "cora", 0.8, "lnp-v1", [60.0, 60.2]),
        *runs("table-2", "cora", 0.8, "lnp-v2", [61.0]),
        *runs("table-2", "cora", 0.8, "glc", [70.0]),
    ]
    return analyse(Results(tuple(rows)))


@pytest.fixture
def section(analysis: Analysis) -> TableSection:
    return analysis.tables[0]


def test_misses_have_all_that_is_needed_the_furthest_first(analysis: Analysis) -> None:
    found = missed_table(analysis.reaches[0])
    assert found.rows == (
        ("table-2, cora 0.8", "lnp-v2", "67.31 ± 3.11", "64.20", "61.00", "3.20", "1", "+8.8"),
        ("table-2, cora 0.8", "lnp-v1", "64.81 ± 1.61", "63.20", "60.10 ± 0.14", "3.10", "2", "+8.8"),
    )
    assert all(len(row) == len(found.head) for row in found.rows)


def test_a_miss_without_a_plain_network_beside_it_says_so(runs) -> None:
    rows = runs("table-2", "cora", 0.8, "lnp-v1", [60.0])
    assert missed_table(analyse(Results(tuple(rows))).reaches[0]).rows[0][-1] == "–"


def test_the_others(section: TableSection) -> None:
    assert agreement_table(section).rows == (
        ("gcn", "1", "0", "1", "0", "0", "+8.8"),
        ("lnp-v1", "1", "0", "0", "1", "0", "−4.7"),
        ("lnp-v2", "1", "0", "0", "0", "1", "−6.3"),
    )
    assert undersold_table(section).rows == (("cora 0.8", "gcn", "41.3 ± 1.1", "50.1 ± 0.1", "+8.8"),)
    assert beaten_table(section).rows == (("cora 0.8", "lnp-v2 61.0", "glc 70.0", "no", "+9.0", "one seed only"),)


def test_ranks_or_why_there_are_none(section: TableSection, runs) -> None:
    assert rank_table(section).note.startswith("Too little has been run for ranks")
    rows = [
        row
        for rate in (0.2, 0.4, 0.6)
        for method, accuracy in (("gcn", 50.0), ("gce", 60.0), ("lnp-v2", 70.0))
        for row in runs("table-2", "cora", rate, method, [accuracy])
    ]
    found = rank_table(analyse(Results(tuple(rows))).tables[0])
    assert found.rows[0][:3] == ("lnp-v2", "1.00", "1.00")
    # three methods always in the same order over three rows: χ² = 6, p = e⁻³
    assert "χ² = 6.0, p = 0.050" in found.note
    assert "1.91 apart" in found.note  # 2.343 √(3 · 4 / 18)
