"""The audit behind a review: computed once for a model, then kept beside the graph."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from lnp import __version__
from lnp.audit.scores import check_scorer, networks_to_train
from lnp.audit.table import AuditTable, audit
from lnp.datasets.own_graph import FACTS as GRAPH_FACTS
from lnp.datasets.own_graph import OwnGraph
from lnp.engine.model_folder import FACTS as MODEL_FACTS
from lnp.estimator import LNPClassifier
from lnp.graph.labels import ObservedLabels
from lnp.web.scores_file import read_scores_of, write_scores

__all__ = ["SCORER", "OnScored", "ScoresKept", "score"]

SCORER = "cross-fit"
"""Who scores where nobody says otherwise; a name of :data:`lnp.audit.scores.SCORERS`."""

OnScored = Callable[[int, int], None]
"""Called with the number of networks that are trained, and of those that will be."""


def score(
    classifier: LNPClassifier,
    own: OwnGraph,
    labels: ObservedLabels,
    scorer: str = SCORER,
    on_scored: OnScored | None = None,
) -> AuditTable:
    """Audits labels, and says how far it is."""
    check_scorer(scorer)
    total = networks_to_train(scorer, labels) if on_scored else 0
    done = 0

    def on_network() -> None:
        nonlocal done
        done += 1
        if on_scored is not None:
            on_scored(done, total)

    return audit(classifier, own.graph, labels, scorer=scorer, on_network=on_network)


class ScoresKept:
    """Scores of models of one graph, a file for each in ``FOLDER/scores``.

    They belong to a model, the graph's labels as imported, and a scorer, but not to verdicts: whoever comes back to a
    review finds the list that was left, and new scores come with a new model.

    Args:
        folder: The graph.
        scorer: Who scores.
    """

    def __init__(self, folder: Path, scorer: str) -> None:
        self._folder, self._scorer = folder, scorer

    def read(self, model: Path) -> AuditTable | None:
        """The scores of a model, if there are any."""
        return read_scores_of(self._path(model), self._about(model))

    def write(self, model: Path, table: AuditTable) -> None:
        """Keeps the scores of a model."""
        write_scores(self._path(model), table, self._about(model))

    def _path(self, model: Path) -> Path:
        return self._folder / "scores" / f"{_fingerprint(model / MODEL_FACTS)}.npz"

    def _about(self, model: Path) -> str:
        graph = json.loads((self._folder / GRAPH_FACTS).read_text(encoding="utf-8", errors="surrogatepass"))
        facts = {
            "model": _fingerprint(model / MODEL_FACTS),
            "graph": graph["checksum"],
            "labels": graph["labels_checksum"],
            "scorer": self._scorer,
            "lnp": __version__,
        }
        return json.dumps(facts)


def _fingerprint(path: Path) -> str:
    found: str = json.loads(path.read_text(encoding="utf-8"))["fingerprint"]
    return found
