"""The page of an audit: table → a summary of ready strings and figures → one self-contained HTML file."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lnp.audit.table import AuditTable
from lnp.engine.files import write_text
from lnp.errors import ConfigError
from lnp.graph.graph import Graph
from lnp.report.audit_figures import channel_map, quality_histogram
from lnp.report.pictures import data_uri
from lnp.report.templating import render

__all__ = ["TOP", "AuditSubject", "audit_summary", "render_audit", "require_page_path", "write_audit_page"]

FORMATS = (".html", ".htm")
"""What the name of the file ends in."""

TOP = 100
"""How many of the most suspect labels are shown."""

SHOWN_CLASSES = 4
"""Classes in the evidence of a label: the given one, the proposed one, and those with the most behind them."""

NAMED = 3
"""Classes that are named as what wrong labels of a class really are."""

SNIPPET = 300
"""Characters of a text that are shown."""

SCORERS = {
    "cross-fit": "networks that have not seen the label they judge, with an estimate of how labels go wrong",
    "model": "the model's own probabilities, with an estimate of how labels go wrong",
    "cleanlab": "cleanlab's self-confidence",
}
"""Who judged, in words."""


@dataclass(frozen=True)
class AuditSubject:
    """What a page can show of nodes besides the audit.

    Args:
        graph: The graph: its name, and pictures where its notes have a ``picture_shape``.
        model: What the model is called.
        node_ids: The owner's ids; ``None`` for node numbers.
        texts: Columns to show, by name.
    """

    graph: Graph
    model: str
    node_ids: tuple[str, ...] | None = None
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)


def require_page_path(path: Path) -> None:
    """Raises where ``path`` cannot become a page."""
    if path.is_dir():
        raise ConfigError(f"Expected a file for the page, but {path} is a folder.")
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(f"Expected the file of the page to end in {' or '.join(FORMATS)}, but got {str(path)!r}.")


def write_audit_page(path: Path, table: AuditTable, subject: AuditSubject) -> None:
    """Writes the page, whole or not at all."""
    require_page_path(path)
    write_text(path, render_audit(audit_summary(table, subject)))


def render_audit(summary: dict[str, Any]) -> str:
    """Fills the template, which computes nothing; every string is escaped."""
    return render("audit.html", summary)


def audit_summary(table: AuditTable, subject: AuditSubject) -> dict[str, Any]:
    """Every string and figure of the page."""
    unchecked = ~table.trusted
    quality, labels = table.quality[unchecked], int(unchecked.sum())
    wrong, checked = float((1 - quality).sum()), int(table.trusted.sum())
    shown = np.flatnonzero(unchecked)[:TOP]
    among = float((1 - table.quality[shown]).sum())
    return {
        "graph": subject.graph.name,
        "model": subject.model,
        "scorer": table.scorer,
        "scorer_words": SCORERS.get(table.scorer, "an unknown scorer"),
        "tiles": [
            (f"{labels:,}", "labels that nobody has checked"),
            (_percent(wrong / labels) if labels else "–", f"of them are probably wrong, about {wrong:,.0f}"),
            (f"{among:.0f} of {shown.size}", f"expected to be wrong among the {shown.size} most suspect"),
            (f"{checked:,}", "labels were checked and teach the audit what right ones look like" + found_wrong(table)),
        ],
        "labels": f"{labels:,}",
        "checked": checked,
        "classes": _classes(table),
        "has_channel": bool(np.isfinite(table.transition).all()),
        "channel": channel_map(
            table.transition, table.class_names, "Estimated probability of given labels, by true class"
        ),
        "histogram": quality_histogram(quality, f"Quality of the {labels:,} labels that nobody has checked"),
        "low": f"{int((quality < 0.5).sum()):,}",
        "suspects": [_suspect(table, subject, int(row)) for row in shown],
    }


def found_wrong(table: AuditTable) -> str:
    """What is known of the labels that were checked, to be added to a sentence; nothing where nothing is."""
    wrong, known = table.found_wrong
    return f"; {wrong:,} of {known:,} had been wrong" if known else ""


def _classes(table: AuditTable) -> list[dict[str, Any]]:
    """One row per given class: how many labels, how many are probably wrong, and what those probably are."""
    rows, names = [], table.class_names
    for k, name in enumerate(names):
        own = table.given == k
        open_ = own & ~table.trusted
        count, rate = int(open_.sum()), float(table.noise_rate[k])
        others = np.bincount(table.proposed[open_ & (table.proposed != k)], minlength=len(names))
        most = [(names[j], int(others[j])) for j in np.argsort(-others, kind="stable")[:NAMED] if others[j]]
        rows.append(
            {
                "name": name,
                "labels": f"{count:,}",
                "checked": f"{int((own & table.trusted).sum()):,}",
                "rate": "–" if math.isnan(rate) else _short(rate),
                "width": 0.0 if math.isnan(rate) else round(100 * rate, 1),
                "words": _words(count, rate, most, int((others > 0).sum())),
            }
        )
    return rows


def _words(count: int, rate: float, others: list[tuple[str, int]], kinds: int) -> str:
    """What to think of a class, in plain words.

    Args:
        count: Labels of the class that nobody checked.
        rate: The share of wrong ones among them.
        others: The classes that are proposed instead most often, and how often.
        kinds: How many classes are proposed instead.

    >>> _words(50, 0.3, [("cat", 12), ("dog", 2)], 2)
    'About 15 of 50 are probably wrong: 12 look like “cat”, 2 like “dog”.'
    """
    if count == 0 or math.isnan(rate):
        return "No label of this class is left to check."
    wrong = rate * count
    if wrong < 0.5:
        return "Hardly any seems wrong."
    said = f"About {wrong:,.0f} of {count:,} {'is' if round(wrong) == 1 else 'are'} probably wrong"
    if not others:
        return f"{said}, but no single one of them more likely than not."
    (first, times), *rest = others
    parts = [f"{times:,} {'looks' if times == 1 else 'look'} like “{first}”"]
    parts += [f"{number:,} like “{name}”" for name, number in rest]
    return f"{said}: {', '.join(parts)}{' and others' if kinds > len(others) else ''}."


def _suspect(table: AuditTable, subject: AuditSubject, row: int) -> dict[str, Any]:
    node, names = int(table.nodes[row]), table.class_names
    given, proposed = int(table.given[row]), int(table.proposed[row])
    around = table.neighbour_labels[row]
    return {
        "node": str(node) if subject.node_ids is None else subject.node_ids[node],
        "picture": _picture(subject.graph, node),
        "texts": [(name, _snippet(column[node])) for name, column in subject.texts.items() if column[node]],
        "given": names[given],
        "proposed": names[proposed],
        "agrees": given == proposed,
        "quality": _percent(float(table.quality[row])),
        "confidence": _percent(float(table.confidence[row])),
        "neighbours": int(around.sum()),
        "rows": [_class_row(table, row, k, int(around.max())) for k in _telling(table, row)],
    }


def _telling(table: AuditTable, row: int) -> list[int]:
    """The classes to show: given, proposed, then by probability and neighbours."""
    around = table.neighbour_labels[row]
    weight = table.probabilities[row] + around / max(1, int(around.sum()))
    ranked = [int(table.given[row]), int(table.proposed[row]), *np.argsort(-weight, kind="stable").tolist()]
    return list(dict.fromkeys(ranked))[:SHOWN_CLASSES]


def _class_row(table: AuditTable, row: int, k: int, most: int) -> dict[str, Any]:
    similarity, count = float(table.prototype_similarity[row, k]), int(table.neighbour_labels[row, k])
    return {
        "name": table.class_names[k],
        "mark": "given" if k == table.given[row] else "proposed" if k == table.proposed[row] else "",
        "probability": _short(float(table.probabilities[row, k])),
        "similarity": "–" if math.isnan(similarity) else f"{similarity:.2f}".replace("-", "−"),
        "neighbours": count,
        "width": round(100 * count / max(1, most)),
    }


def _picture(graph: Graph, node: int) -> str | None:
    shape = graph.notes.get("picture_shape")
    if not isinstance(shape, tuple | list) or not isinstance(graph.features, np.ndarray):
        return None
    low, high = float(graph.features.min()), float(graph.features.max())
    ink = (graph.features[node].astype(np.float64) - low) / ((high - low) or 1.0)
    return data_uri(ink.reshape(int(shape[0]), int(shape[1])))


def _snippet(text: str) -> str:
    flat = " ".join(text[: 4 * SNIPPET].split())
    return flat if len(flat) <= SNIPPET else flat[: SNIPPET - 1].rstrip() + "…"


def _short(share: float) -> str:
    """The same for a narrow column.

    >>> _short(0.0004), _short(0.257)
    ('< 1 %', '26 %')
    """
    return _percent(share).replace("less than", "<").replace("more than", ">")


def _percent(share: float) -> str:
    """A probability as a person would say it.

    >>> _percent(0.0004), _percent(0.257), _percent(0.9999)
    ('less than 1 %', '26 %', 'more than 99 %')
    """
    if 0 < share < 0.005:
        return "less than 1 %"
    return "more than 99 %" if 0.995 < share < 1 else f"{100 * share:.0f} %"
