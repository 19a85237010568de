from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"

EXPECTED = {
    "01_ten_lines.py": r"1,797 nodes.*\nright among the given .*: +\d+%\nright among the predictions .*: +[5-9]\d%",
    "02_compare_methods.py": r"gcn +lnp-v1 +lnp-v2\n0\.8 +gcn( +(9\d|100)%){3}\n0\.2 +h2gcn( +\d+%){3}",
    "03_own_arrays.py": r"The ten labels to check first:\n(  doc-\d{3}.*\n){10}Accuracy on .*: (9\d|100)%",
    "04_save_and_load.py": r"same probabilities: True; accuracy (9\d|100)%\nnode 7 (.|\n)*has checksum",
    "05_own_files.py": r"240 nodes.*\n(- .*\n)+The five labels .*:\n(  paper-\d{3}.*\n){5}Right .*: (9\d|100)%",
}
"""Each example and what its output must show."""


def test_every_example_is_covered() -> None:
    assert sorted(EXPECTED) == sorted(path.name for path in FOLDER.glob("*.py"))


@pytest.mark.parametrize("name", EXPECTED)
def test_example(name: str, tmp_path: Path) -> None:
    path = FOLDER / name
    assert len(path.read_text(encoding="utf-8").splitlines()) < 80
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-W", "error::UserWarning", str(path)]
    result = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", timeout=300, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert re.search(EXPECTED[name], result.stdout), result.stdout
    assert list(tmp_path.iterdir()) == []  # an example leaves nothing behind


def test_the_first_example_has_ten_lines() -> None:
    text = (FOLDER / "01_ten_lines.py").read_text(encoding="utf-8")
    assert sum(bool(line.strip()) for line in text.splitlines()[1:]) <= 10
