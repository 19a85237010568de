"""A review under way: the graph, what the model thinks of its labels, and what people said of them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lnp.audit.table import AuditTable
from lnp.datasets.kept_labels import added_rows, with_kept_labels
from lnp.datasets.own_graph import OwnGraph, read_own_graph
from lnp.engine.model_folder import FACTS
from lnp.errors import DataError, LabelError
from lnp.estimator import LNPClassifier
from lnp.graph.labels import UNKNOWN
from lnp.web.board import Board, Progress
from lnp.web.content import Content
from lnp.web.labels_now import label_csv, labels_now
from lnp.web.moved import Movement, compare
from lnp.web.retrain import Retraining
from lnp.web.scores_file import read_scores
from lnp.web.scoring import SCORER, OnScored, ScoresKept, score
from lnp.web.suspects import Suspects
from lnp.web.verdicts import Verdict, VerdictStore

__all__ = ["VERDICTS", "Review", "export_labels", "open_review"]

VERDICTS = "verdicts.sqlite"
"""The file of verdicts in the graph's folder."""


class Review:
    """Everything that pages need. Its parts may be used from any thread.

    Args:
        own: The graph, with what label files said that the model was trained with.
        folder: Where it is.
        store: The verdicts.
        board: Where they stand.
        suspects: What the model thinks.
        scorer: Who scores labels when a new model is trained.
        earlier: What those label files said.

    Attributes:
        suspects: Replaced as a whole when a new model is there.
        movement: How the scores moved when that happened last; ``None`` before.
        trained_with: How many labels by verdict the model in use was trained with in this review.
    """

    def __init__(
        self,
        own: OwnGraph,
        folder: Path,
        store: VerdictStore,
        board: Board,
        suspects: Suspects,
        scorer: str = SCORER,
        earlier: Sequence[tuple[str, str, bool]] = (),
    ) -> None:
        self.own, self.folder, self.store, self.board = own, folder, store, board
        self.earlier = earlier
        self.suspects = suspects
        self.movement: Movement | None = None
        self.trained_with = 0
        self.content = Content(own)
        self.retraining = Retraining(folder, scorer, self._swap)
        self._kept = ScoresKept(folder, scorer)
        self._lock = threading.Lock()

    def close(self) -> None:
        """Stops a training under way and closes the file of verdicts."""
        self.retraining.close()
        self.store.close()

    def progress(self) -> Progress:
        """How far people are, with what others have saved meanwhile."""
        self.board.refresh()
        return self.board.progress(self.suspects.reviewable)

    def say(self, node: int, kind: str, reviewer: str, label: int | None = None) -> int:
        """Keeps a verdict; when this returns, it is on the disk. Returns its number."""
        names, given = self.own.class_names, int(self.own.labels.given[node])
        if (label is None) != (kind == "skip") or (label is not None and not 0 <= label < len(names)):
            raise LabelError(f"Expected `label` to be a class from 0 to {len(names) - 1}, but got {label}.")
        number = self.store.add(
            self.own.node_ids[node],
            kind,
            reviewer,
            label=None if label is None else names[label],
            given=None if given == UNKNOWN else names[given],
        )
        self.board.refresh()
        return number

    def undo(self, reviewer: str) -> Verdict | None:
        """Takes back the last verdict of a reviewer and returns it; ``None`` where there is none."""
        verdict = self.store.undo(reviewer)
        self.board.refresh()
        return verdict

    def label_file(self) -> str:
        """All that people said of labels, as training reads it."""
        self.board.refresh()
        return label_csv(self.own, self.board, self.earlier)

    def busy(self, besides: str) -> dict[int, list[str]]:
        """Node → who looks at it now, ``besides`` left out."""
        seen = {self.board.index(node): names for node, names in self.store.looking(besides).items()}
        return {node: names for node, names in seen.items() if node is not None}

    def train_again(self) -> bool:
        """Starts a training with all verdicts as trusted labels; ``False`` if one is under way."""
        self.board.refresh()
        decided = self.board.decided()
        if not decided.size:
            raise LabelError("Expected some verdicts to train with, but there are none yet. Review some labels first.")
        return self.retraining.start(self.suspects.model, self.label_file(), int(decided.size))

    def _swap(self, model: Path, scores: Path) -> None:
        table = read_scores(scores)
        self._kept.write(model, table)
        with self._lock:
            old = self.suspects
            new = _suspects(self.own, model, LNPClassifier.load(model).probabilities_, table, old.version + 1)
            self.movement = compare(old, new, self.own.labels.trusted | (self.board.labels != UNKNOWN))
            self.trained_with = self.retraining.status.verdicts
            self.suspects = new


