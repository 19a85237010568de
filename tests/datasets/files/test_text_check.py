"""The pass over the bytes against Python's own reader of CSV, and every kind of damage by name."""

from __future__ import annotations

import csv
import io
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lnp.datasets.files.text_check as module
from lnp.datasets.files.text_check import check_text
from lnp.errors import DataError

cell = st.text(st.sampled_from('ab ,;"\n\té€'), max_size=6)
quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)


def write(folder: Path, content: bytes | str, name: str = "nodes.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@quick
@given(rows=st.lists(st.lists(cell, min_size=3, max_size=3), min_size=1, max_size=8), windows=st.booleans())
def test_whatever_a_csv_writer_writes_is_counted(tmp_path: Path, rows: list[list[str]], windows: bool) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n" if windows else "\n")
    writer.writerow(["id", "label", "x"])
    writer.writerows(rows)
    shape = check_text(write(tmp_path, text.getvalue()))
    assert (shape.separator, shape.names, shape.rows) == (",", ("id", "label", "x"), len(rows))


@quick
@given(content=st.text(st.sampled_from('a,"\n\r'), max_size=40), block=st.integers(1, 7))
def test_what_passes_is_read_alike_by_a_strict_reader(tmp_path: Path, content: str, block: int) -> None:
    path = write(tmp_path, "x,y\n" + content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", block)  # records that span blocks
        try:
            shape = check_text(path)
        except DataError:
            return
    rows = list(csv.reader(io.StringIO(path.read_bytes().decode(), newline=""), strict=True))
    filled = [row for row in rows[1:] if row]
    if "\r" not in content.replace("\r\n", ""):  # a lone carriage return is no end of a line here
        assert len(filled) == shape.rows
        assert {len(row) for row in filled} == {2}


@pytest.mark.parametrize(
    ("header", "name", "separator", "names"),
    [
        ("id,label", "nodes.csv", ",", ("id", "label")),
        ("id;label", "nodes.csv", ";", ("id", "label")),
        ("id\tlabel", "nodes.csv", "\t", ("id", "label")),
        ("id,a\tlabel", "nodes.tsv", "\t", ("id,a", "label")),
        ('"a,b,c";label', "nodes.csv", ";", ("a,b,c", "label")),
        ("\ufeffid| label ", "nodes.csv", "|", ("id", "label")),
        ("id", "nodes.csv", ",", ("id",)),
        (",label", "nodes.csv", ",", ("", "label")),
    ],
)
def test_the_separator_is_found(tmp_path: Path, header: str, name: str, separator: str, names: tuple[str, ...]) -> None:
    row = separator.join(["1"] * len(names))
    shape = check_text(write(tmp_path, f"{header}\n{row}\n", name))
    assert (shape.separator, shape.names, shape.rows) == (separator, names, 1)


def test_blank_lines_at_the_end_do_not_count(tmp_path: Path) -> None:
    assert check_text(write(tmp_path, "a,b\n1,2\n3,4\n\n\r\n\n")).rows == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"id,label\n", "rows below the header"),
        (b"id,label\n\n\n", "rows below the header"),
        (b"\n1,2\n", "names of columns in row 1"),
        (b"id,id\n1,2\n", "column 'id' is there twice"),
        (b"id,label\n1,2\n1\n", r"Expected 2 cells in .*nodes.csv, row 3, .* but got 1: .* after column 'id'"),
        (b"id,label\n1,2,3\n", r"Expected 2 cells in .*nodes.csv, row 2, .* but got 3: .* after column 'label'"),
        (b"id,label\n1,2\n\n3,4\n", "nodes.csv, row 3, is one"),
        (b"id,label\n1,caf\xe9\n", r"nodes.csv, row 2, column 'label', but got byte 0xe9. Save the file as UTF-8"),
        (b"caf\xe9,label\n1,2\n", r"nodes.csv, row 1, but got byte 0xe9"),
        (b"id,label\n1,\x00\n", r"row 2, column 'label', but got a NUL byte"),
        (b'id,label\n1,5" nail\n2,x"\n', r"row 2, column 'label', has one inside. Put the cell in quotation marks"),
        (b'id,label\n1,"a"b\n', r"row 2, column 'label', has one inside"),
        (b'id,label\n1,2\n1,"a\n2,3\n', "one that opens in row 3 never is"),
        (b"id,label\r1,2\r", "holds a line break"),
        ("id,label\n1,2\n".encode("utf-16"), "it is UTF-16 text"),
        (b"PK\x03\x04rest", "zip or Excel"),
        (b"PAR1rest", "a Parquet file"),
    ],
)
def test_damage_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(DataError, match=message) as caught:
        check_text(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no such file"):
        check_text(tmp_path / "nodes.csv")


@pytest.mark.parametrize("start", [b"id,label\n1,2\n", b'id,label\n1,2\n"', b""])
def test_a_line_of_five_gigabytes_is_not_read(tmp_path: Path, start: bytes) -> None:
    path = write(tmp_path, start)
    with path.open("r+b") as file:
        file.truncate(5 * 10**9)  # a hole: it takes no room on the disk, and reads as zeros without an end of line
    tracemalloc.start()
    began = time.perf_counter()
    with pytest.raises(DataError, match=rf"nodes.csv, row {3 if start else 1}, is longer; the rest was not read"):
        check_text(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300 * 2**20
    assert time.perf_counter() - began < 10


def test_the_limit_is_on_the_record(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n" + "x" * 40 + ",1\n1,2\n")
    assert check_text(path, max_record=60).rows == 2
    with pytest.raises(DataError, match=r"row 2, is longer"):
        check_text(path, max_record=30)
