"""The report from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

HEAD = (
    "table,protocol,dataset,noise,rate,backbone,method,seed,test_accuracy,detection_ap,detection_auroc,epochs,seconds,"
    "config_hash,code_version\n"
)
ROWS = (
    "table-2,paper,cora,flip,0.8,gcn,gcn,0,0.5,0.25,0.75,300,1.5,c,v\n"
    "table-2,paper,cora,flip,0.8,gcn,lnp-v2,0,0.71,0.25,0.75,300,4.5,c,v\n"
)


@pytest.fixture
def records(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "table-2.paper.csv").write_text(HEAD + ROWS, encoding="utf-8")
    (folder / "methods-cost.csv").write_text("method,dataset\n", encoding="utf-8")
    return folder


def targets(folder: Path) -> list[object]:
    return ["--out", folder / "report", "--markdown", folder / "docs" / "results.md"]


def test_page_markdown_and_figures(call, records: Path, tmp_path: Path) -> None:
    result = call("report", "--results", records, *targets(tmp_path))
    assert result.exit_code == 0, result.stderr
    assert (
        "Note: Left out, since no table or figure of the paper under a known protocol: methods-cost.csv."
        in result.stdout
    )
    assert "1 of the 1 LNP cells of Tables 1 and 2 that were run (100 %)" in result.stdout
    assert "71.0" in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "(**71.0**)" in (tmp_path / "docs" / "results.md").read_text(encoding="utf-8")
    assert (tmp_path / "report" / "figures" / "table-2-paper-scatter.svg").is_file()
    assert (tmp_path / "docs" / "figures" / "table-2-paper-scatter.png").is_file()


def test_json(call, records: Path, tmp_path: Path) -> None:
    said = json.loads(call("report", "--results", records, *targets(tmp_path), "--json").stdout)
    assert (said["runs"], said["reached"], said["missed"]) == (2, {"paper": 1}, {"paper": 0})
    assert all(Path(path).is_file() for path in said["files"])
    assert "table-1" in said["not_run"]


def test_errors_are_one_line_and_nothing_is_written(call, records: Path, tmp_path: Path) -> None:
    (records / "table-2.paper.csv").write_text(HEAD + ROWS.replace("0.71", "71"), encoding="utf-8")
    missing = tmp_path / "none"
    for arguments, message in (
        (["--results", records], "table-2.paper.csv, row 3, to be a number in [0, 1], but got '71'"),
        (["--results", missing], "Expected a folder of records at"),
        (["--store", missing], "Expected a store of runs at"),
        (["--any-code"], "Expected `--any-code` together with `--store`"),
    ):
        result = call("report", *arguments, *targets(tmp_path))
        assert result.exit_code == 2
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "report").exists()
    assert not (tmp_path / "docs").exists()


def test_a_store_is_read_besides_and_wins(call, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from lnp.experiments.store import Store
    from lnp.report.records import Results, read_results

    def stored(store: Store, *, any_code: bool) -> Results:
        rows = read_results(records).rows
        return Results(tuple(replace(row, test_accuracy=0.9, peak_mib=512.0) for row in rows[:1]), (str(any_code),))

    Store(tmp_path / "runs.sqlite").close()
    monkeypatch.setattr("lnp.report.stored_records.stored_results", stored)
    result = call("report", "--results", records, "--store", tmp_path / "runs.sqlite", "--any-code", *targets(tmp_path))
    assert result.exit_code == 0, result.stderr
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert "512 MiB" in page
    assert "90.0" in page
    assert "71.0" in page
    assert "Note: True" in result.stdout


def test_help_has_an_example(call) -> None:
    result = call("report", "--help")
    assert "Example: lnp report" in result.stdout
    assert "--json" in result.stdout
