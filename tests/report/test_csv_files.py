"""CSV files: what another reader finds in them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from lnp.errors import ConfigError
from lnp.experiments.demo_data import Suspect
from lnp.experiments.prediction import Predictions
from lnp.report.csv_files import write_predictions, write_suspects

PREDICTIONS = Predictions(
    node_ids=("n,1", 'n"2', "n3"),
    class_names=("x, y", "z"),
    given=np.array([1, -1, 0]),
    probabilities=np.array([[0.25, 0.75], [0.9, 0.1], [1 / 3, 2 / 3]]),
)


def test_predictions_with_awkward_names(tmp_path: Path) -> None:
    write_predictions(tmp_path / "p.csv", PREDICTIONS)
    rows = list(csv.reader((tmp_path / "p.csv").read_text().splitlines()))
    assert rows == [
        ["node", "given", "predicted", "confidence", "p_x, y", "p_z"],
        ["n,1", "z", "z", "0.75", "0.25", "0.75"],
        ['n"2', "", "x, y", "0.9", "0.9", "0.1"],
        ["n3", "x, y", "z", "0.666667", "0.333333", "0.666667"],
    ]


def test_suspects_by_name(tmp_path: Path) -> None:
    write_suspects(tmp_path / "s.csv", [Suspect(2, 0, 1, 0.125, 0.5, 1)], PREDICTIONS)
    rows = list(csv.reader((tmp_path / "s.csv").read_text().splitlines()))
    assert rows == [["node", "given", "proposed", "quality", "confidence"], ["n3", "x, y", "z", "0.125", "0.5"]]


def test_a_failure_half_way_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("old")

    def rows():
        yield Suspect(2, 0, 1, 0.125, 0.5, 1)
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError):
        write_suspects(tmp_path / "s.csv", rows(), PREDICTIONS)
    assert [path.name for path in tmp_path.iterdir()] == ["s.csv"]
    assert (tmp_path / "s.csv").read_text() == "old"


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is a folder"):
        write_predictions(tmp_path, PREDICTIONS)
