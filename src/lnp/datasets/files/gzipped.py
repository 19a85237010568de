"""Text that may be packed with gzip, as exports often are: what a file's name says, and its bytes.

Whether a file is packed is told by its first bytes: browsers unpack ``nodes.csv.gz`` on the way and keep its name.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lnp.errors import DataError

__all__ = ["kind_of", "name_of", "unpacked"]

PACKED = ".gz"
PACKABLE = (".csv", ".tsv", ".tab", ".txt", ".graphml", ".gexf")
"""Kinds of text; other kinds pack their own contents."""

MARK = b"\x1f\x8b"
"""How a packed file begins."""


def kind_of(path: Path) -> str:
    """The end of the name that says what a file holds, in small letters.

    >>> kind_of(Path("nodes.csv.gz")), kind_of(Path("Nodes.TSV")), kind_of(Path("nodes.parquet.gz"))
    ('.csv', '.tsv', '.gz')
    """
    inner = Path(path.stem).suffix.lower()
    return inner if path.suffix.lower() == PACKED and inner in PACKABLE else path.suffix.lower()


def name_of(path: Path) -> str:
    """The name without the ends that say what a file holds.

    >>> name_of(Path("papers.graphml.gz")), name_of(Path("papers.csv"))
    ('papers', 'papers')
    """
    return path.name[: -len(PACKED + kind_of(path))] if kind_of(path) != path.suffix.lower() else path.stem


@contextmanager
def unpacked(path: Path) -> Iterator[io.BufferedIOBase]:
    """The file opened for reading, unpacked if it is packed; what is wrong with the packing is said."""
    with path.open("rb") as file:
        packed = file.read(len(MARK)) == MARK
        file.seek(0)
        if not packed:
            yield file
            return
        try:
            with gzip.open(file) as text:
                yield text
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise DataError(
                f"Expected {path} to be packed with gzip as a whole, but got: {error}. Copy or pack it again."
            ) from error
