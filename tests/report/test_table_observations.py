"""Observations on tables: the paper's own figures are the check of what is counted."""

from __future__ import annotations

import pytest

from lnp.experiments.tables import load_table
from lnp.report.comparison import compare
from lnp.report.measured import Difference
from lnp.report.observations import FAILS, HOLDS, UNKNOWN
from lnp.report.table_observations import _mean, table_observations


@pytest.fixture
def as_published(runs):
    """Runs that give the paper's figures, once each."""

    def make(*names: str):
        rows = []
        for name in names:
            for (dataset, rate, method), printed in load_table(name).published.items():
                if printed.value is not None:
                    rows += runs(name, dataset, rate, method, [printed.value])
        return [compare(load_table(name), "paper", rows) for name in names]

    return make


def test_the_papers_own_figures_give_the_papers_own_counts(as_published) -> None:
    found = table_observations(as_published("table-1", "table-2", "table-6", "table-7"), "paper")
    for one in found:
        told = one.sentence.split("By the paper's own figures it is ")[1].rstrip(".")
        assert one.sentence.startswith(f"In {told} cases")
    by_claim = {one.claim: one for one in found}
    assert by_claim["LNP is the best or the runner-up in all 48 cases."].verdict == HOLDS
    assert "In 48 of 48 cases" in by_claim["LNP is the best or the runner-up in all 48 cases."].sentence
    robust = by_claim["A robust loss helps: APL generally performs better than GCN."]
    assert (robust.verdict, len(robust.cases)) == (FAILS, 48)  # 12 of 48 by the paper's own table
    smooth = by_claim["LNP is clearly better than D-GNN, NRGNN and LPM on heterophilous graphs."]
    assert (smooth.verdict, len(smooth.cases)) == (HOLDS, 24)


def test_counts_by_brute_force(as_published) -> None:
    tables = as_published("table-1", "table-2")
    found = next(one for one in table_observations(tables, "paper") if "LNP-v2 generally" in one.claim)
    better = rows = 0
    for name in ("table-1", "table-2"):
        printed = load_table(name).published
        for (dataset, rate, method), value in printed.items():
            if method == "lnp-v2" and rate in (0.6, 0.8):
                rows += 1
                better += value.value > printed[dataset, rate, "lnp-v1"].value  # type: ignore[operator]
    assert (sum(case.favours for case in found.cases), len(found.cases)) == (better, rows)


def test_a_lead_that_shrinks_speaks_against_large_graphs(runs) -> None:
    leads = {0.2: 5.0, 0.4: 5.0, 0.6: 1.0, 0.8: 2.0}
    rows = []
    for rate, lead in leads.items():
        rows += runs("table-5", "arxiv-year", rate, "gcn", [40.0])
        rows += runs("table-5", "arxiv-year", rate, "lnp-v1", [40.0 + lead])
    first, second = table_observations([compare(load_table("table-5"), "paper", rows)], "paper")
    assert (first.verdict, second.verdict) == (HOLDS, FAILS)
    assert "So far 4 of 8 cases" in first.sentence
    assert second.cases[0].difference.value == pytest.approx(1.5 - 5.0)
    assert "By the paper's own figures it is 2 of 2." in second.sentence


def test_nothing_run_is_nothing_said(runs) -> None:
    assert table_observations([], "paper") == []
    only_gcn = compare(load_table("table-2"), "paper", runs("table-2", "cora", 0.2, "gcn", [80.0]))
    assert {one.verdict for one in table_observations([only_gcn], "paper")} == {UNKNOWN}
    assert table_observations([only_gcn], "strict") == []


def test_the_mean_of_leads_is_off_by_what_each_of_them_is() -> None:
    mean = _mean([Difference(1.0, 3.0), Difference(3.0, 4.0)])
    assert (mean.mean, mean.error) == (2.0, 2.5)  # √(3² + 4²) / 2
    assert _mean([Difference(1.0, 3.0), Difference(3.0, None)]).error is None
