"""``lnp demo``: the table, the JSON and the files agree."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from lnp.report.statistics import percent


def test_table_json_and_files(call, tmp_path: Path) -> None:
    arguments = ["demo", "--seeds", 1, "--epochs", 2, "--processes", 1, "--out", tmp_path / "demo"]
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert list(found["methods"]) == ["gcn", "lnp-v1", "lnp-v2", "lnp-channel"]
    assert found["trusted"] == 20
    assert found["base_rate"] == pytest.approx(0.6, abs=0.06)
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == [
        "predictions.csv",
        "report.html",
        "suspects.csv",
    ]
    page = (tmp_path / "demo" / "report.html").read_text()
    for outcome in found["methods"].values():
        assert f'<td class="number">{percent(outcome["test_accuracy"])}</td>' in page
    suspects = list(csv.DictReader((tmp_path / "demo" / "suspects.csv").read_text().splitlines()))
    assert list(suspects[0]) == ["node", "given", "proposed", "quality", "confidence"]
    for proposed in {row["proposed"] for row in suspects}:
        qualities = [float(row["quality"]) for row in suspects if row["proposed"] == proposed]
        assert qualities == sorted(qualities)
    assert all(row["given"] != row["proposed"] for row in suspects)


def test_a_file_in_the_way_is_found_before_the_work(call, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    result = call("demo", "--out", tmp_path / "file")
    assert result.exit_code == 2
    assert "it is a file" in result.stderr
    assert (tmp_path / "file").read_text() == "mine"
