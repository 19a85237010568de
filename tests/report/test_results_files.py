"""Files of a report: all of them, in their places, the same bytes twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from lnp.errors import ConfigError
from lnp.report.records import Results
from lnp.report.results import Analysis, analyse
from lnp.report.results_files import write_results


@pytest.fixture
def analysis(runs) -> Analysis:
    rows = [*runs("table-2", "cora", 0.8, "gcn", [50.0, 50.2]), *runs("table-2", "cora", 0.8, "lnp-v2", [61.0])]
    return analyse(Results(tuple(rows)))


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_same_records_same_bytes(analysis: Analysis, tmp_path: Path) -> None:
    drawn: list[str] = []
    for name in ("first", "second"):
        folder = tmp_path / name
        paths = write_results(analysis, folder / "report", folder / "docs" / "results.md", drawn.append)
    first, second = content(tmp_path / "first"), content(tmp_path / "second")
    assert first == second
    assert set(first) == {
        *("report/index.html", "docs/results.md", "docs/figures/table-2-paper-scatter.png"),
        *("report/figures/table-2-paper-scatter.png", "report/figures/table-2-paper-scatter.svg"),
    }
    assert {str(path.relative_to(tmp_path / "second")) for path in paths} == set(second)
    assert drawn == ["table-2-paper-scatter"] * 2
    linked = first["docs/results.md"].decode().split("](figures/")[1].split(")")[0]
    assert f"docs/figures/{linked}" in first


def test_one_folder_for_both_and_no_markdown(analysis: Analysis, tmp_path: Path) -> None:
    write_results(analysis, tmp_path / "both", tmp_path / "both" / "results.md")
    assert (tmp_path / "both" / "figures" / "table-2-paper-scatter.png").is_file()
    paths = write_results(analysis, tmp_path / "page", None)
    assert [path.suffix for path in paths] == [".html", ".png", ".svg"]


def test_places_that_cannot_be_written_are_named_first(analysis: Analysis, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="to be a folder for the report, but it is a file"):
        write_results(analysis, tmp_path / "file", None)
    with pytest.raises(ConfigError, match="Expected a file to write to"):
        write_results(analysis, tmp_path / "report", tmp_path)
    assert not (tmp_path / "report").exists()
