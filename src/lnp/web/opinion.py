"""What the model thinks of a label, and why: as rows of a table, and in a few sentences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lnp.audit.table import AuditTable

__all__ = ["CLASSES", "ClassRow", "class_rows", "evidence"]

CLASSES = 12
"""How many classes are shown, at most; the label itself always is."""


@dataclass(frozen=True)
class ClassRow:
    """What speaks for a class.

    Args:
        label: The class.
        probability: The model's.
        similarity: To the prototype of the class, from −1 to 1; ``None`` where it has none.
        neighbours: Neighbours with that given label.
    """

    label: int
    probability: float
    similarity: float | None
    neighbours: int


def class_rows(table: AuditTable, row: int) -> list[ClassRow]:
    """One per class; where there are many, the most probable ones and the label itself."""
    probabilities = table.probabilities[row]
    shown = np.arange(probabilities.size)
    if shown.size > CLASSES:
        likely = np.argsort(-probabilities, kind="stable")[:CLASSES]
        shown = np.unique(np.append(likely, table.given[row]))
    similarity = table.prototype_similarity[row]
    return [
        ClassRow(
            label=int(k),
            probability=float(probabilities[k]),
            similarity=float(similarity[k]) if np.isfinite(similarity[k]) else None,
            neighbours=int(table.neighbour_labels[row, k]),
        )
        for k in shown
    ]


def evidence(table: AuditTable, row: int) -> list[str]:
    """The same in words: first the label, then the proposal, then who is around, then what it resembles."""
    names, given, proposed = table.class_names, int(table.given[row]), int(table.proposed[row])
    quality, confidence = float(table.quality[row]), float(table.confidence[row])
    said = [f"The label “{names[given]}” is right with a probability of {_share(quality)}."]
    if proposed == given:
        said.append("No other label is more likely.")
    else:
        said.append(f"The most likely label is “{names[proposed]}”, with {_share(confidence)}.")
    around = table.neighbour_labels[row]
    total = int(around.sum())
    if total == 0:
        said.append("No neighbour has a label.")
    else:
        same = f"{int(around[given])} of {total} labelled neighbours have the same label"
        other = "" if proposed == given else f", {int(around[proposed])} have the proposed one"
        said.append(f"{same}{other}.")
    similarity = table.prototype_similarity[row]
    if np.isfinite(similarity).any():
        closest = int(np.nanargmax(similarity))
        compared = f"similarity {_signed(similarity[closest])}"
        if closest != given and np.isfinite(similarity[given]):
            compared += f", with “{names[given]}” {_signed(similarity[given])}"
        said.append(f"It resembles the class “{names[closest]}” most ({compared}).")
    return said


def _share(value: float) -> str:
    """A probability as a person would say it.

    >>> _share(0.034), _share(0.999), _share(0.0001)
    ('3 %', 'more than 99 %', 'less than 1 %')
    """
    if value < 0.01:
        return "less than 1 %"
    return "more than 99 %" if value > 0.99 else f"{100 * value:.0f} %"


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
