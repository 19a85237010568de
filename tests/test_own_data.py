"""The guide to your own data runs: its commands, their output, and its Python."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lnp.cli.main import app
from lnp.engine.model_file import load_model

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "docs" / "own_data.md").read_text(encoding="utf-8")
FIRST_HALF = GUIDE[: GUIDE.index("\n## Audit")]


def commands(text: str) -> Iterator[tuple[list[str], str]]:
    """Every command of the console blocks, with the output that is shown below it."""
    for block in re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, output = part.partition("\n")
            yield line.split(), output


def run(command: list[str], shown: str) -> str:
    """Runs one command in the current folder; what it printed."""
    if command[0] == "python":
        script = [sys.executable, str(ROOT / command[1]), *command[2:]]
        return subprocess.run(script, check=True, capture_output=True, encoding="utf-8").stdout
    if command[0] == "head":
        lines = Path(command[2]).read_text(encoding="utf-8").splitlines(keepends=True)
        return "".join(lines[: -int(command[1])])
    if command[0] == "cat":  # a file that the reader is shown is one that the reader has
        Path(command[1]).write_text(shown, encoding="utf-8")
        return shown
    assert command[0] == "lnp", command
    result = CliRunner().invoke(app, command[1:])
    assert result.exit_code == (2 if shown.startswith("error:") else 0), result.output
    return result.stderr if result.exit_code else result.stdout


def test_the_first_half_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = list(commands(FIRST_HALF))
    assert [command[:2] for command, _ in found if command[0] == "lnp"] == [
        *(["lnp", "import"], ["lnp", "import"], ["lnp", "train"], ["lnp", "predict"], ["lnp", "train"])
    ]
    for command, shown in found:
        printed = run(command, shown)
        assert not shown or printed == shown, command
    with open("predictions.csv", encoding="utf-8") as file:
        rows = {row["node"]: row for row in csv.DictReader(file)}
    assert len(rows) == 240
    assert (rows["paper-054"]["given"], rows["paper-054"]["predicted"]) == ("databases", "networks")
    model = load_model("papers-model")  # trained again with the verdicts
    assert model.class_names[model.observed.given[model.about["node_ids"].index("paper-156")]] == "networks"
    assert not Path("elsewhere").exists()
    (block,) = re.findall(r"```python\n(.*?)```", FIRST_HALF, flags=re.DOTALL)
    exec(compile(block, "own_data.md", "exec"), {})
    assert capsys.readouterr().out.splitlines()[-1] == "networks"


def test_every_option_in_the_guide_exists() -> None:
    help_text = "".join(CliRunner().invoke(app, [command, "--help"]).stdout for command in ("import", "train"))
    for option in set(re.findall(r"`(--[a-z-]+)", FIRST_HALF)):
        assert option in help_text, option
