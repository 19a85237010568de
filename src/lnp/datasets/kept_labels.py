"""What people said of labels before a model was trained, kept beside it: ``labels.csv`` in the model's folder.

A graph has the labels that its files gave. A model may have learnt more: label files name labels that somebody checked.
Whoever asks such a model for predictions, an audit or a review means the same labels, so they stay with it, as a label
file like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from lnp.datasets.label_file import read_label_file, write_label_file
from lnp.datasets.own_graph import OwnGraph
from lnp.graph.labels import UNKNOWN, ObservedLabels

__all__ = ["KEPT", "added_rows", "keep_labels", "with_kept_labels", "with_label_files"]

KEPT = "labels.csv"
"""The file in a model's folder."""


def with_label_files(own: OwnGraph, paths: Sequence[Path]) -> OwnGraph:
    """The graph with what each of some label files says; where two speak of a node, the later one counts."""
    for path in paths:
        own = read_label_file(path, own)
    return own


def added_rows(own: OwnGraph, before: ObservedLabels) -> list[tuple[str, str, bool]]:
    """What a label file has to say to make ``before`` the labels of the graph: node id, name of the class, trusted."""
    labels = own.labels
    nodes = np.flatnonzero((labels.given != before.given) | (labels.trusted != before.trusted)).tolist()
    names = {UNKNOWN: ""} | dict(enumerate(own.class_names))
    return [(own.node_ids[node], names[int(labels.given[node])], bool(labels.trusted[node])) for node in nodes]


def keep_labels(model: Path, own: OwnGraph, before: ObservedLabels) -> None:
    """Writes what the graph's labels have beyond ``before`` into the folder of a model that has learnt them.

    Args:
        model: The folder; what an earlier model left there is replaced or goes.
        own: The graph, with the labels that the model was trained with.
        before: The labels that the graph came with.
    """
    rows = added_rows(own, before)
    if rows:
        write_label_file(model / KEPT, rows)
    else:
        (model / KEPT).unlink(missing_ok=True)


def with_kept_labels(own: OwnGraph, model: Path, *, besides: ArrayLike = ()) -> OwnGraph:
    """The graph with the labels that a model was trained with beyond those it came with.

    Args:
        own: The graph with the labels that it came with.
        model: The folder of the model.
        besides: Nodes that stay as they are.
    """
    path = model / KEPT
    if not path.is_file():
        return own
    then, stay = read_label_file(path, own).labels, np.asarray(besides, np.int64)
    columns = {}
    for name in ("given", "trusted", "before"):
        columns[name] = getattr(then, name).copy()
        columns[name][stay] = getattr(own.labels, name)[stay]
    return replace(own, labels=ObservedLabels(**columns, class_count=then.class_count))
