"""Predictions for a user's own graph, from a model that was trained on it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from lnp.datasets.kept_labels import with_kept_labels
from lnp.datasets.own_graph import OwnGraph
from lnp.engine.model_folder import read_folder
from lnp.errors import ModelFileError
from lnp.experiments.prediction import Predictions, model_homes, read_predictions
from lnp.graph.labels import UNKNOWN

__all__ = ["predict_own"]


def predict_own(folder: Path, own: OwnGraph) -> tuple[Predictions, tuple[str, ...]]:
    """What the model (or the models of several seeds) says of every node, by the user's ids; and what to know.

    A model belongs to one graph: where nodes, edges, features or classes changed since, the predictions would be about
    another graph, and the error says what changed. Labels may have changed; a note says how many. What label files said
    that the model was trained with counts as before.

    Args:
        folder: The model.
        own: The graph.
    """
    homes = model_homes(folder)
    for home in homes:
        _check_unchanged(home, own)
    own = with_kept_labels(own, homes[0])
    predictions = read_predictions(folder)
    notes = []
    trained, now = predictions.given, own.labels.given
    changed = int((trained != now).sum())
    if changed:
        removed = int(((now == UNKNOWN) & (trained != UNKNOWN)).sum())
        more = f" ({removed:,} of them taken away)" if removed else ""
        notes.append(
            f"{changed:,} of {now.size:,} labels differ{more} from those that the model was trained with; the column "
            "`given` has the present ones. Train again to use them."
        )
    return replace(predictions, node_ids=own.node_ids, given=np.asarray(now)), tuple(notes)


def _check_unchanged(home: Path, own: OwnGraph) -> None:
    facts, graph = read_folder(home)[1], own.graph
    if facts["checksum"] == graph.checksum and tuple(facts["class_names"]) == graph.class_names:
        return
    pairs = {
        "nodes": (facts["nodes"], graph.node_count),
        "features": (facts["features"], graph.feature_count),
        "classes": (len(facts["class_names"]), graph.class_count),
    }
    parts = [f"{before:,} {what} then, {now:,} now" for what, (before, now) in pairs.items() if before != now]
    if not parts:
        renamed = tuple(facts["class_names"]) != graph.class_names
        parts = ["the classes have other names" if renamed else "edges or features differ"]
    raise ModelFileError(
        f"Expected the graph that {home} was trained on, but it changed since: {'; '.join(parts)}. Train again on the "
        "new graph; the stored predictions for the old one are to be had without naming a graph."
    )
