"""The process that trains again: reads the graph, the verdicts and the old model, writes a new model and its audit.

It says how far it is on standard output, one JSON object per line, and ends when nobody reads that any more. Run as
``python -m lnp.web.retrain_worker FOLDER MODEL LABELS OUT SCORES SCORER``.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType

from lnp.datasets.label_file import read_label_file
from lnp.datasets.own_graph import read_own_graph
from lnp.engine.history import EpochRecord
from lnp.errors import InputError
from lnp.estimator import LNPClassifier
from lnp.web.scores_file import write_scores
from lnp.web.scoring import score

__all__ = ["main", "train_again"]

SCORING = "scoring the labels"

POLITENESS = 5
"""By how much this process steps back behind the one that serves pages."""


def say(**fields: object) -> None:
    """One line; raises BrokenPipeError where nobody listens."""
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def train_again(folder: Path, model: Path, labels: Path, out: Path, scores: Path, *, scorer: str) -> None:
    """Trains with the settings of ``model`` on the graph of ``folder`` and the labels of ``labels``.

    Args:
        folder: The user's graph.
        model: The folder of the model whose settings are used.
        labels: A label file; what it says replaces given labels and is trusted.
        out: Where the new model goes.
        scores: Where its audit goes.
        scorer: Who scores.
    """
    say(stage="reading")
    own = read_label_file(labels, read_own_graph(folder))
    settings = LNPClassifier.load(model).get_params() | {"verbose": False}

    def on_epoch(record: EpochRecord, epochs: int) -> None:
        say(stage=record.stage, epoch=record.epoch + 1, epochs=epochs)

    classifier = LNPClassifier(**settings).fit(own.graph, own.labels, on_epoch=on_epoch)
    say(stage=SCORING)

    def on_scored(done: int, total: int) -> None:
        say(stage=SCORING, epoch=done, epochs=total)

    write_scores(scores, score(classifier, own, own.labels, scorer, on_scored))
    classifier.save(out)
    (out / "labels.csv").write_bytes(labels.read_bytes())  # what it was trained with, beside it
    say(stage="done", done=True)


def main(arguments: list[str]) -> int:
    """Runs it; whatever goes wrong that a person can mend is said in one line."""
    signal.signal(signal.SIGTERM, _stop)
    if hasattr(os, "nice"):
        os.nice(POLITENESS)
    try:
        *paths, scorer = arguments
        train_again(*map(Path, paths), scorer=scorer)
    except BrokenPipeError:
        os._exit(1)  # the page has gone, and with it whoever wanted to know
    except (InputError, OSError) as error:
        say(stage="failed", error=str(error))
        return 2
    return 0


def _stop(signal_number: int, frame: FrameType | None) -> None:
    sys.exit(128 + signal_number)  # through all `finally`, which remove what is half written


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