def open_review(
    folder: Path,
    model: Path,
    *,
    scorer: str = SCORER,
    rescore: bool = False,
    on_scored: OnScored | None = None,
) -> Review:
    """Reads graph, model and verdicts, and the scores of the labels or, where there are none yet, makes them.

    Args:
        folder: The graph.
        model: Where the model was saved; of a folder with several seeds, the first.
        scorer: Who scores.
        rescore: Whether to score anew, with all verdicts so far.
        on_scored: Called with how far the scoring is.
    """
    imported, model = read_own_graph(folder), _one_model(model)
    _require_plain_names(imported)
    classifier = LNPClassifier.load(model, imported.graph)
    store = VerdictStore(folder / VERDICTS)
    own, earlier = _with_earlier_labels(imported, model, store)
    board, kept = Board(own, store), ScoresKept(folder, scorer)
    table = None if rescore else kept.read(model)
    if table is None:
        table = score(classifier, own, labels_now(own, board), scorer, on_scored)
        kept.write(model, table)
    suspects = _suspects(own, model, classifier.probabilities_, table, 1)
    return Review(own, folder, store, board, suspects, scorer, earlier)


def export_labels(folder: Path, model: Path) -> str:
    """The label file of a review that is not open."""
    imported, model = read_own_graph(folder), _one_model(model)
    LNPClassifier.load(model, imported.graph)  # a model that is not there, or of another graph, is refused
    store = VerdictStore(folder / VERDICTS)
    try:
        own, earlier = _with_earlier_labels(imported, model, store)
        return label_csv(own, Board(own, store), earlier)
    finally:
        store.close()


def _one_model(model: Path) -> Path:
    """Of several seeds the first."""
    first = model / "seed-0"
    return first if not (model / FACTS).exists() and (first / FACTS).exists() else model


def _with_earlier_labels(
    imported: OwnGraph, model: Path, store: VerdictStore
) -> tuple[OwnGraph, list[tuple[str, str, bool]]]:
    """The graph with the labels kept beside the model, and those as rows of a label file.

    Where there are verdicts they say what counts, also those that were taken back: a model that was trained in this
    review has kept them.
    """
    said = {verdict.node for verdict in store.since(0)}
    nodes = [node for node, name in enumerate(imported.node_ids) if name in said]
    own = with_kept_labels(imported, model, besides=nodes)
    return own, added_rows(own, imported.labels)


def _require_plain_names(own: OwnGraph) -> None:
    """Ids and classes must be text that can be written down; broken halves of characters cannot."""
    try:
        "".join((*own.node_ids, *own.class_names)).encode()
    except UnicodeEncodeError as error:
        wrong = error.object[error.start : error.end]
        raise DataError(f"Expected ids and labels to be text, but one of them holds {wrong!r}. Rename it.") from error


def _suspects(
    own: OwnGraph, model: Path, probabilities: NDArray[np.float32], table: AuditTable, version: int
) -> Suspects:
    return Suspects(
        table=table,
        trusted=own.labels.trusted,
        predicted=probabilities.argmax(axis=1),
        sureness=probabilities.max(axis=1).astype(np.float64),
        model=model,
        version=version,
    )
