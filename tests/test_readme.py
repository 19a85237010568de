"""What the README shows runs, and what it lists is complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lnp.methods.registry import METHODS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_ten_lines_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    lines = [line for line in block.splitlines() if line and not line.startswith(("from ", "import "))]
    assert len(lines) <= 10
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "README.md", "exec"), {})
    assert float(capsys.readouterr().out.splitlines()[-1]) > 0.9  # four labels in ten were right
    assert (tmp_path / "digits-model" / "model.safetensors").is_file()


def test_every_method_is_listed() -> None:
    table = README[README.index("## The methods") : README.index("## How to read")]
    assert set(re.findall(r"`([a-z0-9-]+)`", table)) - {"lnp"} == set(METHODS)


def test_every_link_leads_somewhere() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            file, _, place = target.partition("#")
            found = page.parent / file if file else page
            assert found.exists(), f"{page.name} links to {target}"
            assert not place or place in places(found), f"{page.name} links to {target}"


def test_every_table_has_a_head_and_rows_of_one_length() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = re.sub(r"```.*?```", lambda block: "\n" * block[0].count("\n"), page.read_text("utf-8"), flags=re.DOTALL)
        lines = [re.sub(r"`[^`]*`", "", line) for line in text.splitlines()]
        for number, line in enumerate(lines, start=1):
            assert line.startswith("|") or "| |" not in line, f"{page.name}:{number} has a table within a line"
            if not line.startswith("|"):
                continue
            if not lines[number - 2].startswith("|"):
                assert re.fullmatch(r"[|:\- ]+", lines[number]), f"{page.name}:{number} begins a table without a head"
            else:
                assert columns(line) == columns(lines[number - 2]), f"{page.name}:{number} has other columns"


def columns(line: str) -> int:
    """Of a row of a table; a bar that is part of a cell is written with a backslash."""
    return len(re.findall(r"(?<!\\)\|", line)) - 1


def places(page: Path) -> set[str]:
    """What a link can point at in a page: its headings, as they are named there, and anchors."""
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    names = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return names | set(re.findall(r'<a id="([^"]+)"', text))


def test_every_file_in_the_paper_map_exists() -> None:
    text = (ROOT / "docs" / "paper_map.md").read_text(encoding="utf-8")
    files = set(re.findall(r"`((?:engine|methods|losses|nn|noise|graph)/[a-z0-9_/]+\.py)`", text))
    assert len(files) > 12
    for file in files:
        assert (ROOT / "src" / "lnp" / file).is_file(), file
        test = ROOT / "tests" / Path(file).parent / f"test_{Path(file).name}"
        assert test.is_file(), test


def test_every_option_that_deviations_name_exists() -> None:
    from lnp.methods.coteaching_plus import CoteachingPlusConfig
    from lnp.methods.lnp.config import LNPConfig

    text = (ROOT / "docs" / "deviations.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in text.splitlines() if re.match(r"\| \d+ \|", line)]
    known = {*LNPConfig.__dataclass_fields__, *CoteachingPlusConfig.__dataclass_fields__} | {
        "fine_tune_epochs",
        "fine_tune_learning_rate",
    }
    named = {option for row in rows for option in re.findall(r"`([a-z_0-9]+)`", row[6])}
    assert len(named & known) > 12  # the table was read
    assert named - {"uniform", "flip", "nw"} <= known
