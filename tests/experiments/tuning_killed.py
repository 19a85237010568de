"""A tuner that is killed. Run by ``test_tuning.py`` in a process of its own, which forks and so has no threads.

``python tuning_killed.py PATH TRIALS KILLS``: two workers, two studies; killed at a random moment, alone, with its
workers, or by an interrupt, so many times; then left to finish.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from lnp.experiments.grid import Choice
from lnp.experiments.tables import parse_table
from lnp.experiments.tuning import Tuner
from lnp.experiments.tuning_file import TuningFile
from lnp.experiments.tuning_study import StudySpec, TuningOptions, find_studies

TABLE = """
title = "tiny"
source = "a test"
seeds = 1
[protocols]
paper = { protocol = "random" }
[[panel]]
noise = "flip"
datasets = ["synthetic:nodes=60,classes=3,features=8,mean_degree=6"]
rates = [0.4]
methods = ["clean-only", "joint"]
trusted_sizes = [9]
[panel.variants]
short = { epochs = 60, hidden = 4 }
"""


def start(path: Path, specs: list[StudySpec], trials: int) -> int:
    pid = os.fork()
    if pid:
        with suppress(PermissionError, ProcessLookupError):
            os.setpgid(pid, pid)
        return pid
    code = 1
    try:
        os.setpgid(0, 0)
        file = TuningFile(path)
        Tuner(trials=trials, workers=2, start="fork").run([file.open(spec) for spec in specs])
        code = 0
    except KeyboardInterrupt:
        code = 130
    finally:
        os._exit(code)


def main(path: Path, trials: int, kills: int) -> None:
    specs, _ = find_studies([parse_table("tiny", TABLE)], Choice(), TuningOptions())
    TuningFile(path.with_name("first.sqlite"))  # imported from here on
    generator, done = np.random.default_rng(0), 0
    for _ in range(kills):
        pid = start(path, specs, trials)
        time.sleep(generator.uniform(0.5, 1.2))
        if os.waitpid(pid, os.WNOHANG) != (0, 0):
            break
        way = generator.choice(["alone", "all", "interrupt"])
        if way == "alone":
            os.kill(pid, signal.SIGKILL)
        else:
            os.killpg(pid, signal.SIGKILL if way == "all" else signal.SIGINT)
        os.waitpid(pid, 0)
        done += 1
    pid = start(path, specs, trials)
    assert os.waitpid(pid, 0)[1] == 0
    file = TuningFile(path)
    for spec in specs:
        study = file.open(spec)
        counts = study.counts()
        assert (counts.counted, counts.running, counts.failed) == (trials, 0, 0), counts
        assert study.take_up() == 0
        assert study.default_score() is not None
        assert study.best().value >= study.default_score()
    state = sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone()[0]
    sys.stdout.write(f"{len(specs)} studies of {trials}, {done} kills, integrity {state}\n")


if __name__ == "__main__":
    where, *numbers = sys.argv[1:]
    main(Path(where), *map(int, numbers))
