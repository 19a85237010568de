"""Hops in a file that is mapped into memory, so that whoever needs some rows reads those and no others.

::

    hops-KEY.f32     (L + 1, n, d) little-endian float32: hop after hop, row after row
    hops-KEY.json    written last: shape, what the hops are of, and a CRC-32 of every block of rows of every hop

The key is a digest of what the hops are of, graph included, so a file never has to be brought up to date. Both are
written beside their place and moved there; a header without whole data does not count. Blocks are compared with their
checksums when rows of them are asked for. Files live in the folder ``hops`` of the user's cache and may be removed at
any time.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lnp.datasets.download import cache_folder
from lnp.errors import DataError

__all__ = ["HopsFile", "hops_file", "write_hops"]

FORMAT = 1
NUMBER = np.dtype("<f4")
BLOCK = 1024
"""Rows to a checksum."""

Shape = tuple[int, int, int]
"""Hops (X included), nodes, features."""

Blocks = Callable[[NDArray[np.float32]], Iterable[tuple[int, slice, NDArray[np.float32]]]]
"""From the array that is being filled to its blocks: hop, rows, values. It may read what it has given already."""


@dataclass(frozen=True)
class HopsFile:
    """A whole file of hops.

    Args:
        data: The file with the numbers.
        shape: Hops (X included), nodes, features.
        block: Rows to a checksum.
        checksums: CRC-32 of each block of rows, for each hop.
    """

    data: Path
    shape: Shape
    block: int
    checksums: tuple[tuple[int, ...], ...]

    def mapped(self) -> NDArray[np.float32]:
        """All hops, ``(L + 1, n, d)``: nothing is read before it is used, and nothing compared with its checksum."""
        # Copy on write, because PyTorch warns of memory that cannot be written to; nothing here writes to it.
        return np.memmap(self.data, dtype=NUMBER, mode="c", shape=self.shape)

    def checked(self) -> NDArray[np.float32]:
        """The same after a pass over the file that compares it with its checksums."""
        whole = self.mapped()
        self._check(whole, np.arange(math.ceil(self.shape[1] / self.block)))
        return whole

    def read(self, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """Those rows of every hop, ``(L + 1, k, d)``, in memory. Only blocks that hold one of them are read."""
        whole = self.mapped()
        self._check(whole, np.unique(nodes // self.block))
        rows = np.empty((self.shape[0], nodes.size, self.shape[2]), np.float32)
        for hop, values in zip(whole, rows, strict=True):
            values[:] = hop[nodes]
        return rows

    def _check(self, whole: NDArray[np.float32], blocks: NDArray[np.int64]) -> None:
        for hop, checksums in enumerate(self.checksums):
            for number in blocks.tolist():
                start = number * self.block
                if zlib.crc32(whole[hop, start : start + self.block].data) != checksums[number]:
                    raise DataError(
                        f"Expected {self.data} to hold the hops it was written with, but rows from {start} of hop "
                        f"{hop} have changed. Remove the file; it is made again."
                    )


def hops_file(identity: Mapping[str, object]) -> HopsFile | None:
    """The file of the hops that ``identity`` describes; ``None`` where there is no whole one."""
    header, data = _paths(identity)
    try:
        facts = json.loads(header.read_text(encoding="utf-8"))
        shape = tuple(int(size) for size in facts["shape"])
        found = HopsFile(data, shape, int(facts["block"]), tuple(tuple(row) for row in facts["checksums"]))  # type: ignore[arg-type]
        whole = facts["format"] == FORMAT and facts["of"] == dict(identity)
        size = data.stat().st_size
    except (OSError, ValueError, KeyError, TypeError):  # no file, or not one of ours: it is made again
        return None
    return found if whole and size == math.prod(shape) * NUMBER.itemsize else None


def write_hops(identity: Mapping[str, object], shape: Shape, blocks: Blocks, *, block: int = BLOCK) -> HopsFile:
    """Fills the file block by block.

    Args:
        identity: What the hops are of, as JSON values.
        shape: Hops (X included), nodes, features.
        blocks: Gives all rows of all hops, so many at a time as it likes.
        block: Rows to a checksum.
    """
    header, data = _paths(identity)
    data.parent.mkdir(parents=True, exist_ok=True)
    needed, free = math.prod(shape) * NUMBER.itemsize, shutil.disk_usage(data.parent).free
    if needed > free:
        raise DataError(
            f"Expected {needed / 2**30:.1f} GiB of free space in {data.parent} for {shape[0]} hops of {shape[1]:,} "
            f"nodes with {shape[2]:,} features, but there are {free / 2**30:.1f} GiB. Set XDG_CACHE_HOME to a larger "
            "disk, use fewer features or `layers`, or another backbone."
        )
    starts = range(0, shape[1], block)
    with _moved_into_place(data) as temporary:
        array = np.memmap(temporary, dtype=NUMBER, mode="w+", shape=shape)
        for hop, rows, values in blocks(array):
            array[hop, rows] = values
        checksums = [[zlib.crc32(hop[start : start + block].data) for start in starts] for hop in array]
        array.flush()
    facts = {"format": FORMAT, "of": dict(identity), "shape": shape, "block": block, "checksums": checksums}
    with _moved_into_place(header) as temporary:
        temporary.write_text(json.dumps(facts), encoding="utf-8")
    return HopsFile(data, shape, block, tuple(tuple(row) for row in checksums))


def _paths(identity: Mapping[str, object]) -> tuple[Path, Path]:
    digest = hashlib.sha256(json.dumps(dict(identity), sort_keys=True).encode()).hexdigest()[:16]
    folder = cache_folder() / "hops"
    return folder / f"hops-{digest}.json", folder / f"hops-{digest}.f32"


@contextmanager
def _moved_into_place(path: Path) -> Iterator[Path]:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
