"""A training of any length and outcome: ``HOW FOLDER MODEL LABELS OUT SCORES SCORER``. For ``test_retrain.py``."""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path


def say(**fields: object) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def main(how: str, folder: str, model: str, labels: str, out: str, scores: str, scorer: str) -> None:
    if how == "crash":
        raise RuntimeError("out of luck")
    if how == "silent":
        sys.exit(3)
    if how == "bad labels":
        say(stage="failed", error="Expected better labels.")
        sys.exit(2)
    if how == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for epoch in range(1, 4 if how == "quick" else 10_000):
        say(stage="train", epoch=epoch, epochs=10_000)
        time.sleep(0.02)
    Path(scores).write_text(Path(labels).read_text(encoding="utf-8"), encoding="utf-8")
    say(stage="done", done=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
