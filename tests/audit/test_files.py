"""Audits written and read again."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path

import numpy as np
import pytest

from lnp.audit.files import read_audit, require_audit_path, write_audit
from lnp.audit.table import AuditTable
from lnp.errors import ConfigError, DataError

NAMES = ("a, b", 'say "<script>"', "ümlaut")
IDS = ("first", "0", "x,y", "")


@pytest.fixture
def table() -> AuditTable:
    return AuditTable(
        nodes=np.array([2, 0, 3]),
        given=np.array([1, 0, 2]),
        quality=np.array([0.123456789, 0.5, 1.0]),
        proposed=np.array([0, 0, 2]),
        confidence=np.array([0.7, 0.5, 1.0]),
        probabilities=np.array([[0.7, 0.2, 0.1], [1 / 3, 1 / 3, 1 / 3], [0, 0, 1]]),
        prototype_similarity=np.array([[0.1, np.nan, -1], [0.2, np.nan, 0], [0.3, np.nan, 1]]),
        neighbour_labels=np.array([[1, 0, 0], [0, 0, 0], [12, 3, 4]]),
        trusted=np.array([False, False, True]),
        noise_rate=np.array([0.5, 0.876543211, np.nan]),
        transition=np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0, 0, 1]]),
        checks=np.array([[2, 0, 1], [0, 0, 0], [0, 0, 0]]),
        class_names=NAMES,
        scorer="cross-fit",
    )


def compare(found: AuditTable, expected: AuditTable, *, without: tuple[str, ...] = (), decimals: int = 15) -> None:
    for field in dataclasses.fields(AuditTable):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if field.name in without:
            continue
        if isinstance(other, np.ndarray):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, atol=10.0**-decimals, rtol=0)
        else:
            assert one == other


@pytest.mark.parametrize("ids", [None, IDS])
def test_parquet_keeps_everything(table: AuditTable, tmp_path: Path, ids) -> None:
    path = tmp_path / "new" / "audit.parquet"
    write_audit(path, table, ids)
    compare(read_audit(path, ids), table)


@pytest.mark.parametrize("ids", [None, IDS])
def test_csv_keeps_the_rows_with_six_decimals(table: AuditTable, tmp_path: Path, ids) -> None:
    path = tmp_path / "audit.csv"
    write_audit(path, table, ids)
    found = read_audit(path, ids)
    compare(found, table, without=("transition", "checks", "scorer"), decimals=6)
    assert np.isnan(found.transition).all()
    assert found.found_wrong == (0, 0)


def test_columns_and_their_order(table: AuditTable, tmp_path: Path) -> None:
    write_audit(tmp_path / "audit.csv", table, IDS)
    with (tmp_path / "audit.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    fixed = ["node", "given", "quality", "proposed", "confidence", "trusted"]
    blocks = [f"{block}_{name}" for block in ("p", "similarity", "neighbours") for name in NAMES]
    assert list(rows[0]) == fixed + blocks
    assert [row["node"] for row in rows] == ["x,y", "first", ""]
    assert [row["given"] for row in rows] == [NAMES[1], NAMES[0], NAMES[2]]
    assert (rows[0]["quality"], rows[0]["trusted"], rows[2]["trusted"]) == ("0.123457", "0", "1")
    assert rows[0][f"similarity_{NAMES[1]}"] == ""
    assert rows[2][f"neighbours_{NAMES[0]}"] == "12"


def test_a_place_that_cannot_be_written(table: AuditTable, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"end in \.csv or \.parquet"):
        require_audit_path(tmp_path / "audit.txt")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ConfigError, match="is a folder"):
        write_audit(tmp_path / "folder.csv", table)


@pytest.mark.parametrize("text", ["", "node,given\n1,2\n", "node,given,quality,proposed,confidence,trusted,p_a\n1,b\n"])
def test_a_file_that_is_no_audit(tmp_path: Path, text: str) -> None:
    for name in ("audit.csv", "audit.parquet"):
        (tmp_path / name).write_text(text)
        with pytest.raises(DataError, match=f"Expected .*{name} to be an audit"):
            read_audit(tmp_path / name)
    with pytest.raises(DataError, match="no such file"):
        read_audit(tmp_path / "none.csv")
