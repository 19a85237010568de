from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lnp.datasets.label_file import read_label_file
from lnp.datasets.own_graph import OwnGraph
from lnp.estimator import LNPClassifier
from lnp.web.retrain_worker import train_again
from lnp.web.scores_file import read_scores

LABELS = "node,label,trusted,reviewer,time,given\nn10,red,1,Ada,now,blue\nn59,red,1,Ada,now,\n"


@pytest.fixture
def paths(home: Path) -> list[Path]:
    (home / "labels.csv").write_text(LABELS, encoding="utf-8")
    return [home / name for name in ("graph", "model", "labels.csv", "new", "scores.npz")]


def test_it_trains_what_the_command_line_would(
    own: OwnGraph, paths: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    train_again(*paths, scorer="model")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    epochs = [line["epoch"] for line in lines if line.get("epochs") and line["stage"] == lines[1]["stage"]]
    assert epochs == list(range(1, 31))
    assert lines[-1]["done"]
    # The same by hand: same settings, same seed, the labels of the file.
    updated = read_label_file(paths[2], own)
    assert updated.labels.trusted[[10, 59]].all()
    expected = LNPClassifier(method="gcn", epochs=30, selection="last").fit(updated.graph, updated.labels)
    made = LNPClassifier.load(paths[3])
    np.testing.assert_allclose(made.probabilities_, expected.probabilities_, atol=1e-6)
    table = read_scores(paths[4])
    assert set(table.nodes.tolist()) == set(range(60))  # node 59 has a label now
    assert table.trusted[np.isin(table.nodes, [10, 59])].all()
    assert (paths[3] / "labels.csv").read_text(encoding="utf-8") == LABELS


def run(paths: list[Path]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "lnp.web.retrain_worker", *map(str, paths), "model"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_what_a_person_can_mend_is_said_in_one_line(paths: list[Path]) -> None:
    paths[2].write_text("node,label,trusted\nn10,purple,1\n", encoding="utf-8")
    process = run(paths)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "purple" in json.loads(out.splitlines()[-1])["error"]
    assert errors == ""
    assert not paths[3].exists()


def test_it_ends_when_it_is_told_to_and_leaves_nothing(home: Path, paths: list[Path]) -> None:
    before = sorted(path.name for path in home.iterdir())
    process = run(paths)
    assert process.stdout is not None
    process.stdout.readline()
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert sorted(path.name for path in home.iterdir()) == before
