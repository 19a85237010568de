"""The demo's page: plain data → a summary of ready strings and figures → one self-contained HTML file."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import Any

from lnp.engine.files import write_text
from lnp.errors import ConfigError
from lnp.experiments.demo import SHOWN
from lnp.experiments.demo_data import PICTURES, TOP, DemoData, MethodOutcome
from lnp.methods.registry import entry
from lnp.report.csv_files import write_predictions, write_suspects
from lnp.report.figures import Bar, Line, bar_chart, heat_map, line_chart
from lnp.report.pictures import data_uri
from lnp.report.statistics import mean_and_sd, percent
from lnp.report.templating import render

__all__ = ["page_summary", "render_page", "require_report_folder", "write_report"]

TERMS = {
    "noisy_ce": "cross entropy on the given labels",
    "trusted_ce": "cross entropy on the checked labels",
    "reconstruction": "checked labels rebuilt by the decoder",
    "kl": "posterior against prior",
    "weighted_ce": "weighted cross entropy on the given labels",
    "prior_ce": "cross entropy of the prior",
    "contrastive": "contrastive loss of posterior and prior",
    "marginal": "given labels, as likely as the noise leaves them",
    "marginal_0": "the same while the noise is learned, first half",
    "marginal_1": "second half",
    "trusted_ce_0": "checked labels while the noise is learned, first half",
    "trusted_ce_1": "second half",
}
"""Loss terms in words; a method's other terms are shown by name."""

COLOURS = 7
"""Of the style sheet. The first terms of :data:`TERMS` have one each, others what their method leaves free."""


def require_report_folder(folder: Path) -> None:
    """Raises where ``folder`` is a file."""
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"Expected {folder} to be a folder for the report, but it is a file. Choose another.")


def write_report(folder: Path, data: DemoData) -> list[Path]:
    """Writes report.html, predictions.csv and suspects.csv, and returns their paths."""
    require_report_folder(folder)
    page, predictions, suspects = (folder / name for name in ("report.html", "predictions.csv", "suspects.csv"))
    text = render_page(page_summary(data))
    write_predictions(predictions, data.predictions)
    write_suspects(suspects, data.suspects, data.predictions)
    write_text(page, text)
    return [page, predictions, suspects]


def render_page(summary: dict[str, Any]) -> str:
    """Fills the template, which computes nothing; every string is escaped."""
    return render("demo.html", summary)


def page_summary(data: DemoData) -> dict[str, Any]:
    """Every string and figure of the page."""
    shown = next(outcome for outcome in data.methods if outcome.name == SHOWN)
    names = data.predictions.class_names
    per_class = data.trusted_nodes // len(names)
    return {
        "shown": SHOWN,
        "tiles": [
            (f"{100 * (1 - data.given_right):.0f} %", f"of the {data.train_nodes} training labels are wrong"),
            (f"{data.trusted_nodes}", f"labels were checked, {per_class} per class"),
            (f"{percent(shown.accuracies)} %", f"test accuracy of {SHOWN}"),
            (
                f"{percent(shown.found)} %",
                f"of its {TOP} most suspect labels are wrong; random picks: {100 * data.base_rate:.1f} %",
            ),
        ],
        "seeds": data.seeds,
        "nodes": data.nodes,
        "noise": data.noise,
        "rate": f"{100 * data.rate:.0f} %",
        "train_nodes": data.train_nodes,
        "trusted_nodes": data.trusted_nodes,
        "test_nodes": data.test_nodes,
        "per_class": per_class,
        "top": TOP,
        "base_rate": f"{100 * data.base_rate:.1f}",
        "rows": [_row(outcome) for outcome in data.methods],
        "bars": bar_chart(
            [Bar(o.name, *mean_and_sd(o.accuracies), o.accuracies) for o in data.methods],
            "Test accuracy of each method: mean, standard deviation and single seeds",
        ),
        "curves": [_curves(outcome) for outcome in data.methods],
        "confusion": heat_map(
            data.confusion,
            names,
            f"Given labels against labels predicted by {SHOWN}",
            "given label",
            "predicted label",
        ),
        "given_right": f"{100 * data.given_right:.1f} %",
        "proposed_right": f"{100 * data.proposed_right:.1f} %",
        "suspects": _suspects(data),
        "suspect_count": len(data.suspects),
        "suspects_right": sum(s.proposed == s.truth for s in data.suspects[:PICTURES]),
        "suspects_wrong_given": sum(s.given != s.truth for s in data.suspects[:PICTURES]),
    }


def _row(outcome: MethodOutcome) -> dict[str, str]:
    return {
        "name": outcome.name,
        "what": entry(outcome.name).summary,
        "accuracy": percent(outcome.accuracies),
        "found": percent(outcome.found),
        "seconds": f"{mean_and_sd(outcome.seconds)[0]:.1f}",
    }


def _curves(outcome: MethodOutcome) -> dict[str, object]:
    terms = list(dict.fromkeys(curve.term for curve in outcome.curves))
    colours = {term: place for place, term in enumerate(list(TERMS)[:COLOURS], start=1) if term in terms}
    free = cycle([place for place in range(1, COLOURS + 1) if place not in colours.values()] or [1])
    colours |= {term: next(free) for term in terms if term not in colours}
    lines = [Line(curve.term, curve.start, curve.values, colours[curve.term]) for curve in outcome.curves]
    last = {curve.term: curve.values[-1] for curve in outcome.curves}
    return {
        "name": outcome.name,
        "figure": line_chart(lines, f"Loss terms of {outcome.name} over the epochs of seed 0", "epoch"),
        "legend": [(colours[term], term, TERMS.get(term, ""), f"{last[term]:.3g}") for term in terms],
    }


def _suspects(data: DemoData) -> list[dict[str, object]]:
    names, ids = data.predictions.class_names, data.predictions.node_ids
    return [
        {
            "picture": data_uri(suspect.picture),
            "node": ids[suspect.node] if ids else suspect.node,
            "given": names[suspect.given],
            "proposed": names[suspect.proposed],
            "confidence": f"{100 * suspect.confidence:.0f} %",
            "agrees": suspect.proposed == suspect.truth,
            "truth": names[suspect.truth],
        }
        for suspect in data.suspects[:PICTURES]
        if suspect.picture is not None
    ]
