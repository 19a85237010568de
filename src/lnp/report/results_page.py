"""The page of the results: an analysis → ready strings and figures → one self-contained HTML file.

The template computes nothing; every string is escaped there.
"""

from __future__ import annotations

from typing import Any

from lnp.report.charts import Curves, Dots, RankPanel, ResultFigure, Scatter
from lnp.report.comparison import LNP_METHODS, Cell, CellPlace, Comparison
from lnp.report.cost_tables import cost_table, detection_table, loss_table, timing_table
from lnp.report.inline_charts import inline
from lnp.report.observations import FAILS, HOLDS, PARTLY, UNKNOWN, Observation, signed
from lnp.report.results import Analysis, FigureSection, TableSection
from lnp.report.results_summary import count, listed, reach_sentence, summary_sentences, tiles
from lnp.report.templating import render
from lnp.report.text_tables import (
    agreement_table,
    beaten_table,
    missed_table,
    plus_minus,
    rank_table,
    undersold_table,
)
from lnp.report.verdicts import Reach

__all__ = ["PROTOCOLS", "render_results", "results_page"]

STEPS = (1.0, 3.0, 6.0, 10.0)
"""Gaps from here on, in points, get the next deeper colour."""
PROTOCOLS = {
    "paper": "split by node order and the released noise; clean validation labels choose the epoch, as in the paper",
    "random": "split and noise drawn anew for every seed; clean validation labels choose the epoch",
    "strict": "split and noise drawn anew for every seed; no clean label beyond the trusted ones is seen (for "
    "every method noisy labels that were set aside choose the epoch, behind a noise matrix that lnp-channel learns)",
}
VERDICTS = {HOLDS: "yes", PARTLY: "partly", FAILS: "no", UNKNOWN: "open"}
"""Verdict → class of the style sheet."""


def render_results(analysis: Analysis) -> str:
    """The page as HTML."""
    return render("results.html", results_page(analysis))


def results_page(analysis: Analysis) -> dict[str, Any]:
    """Every string and figure of the page."""
    return {
        "tiles": tiles(analysis),
        "summary": summary_sentences(analysis),
        "protocols": [(name, PROTOCOLS[name]) for name in analysis.protocols],
        "steps": [f"{step:g}" for step in STEPS],
        "reaches": [_reach(found) for found in analysis.reaches],
        "observations": [_observation(one) for one in analysis.observations],
        "tables": [_table(section) for section in analysis.tables],
        "figures": [_figure_section(section) for section in analysis.figures],
        "losses": loss_table(analysis.losses),
        "detection": [detection_table(section) for section in analysis.tables if section.detection],
        "costs": cost_table(analysis),
        "timings": [timing_table(protocol, found) for protocol, found in analysis.timings.items()],
        "not_run": listed(analysis.not_run) if analysis.not_run else "",
        "notes": analysis.notes,
    }


def _reach(found: Reach) -> dict[str, Any]:
    return {"protocol": found.protocol, "sentence": reach_sentence(found), "missed": missed_table(found)}


def _observation(one: Observation) -> dict[str, str]:
    return {
        "group": one.group,
        "protocol": one.protocol,
        "claim": one.claim,
        "verdict": one.verdict,
        "kind": VERDICTS[one.verdict],
        "sentence": one.sentence,
    }


def _table(section: TableSection) -> dict[str, Any]:
    comparison = section.comparison
    table = comparison.table
    return {
        "id": f"{table.name}-{comparison.protocol}",
        "name": table.name,
        "title": table.title,
        "source": table.source,
        "protocol": comparison.protocol,
        "methods": list(comparison.methods),
        "extra": list(comparison.extra),
        "never_run": listed(comparison.never_run) if comparison.never_run else "",
        "strong": LNP_METHODS,
        "rows": [_row(comparison, place) for place in comparison.places],
        "ranks": rank_table(section),
        "agreement": agreement_table(section),
        "undersold": undersold_table(section),
        "beaten": beaten_table(section),
        "figures": [_figure(figure) for figure in section.figures],
    }


