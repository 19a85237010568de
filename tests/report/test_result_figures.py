"""Figures as data: every number in its place."""

from __future__ import annotations

import pytest

from lnp.experiments.tables import load_table
from lnp.report.charts import Curves, Dots, RankPanel, Scatter
from lnp.report.comparison import compare
from lnp.report.ranks import rank_methods
from lnp.report.result_figures import (
    ablation,
    clean_size,
    rank_diagram,
    real_noise,
    reported_against_reproduced,
    sensitivity,
)


def test_scatter_has_the_cells_with_both_figures(runs) -> None:
    rows = [
        *runs("table-2", "cora", 0.8, "gcn", [50.0, 52.0]),
        *runs("table-2", "cora", 0.8, "lnp-v2", [70.0]),
        *runs("table-2", "cora", 0.8, "glc", [60.0]),  # not in the paper
    ]
    figure = reported_against_reproduced(compare(load_table("table-2"), "paper", rows))
    assert figure is not None
    (panel,) = figure.panels
    assert isinstance(panel, Scatter)
    assert panel.ours == ((67.31, pytest.approx(70.0), "lnp-v2, cora 0.8"),)
    assert panel.others == ((41.33, pytest.approx(51.0), "gcn, cora 0.8"),)
    assert figure.name == "table-2-paper-scatter"
    assert reported_against_reproduced(compare(load_table("table-2"), "strict", rows)) is None


def test_ranks(runs) -> None:
    table = compare(load_table("table-2"), "paper", [])
    assert rank_diagram(table, None) is None
    summary = rank_methods({1: {"a": 1.0, "b": 2.0, "c": 3.0}, 2: {"a": 1.0, "b": 2.0, "c": 3.0}}, ["a", "b", "c"])
    figure = rank_diagram(table, summary)
    assert figure is not None
    assert isinstance(figure.panels[0], RankPanel)
    assert figure.title == "Mean ranks over 2 cells, table-2, protocol paper"


def test_sensitivity_puts_values_at_equal_steps(runs) -> None:
    rows = []
    for value, accuracy in ((0.01, 70.0), (0.5, 71.0), (100.0, 60.0)):
        rows += runs("figure-sensitivity", "cora", 0.8, "lnp-v2", [accuracy], part=f"lambda_2={value:g}")
    rows += runs("figure-sensitivity", "cora", 0.2, "lnp-v2", [85.0], part="lambda_2=100")
    figure = sensitivity(rows, "paper")
    assert figure is not None
    (panel,) = figure.panels
    assert isinstance(panel, Curves)
    assert panel.ticks == ((0.0, "0.01"), (1.0, "0.5"), (2.0, "100"))
    low, high = panel.series
    assert [(mark.x, mark.mean) for mark in low.marks] == [(2.0, pytest.approx(85.0))]
    assert [mark.x for mark in high.marks] == [0.0, 1.0, 2.0]
    assert sensitivity(rows, "strict") is None


def test_ablation_in_the_papers_order_with_its_figure_of_v2(runs) -> None:
    rows = [
        *runs("figure-ablation", "actor", 0.8, "lnp-v2", [27.0], part="nv"),
        *runs("figure-ablation", "cora", 0.8, "lnp-v2", [60.0], part="nl"),
        *runs("figure-ablation", "cora", 0.8, "lnp-v2", [66.0, 68.0], part="v2"),
    ]
    figure = ablation(rows, "paper")
    assert figure is not None
    first, second = figure.panels
    assert isinstance(first, Dots)
    assert isinstance(second, Dots)
    assert (first.title, second.title) == ("cora", "actor")
    assert [(row.label, row.published, row.strong) for row in first.rows] == [("v2", 67.31, True), ("nl", None, False)]


def test_clean_size_with_the_papers_figures_at_25(runs) -> None:
    rows = [
        *runs("figure-clean-size", "citeseer", 0.8, "lnp-v2", [66.0], part="b/trusted=20"),
        *runs("figure-clean-size", "citeseer", 0.8, "lnp-v2", [68.0], part="b/trusted=100"),
        *runs("figure-clean-size", "citeseer", 0.8, "gcn", [30.0], part="b/trusted=20"),
    ]
    assert clean_size(rows, "paper", "a") is None
    figure = clean_size(rows, "paper", "b")
    assert figure is not None
    (panel,) = figure.panels
    assert isinstance(panel, Curves)
    assert [series.label for series in panel.series] == ["gcn", "gcn, paper", "lnp-v2", "lnp-v2, paper"]
    assert [(mark.x, mark.mean) for mark in panel.series[3].marks] == [(25, 66.67)]
    assert panel.series[2].colour == panel.series[3].colour == 3


def test_a_curve_by_rate_is_that_of_the_method_in_the_title(runs) -> None:
    rows = [
        *runs("figure-clean-size", "citeseer", 0.8, "lnp-v1", [40.0], part="a/trusted=20"),
        *runs("figure-clean-size", "citeseer", 0.8, "lnp-v2", [66.0], part="a/trusted=20"),
    ]
    figure = clean_size(rows, "paper", "a")
    assert figure is not None
    assert "lnp-v2 at each noise rate" in figure.title
    (panel,) = figure.panels
    assert isinstance(panel, Curves)
    assert [(series.label, series.marks[0].mean) for series, _ in panel.lines()] == [("rate 0.8", 66.0)]


def test_no_two_methods_of_the_clean_size_share_a_colour(runs) -> None:
    methods = load_table("figure-clean-size").panels[1].methods
    rows = [
        row
        for method in methods
        for row in runs("figure-clean-size", "citeseer", 0.8, method, [50.0], part="b/trusted=20")
    ]
    figure = clean_size(rows, "paper", "b")
    assert figure is not None
    assert isinstance(figure.panels[0], Curves)
    colours = [series.colour for series, _ in figure.panels[0].lines()]
    assert len(set(colours)) == len(methods)


def test_real_noise_best_first(runs) -> None:
    rows = [
        *runs("real-noise", "cora", 0.0, "gcn", [70.0], part="cora"),
        *runs("real-noise", "cora", 0.0, "lnp-v1", [75.0], part="cora"),
    ]
    figure = real_noise(compare(load_table("real-noise"), "paper", rows))
    assert figure is not None
    (panel,) = figure.panels
    assert isinstance(panel, Dots)
    assert [(row.label, row.strong) for row in panel.rows] == [("lnp-v1", True), ("gcn", False)]
