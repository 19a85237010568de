from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lnp.errors import DataError
from lnp.nn import hops_file as module
from lnp.nn.hops_file import HopsFile, hops_file, write_hops

OF = {"graph": "abc", "propagation": "row", "hops": 1}
VALUES = np.arange(2 * 7 * 3, dtype=np.float32).reshape(2, 7, 3)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "lnp" / "hops"


def blocks(earlier: np.ndarray) -> Iterator[tuple[int, slice, np.ndarray]]:
    for hop in range(2):
        for start in range(0, 7, 3):
            part = slice(start, min(start + 3, 7))
            yield hop, part, VALUES[hop, part]


def write() -> HopsFile:
    return write_hops(OF, VALUES.shape, blocks, block=3)


def test_rows_come_back_and_whole_files_are_found_again() -> None:
    assert hops_file(OF) is None
    written = write()
    found = hops_file(OF)
    assert found == written
    np.testing.assert_array_equal(found.checked(), VALUES)
    for nodes in ([0, 1], [2, 4, 5], [6, 0], [3], []):
        np.testing.assert_array_equal(found.read(np.array(nodes, np.int64)), VALUES[:, nodes])
    assert hops_file({**OF, "hops": 2}) is None


def test_the_data_are_plain_numbers_without_pickle(folder: Path) -> None:
    data = write().data
    np.testing.assert_array_equal(np.fromfile(data, "<f4").reshape(VALUES.shape), VALUES)
    assert sorted(path.suffix for path in folder.iterdir()) == [".f32", ".json"]


def test_blocks_may_read_what_was_given_before() -> None:
    def doubling(earlier: np.ndarray) -> Iterator[tuple[int, slice, np.ndarray]]:
        yield 0, slice(0, 7), VALUES[0]
        yield 1, slice(0, 7), 2 * earlier[0]

    np.testing.assert_array_equal(write_hops(OF, VALUES.shape, doubling).mapped()[1], 2 * VALUES[0])


def test_writing_to_mapped_rows_leaves_the_file_alone() -> None:
    file = write()
    file.mapped()[:] = -1
    np.testing.assert_array_equal(file.checked(), VALUES)


def test_a_changed_block_is_noticed_by_whoever_reads_it() -> None:
    file = write()
    array = np.memmap(file.data, "<f4", mode="r+", shape=VALUES.shape)
    array[1, 6, 0] += 1  # the third block of the second hop
    array.flush()
    np.testing.assert_array_equal(file.read(np.arange(6)), VALUES[:, :6])
    for reads in (lambda: file.read(np.array([6])), file.checked):
        with pytest.raises(DataError, match=r"rows from 6 of hop 1 have changed\. Remove the file"):
            reads()


@pytest.mark.parametrize("damage", ["truncated data", "no data", "broken header", "another format", "another graph"])
def test_what_is_not_whole_does_not_count(damage: str) -> None:
    data = write().data
    header = data.with_suffix(".json")
    if damage == "truncated data":
        data.write_bytes(data.read_bytes()[:-4])
    elif damage == "no data":
        data.unlink()
    elif damage == "broken header":
        header.write_text(header.read_text()[:-10])
    else:
        facts = json.loads(header.read_text())
        facts |= {"format": 99} if damage == "another format" else {"of": {**OF, "graph": "abd"}}
        header.write_text(json.dumps(facts))
    assert hops_file(OF) is None
    np.testing.assert_array_equal(write().checked(), VALUES)
    assert hops_file(OF) is not None


def test_a_stopped_write_leaves_nothing(folder: Path) -> None:
    def stops(earlier: np.ndarray) -> Iterator[tuple[int, slice, np.ndarray]]:
        yield 0, slice(0, 3), VALUES[0, :3]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_hops(OF, VALUES.shape, stops)
    assert list(folder.iterdir()) == []


def test_too_small_a_disk_is_said_before_anything_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage:
        free = 100

    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: Usage)
    with pytest.raises(DataError, match=r"2 hops of 7 nodes with 3 features.*XDG_CACHE_HOME"):
        write()
    assert list(folder.iterdir()) == []