def _row(comparison: Comparison, place: CellPlace) -> dict[str, Any]:
    cells = comparison.row(place)
    ours = [cell.reproduced.mean for cell in cells if cell.reproduced is not None]
    printed = [cell.published.value for cell in cells if cell.published and cell.published.value is not None]
    stands_for = comparison.table.stand_ins.get(place[0], "")
    return {
        "dataset": place[0],
        "rate": f"{place[1]:g}" if place[1] else "",
        "stands_for": stands_for,
        "cells": [_cell(cell, max(ours, default=0.0), max(printed, default=0.0)) for cell in cells],
    }


def _cell(cell: Cell, best: float, best_printed: float) -> dict[str, Any]:
    published, reproduced, gap = cell.published, cell.reproduced, cell.gap
    if published is None:
        reported = "—"
    elif published.value is None:
        reported = published.note
    else:
        reported = plus_minus(published.value, published.deviation)
    told = {
        "reported": reported,
        "reported_best": published is not None and published.value is not None and published.value == best_printed,
        "ours": "",
        "best": False,
        "gap": "",
        "near": False,
        "colour": "",
        "rank": "",
        "seeds": "",
    }
    if reproduced is not None:
        told["ours"] = plus_minus(reproduced.mean, reproduced.sd)
        told["best"] = reproduced.mean == best
        told["rank"] = f"{cell.rank:g}" if cell.rank is not None else ""
        told["seeds"] = count(reproduced.runs, "seed")
    if gap is not None:
        told["gap"] = signed(gap.value)
        told["near"] = gap.side == "within"
        told["colour"] = _colour(gap.value)
    return told


def _colour(gap: float) -> str:
    depth = sum(abs(gap) >= step for step in STEPS)
    return f"{'up' if gap > 0 else 'down'}-{depth}" if depth else "even"


def _figure_section(section: FigureSection) -> dict[str, Any]:
    return {
        "id": f"{section.table.name}-{section.protocol}",
        "name": section.table.name,
        "title": section.table.title,
        "protocol": section.protocol,
        "figures": [_figure(figure) for figure in section.figures],
        "observations": [_observation(one) for one in section.observations],
    }


def _figure(figure: ResultFigure) -> dict[str, Any]:
    panels = [
        {"title": panel.title, "drawing": inline(panel, f"{figure.title} {panel.title}".strip())}
        for panel in figure.panels
    ]
    return {"name": figure.name, "title": figure.title, "panels": panels, **_legend(figure)}


def _legend(figure: ResultFigure) -> dict[str, Any]:
    """Keys as (class of the colour, kind of line or ``None`` for a point, label), and what marks mean."""
    panel = figure.panels[0]
    keys: dict[tuple[int, int | None, str], None] = {}
    for one in figure.panels:
        if isinstance(one, Curves):
            keys |= {(series.colour, dash, series.label): None for series, dash in one.lines()}
    wide = isinstance(panel, RankPanel)
    if isinstance(panel, Scatter):
        note = "On the line both agree; above it ours is better."
        keys = {(3, None, "lnp-v1, lnp-v2"): None, (1, None, "other methods"): None}
    elif wide:
        note = "Left is better. A bar joins methods that the test does not tell apart."
    else:
        note = "Whiskers: one standard deviation." + _diamonds(figure)
    return {"legend": list(keys), "note": note, "wide": wide}


def _diamonds(figure: ResultFigure) -> str:
    for panel in figure.panels:
        if isinstance(panel, Curves) and any(series.paper for series in panel.series):
            return " Diamonds: the paper's Table 2, |T_C| = 25."
        if isinstance(panel, Dots) and any(row.published is not None for row in panel.rows):
            return " Diamonds: LNP-v2 in the paper's Table 2."
    of_the_paper = figure.name.startswith("figure-")
    return " The paper does not print the figure's numbers." if of_the_paper else ""
