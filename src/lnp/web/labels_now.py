"""The labels as they stand: what the files gave, what was checked before the review, and what reviewers said."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

import numpy as np

from lnp.datasets.own_graph import OwnGraph
from lnp.graph.labels import UNKNOWN, ObservedLabels
from lnp.web.board import Board
from lnp.web.verdicts import VerdictStore

__all__ = ["history_csv", "label_csv", "labels_now"]


def labels_now(own: OwnGraph, board: Board) -> ObservedLabels:
    """Given labels, with those by verdict in their place and trusted."""
    decided = np.flatnonzero(board.labels != UNKNOWN)
    return own.labels.checked(decided, board.labels[decided])


def label_csv(own: OwnGraph, board: Board, earlier: Iterable[tuple[str, str, bool]] = ()) -> str:
    """The label file: one row per node with a label by verdict, the one that counts, after what was said before.

    ``node,label,trusted`` is what training reads; reviewer, time and the label that was given before are for people.

    Args:
        own: The graph.
        board: The verdicts.
        earlier: Rows of the label files that the model was trained with (:func:`~lnp.datasets.kept_labels.added_rows`).
    """
    decided = {own.node_ids[node] for node in board.decided().tolist()}
    rows: list[tuple[object, ...]] = [
        (node, label, int(trusted), "", "", "") for node, label, trusted in earlier if node not in decided
    ]
    for node in board.decided().tolist():
        verdict = board.standing(node)
        if verdict is not None and verdict.label is not None:
            before = "" if verdict.given is None else verdict.given
            rows.append((own.node_ids[node], verdict.label, 1, verdict.reviewer, verdict.time, before))
    return _csv(("node", "label", "trusted", "reviewer", "time", "given"), rows)


def history_csv(store: VerdictStore) -> str:
    """Every verdict ever given, those taken back and the words that took them back included."""
    head = ("number", "node", "kind", "label", "given", "reviewer", "time", "undoes")
    return _csv(head, [tuple(vars(verdict)[name] for name in head) for verdict in store.since(0)])


def _csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()
