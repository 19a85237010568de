"""``lnp predict`` on what ``lnp train`` kept."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from lnp.engine.model_file import load_model


@pytest.fixture
def run(call, small: list[str], tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    assert call("train", *small, "--method", "gcn", "--seeds", 2, "--out", folder).exit_code == 0
    return folder


def test_several_seeds_are_averaged(call, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "predictions.csv"
    result = call("predict", run, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    summary = json.loads(result.stdout)
    rows = list(csv.DictReader(out.read_text().splitlines()))
    models = [load_model(run / f"seed-{seed}") for seed in (0, 1)]
    mean = np.mean([model.probabilities.numpy() for model in models], axis=0)
    assert list(rows[0]) == ["node", "given", "predicted", "confidence", "p_0", "p_1", "p_2"]
    written = np.array([[float(row[f"p_{k}"]) for k in range(3)] for row in rows])
    np.testing.assert_allclose(written, mean, atol=1e-6)
    assert [int(row["predicted"]) for row in rows] == mean.argmax(axis=1).tolist()
    assert [row["node"] for row in rows] == [str(i) for i in range(90)]
    assert (summary["nodes"], summary["models"]) == (90, 2)
    assert sum(summary["predicted"].values()) == 90


def test_one_seed_has_its_own_given_labels(call, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "one.csv"
    assert call("predict", run / "seed-1", "--out", out).exit_code == 0
    given = load_model(run / "seed-1").observed.given
    assert [row["given"] for row in csv.DictReader(out.read_text().splitlines())] == [
        "" if g < 0 else str(g) for g in given
    ]


def test_bad_folders_and_files_are_one_line_and_nothing_is_written(call, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "never.csv"
    empty = tmp_path / "empty"
    empty.mkdir()
    model = run / "seed-1" / "model.safetensors"
    model.write_bytes(model.read_bytes()[:200])
    cases = [
        (tmp_path / "absent", "there is no folder"),
        (empty, "neither a model.json nor a finished seed"),
        (run, "seed-1/model.safetensors is not a readable model file"),
    ]
    for folder, message in cases:
        result = call("predict", folder, "--out", out)
        assert result.exit_code == 2
        assert message in result.stderr
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        assert result.stdout == ""
        assert not out.exists()


def test_no_part_of_a_model_is_overwritten(call, run: Path) -> None:
    part = run / "seed-0" / "model.json"
    before = part.read_bytes()
    result = call("predict", run, "--out", part)
    assert result.exit_code == 2
    assert "belongs to the model in" in result.stderr
    assert part.read_bytes() == before
    for _ in range(2):  # other files may lie beside it, and be written again
        assert call("predict", run, "--out", run / "seed-0" / "predictions.csv").exit_code == 0


def test_a_folder_is_no_file_to_write(call, run: Path, tmp_path: Path) -> None:
    result = call("predict", run, "--out", tmp_path)
    assert result.exit_code == 2
    assert "is a folder" in result.stderr
