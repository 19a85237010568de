"""Records: what is read is what was written, and what is wrong is named by file and row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lnp.errors import DataError
from lnp.report.records import mixed_cells, read_results

HEAD = (
    "table,protocol,dataset,noise,rate,backbone,method,seed,test_accuracy,detection_ap,detection_auroc,epochs,seconds,"
    "config_hash,code_version\n"
)
GOOD = "table-2,paper,cora,flip,0.8,gcn,gce,0,0.5,0.25,0.75,300,1.5,c,v\n"


def test_what_was_written_is_read_in_order(runs, write_records, tmp_path: Path) -> None:
    rows = [
        *runs("table-2", "cora", 0.8, "lnp-v2", [70.0, 71.5]),
        *runs("table-2", "cora", 0.8, "gcn", [40.0], detection_ap=None, detection_auroc=None),
        *runs("figure-ablation", "cora", 0.8, "lnp-v2", [60.0], part="nl", protocol="strict"),
    ]
    write_records(tmp_path, rows)
    (tmp_path / "sanity.paper.csv").write_text("anything")
    (tmp_path / "table-2.released.csv").write_text("anything")
    results = read_results(tmp_path)
    assert list(results.rows) == [rows[3], rows[2], rows[0], rows[1]]
    (note,) = results.notes
    assert note.endswith(": sanity.paper.csv, table-2.released.csv.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + GOOD + GOOD.replace(",0.5,", ",high,"), r"`test_accuracy` in .*table-2\.paper\.csv, row 3, .*'high'"),
        (HEAD + GOOD.replace(",0.5,", ",1.2,"), r"row 2, to be a number in \[0, 1\], but got '1\.2'"),
        (HEAD + GOOD.replace(",0.5,", ",nan,"), "row 2, to be a number"),
        (HEAD + GOOD.replace(",0.5,", ",,"), "row 2, to be a number"),
        (HEAD + GOOD.replace("gce,0,", "gce,first,"), "`seed` in .*row 2, to be a whole number, but got 'first'"),
        (HEAD + GOOD.replace(",1.5,", ",-1,"), "`seconds` in .*row 2, to be a number at least 0"),
        (HEAD + GOOD.replace("cora", ""), "row 2, to have a `dataset`, but it is empty"),
        (HEAD + GOOD + GOOD, "rows 2 and 3, are the same: cora, rate 0.8, gce, seed 0"),
        (
            HEAD + GOOD.replace("table-2", "table-1"),
            "row 2, to have the table 'table-2' of its file, but got 'table-1'",
        ),
        (HEAD + GOOD.replace("paper", "strict"), "row 2, to have the protocol 'paper'"),
        (HEAD + GOOD.replace("table-2", "table-2/lambda_1=x"), "row 2, to be a number at least 0, but got 'x'"),
        (HEAD + GOOD.replace(",v\n", "\n"), "row 2, to have as many values"),
        (HEAD + GOOD.replace(",v\n", ",v,w\n"), "row 2, to have as many values"),
        (HEAD.replace("rate,", ""), "row 1, to name the columns rate"),
        ("", "row 1, to name the columns table"),
        (HEAD + '"open', r"row 2, to be CSV"),
    ],
)
def test_what_is_wrong_is_named_by_file_and_row(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "table-2.paper.csv").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_results(tmp_path)


def test_other_bytes_and_a_missing_folder(tmp_path: Path) -> None:
    (tmp_path / "table-2.paper.csv").write_bytes(b"table\xff")
    with pytest.raises(DataError, match=r"table-2\.paper\.csv to be UTF-8 text, but byte 5 is not"):
        read_results(tmp_path)
    with pytest.raises(DataError, match=r"Expected a folder of records at .*none, but there is none"):
        read_results(tmp_path / "none")


def test_cells_of_several_configurations_are_found(runs) -> None:
    rows = runs("table-2", "cora", 0.8, "gcn", [40.0, 41.0])
    assert mixed_cells(rows) == []
    other = [rows[0], replace(rows[1], config_hash="d")]
    assert mixed_cells(other) == ["table-2 (paper), cora 0.8, gcn"]
    assert mixed_cells([rows[0], replace(rows[1], code_version="w")]) == ["table-2 (paper), cora 0.8, gcn"]
