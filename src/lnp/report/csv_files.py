"""Predictions and suspects as CSV files, written whole or not at all."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from lnp.engine.files import atomic_path
from lnp.errors import ConfigError
from lnp.experiments.demo_data import Suspect
from lnp.experiments.prediction import Predictions
from lnp.graph.labels import UNKNOWN

__all__ = ["require_file_path", "write_predictions", "write_suspects"]


def write_predictions(path: Path, predictions: Predictions) -> None:
    """One row per node: node, given, predicted, confidence and the probability of every class.

    Classes are written by name; ``given`` is empty where a node has no label.
    """
    names, count = predictions.class_names, len(predictions.given)
    written = [*names, ""]  # the last one is that of UNKNOWN
    assert written[UNKNOWN] == ""
    columns: list[Sequence[object]] = [
        predictions.node_ids or range(count),
        [written[label] for label in predictions.given.tolist()],
        [names[label] for label in predictions.predicted.tolist()],
        predictions.confidence.round(6).tolist(),
        *predictions.probabilities.round(6).T.tolist(),
    ]
    head = ["node", "given", "predicted", "confidence", *(f"p_{name}" for name in names)]
    _write(path, head, zip(*columns, strict=True))


def write_suspects(path: Path, suspects: Iterable[Suspect], predictions: Predictions) -> None:
    """One row per suspect label, in the order to check them: node, given, proposed, quality, confidence."""
    names, ids = predictions.class_names, predictions.node_ids
    rows = (
        (
            ids[suspect.node] if ids else suspect.node,
            names[suspect.given],
            names[suspect.proposed],
            round(suspect.quality, 6),
            round(suspect.confidence, 6),
        )
        for suspect in suspects
    )
    _write(path, ["node", "given", "proposed", "quality", "confidence"], rows)


def require_file_path(path: Path) -> None:
    """Raises where ``path`` cannot become a file."""
    if path.is_dir():
        raise ConfigError(f"Expected a file to write to, but {path} is a folder.")


def _write(path: Path, head: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    require_file_path(path)
    with atomic_path(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)
