"""Is this file a table of text at all? One pass over its bytes, in blocks, before anything is parsed.

Every record must end within :data:`MAX_RECORD` bytes, be UTF-8, have as many cells as the header, and put its quotation
marks at the borders of cells (RFC 4180). Whatever is wrong is named by file, row and column, and no more of the file is
read than it takes to find it. Rows are counted as a spreadsheet does: the header is row 1.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from lnp.datasets.files.gzipped import kind_of, unpacked
from lnp.datasets.files.table import shown
from lnp.errors import DataError

__all__ = ["MAX_RECORD", "TextShape", "check_text"]

MAX_RECORD = 16 * 2**20
"""Bytes that one record may have. A longer one is a mistake: a binary file, or a quotation mark that never closes."""

BLOCK = 8 * 2**20
SEPARATORS = (",", ";", "\t", "|")
QUOTE, NEWLINE, RETURN = 34, 10, 13

OTHER_KINDS = {
    b"PAR1": "a Parquet file: name it .parquet",
    b"PK\x03\x04": "a zip or Excel file: save the sheet as CSV",
    b"\xff\xfe": "UTF-16 text: save it as UTF-8",
    b"\xfe\xff": "UTF-16 text: save it as UTF-8",
}
"""How a file begins that is no table of text, and what it is."""


@dataclass(frozen=True)
class TextShape:
    """What the pass found: the separator, the names in the header, and the number of records below it."""

    separator: str
    names: tuple[str, ...]
    rows: int


def check_text(path: Path, *, max_record: int = MAX_RECORD) -> TextShape:
    """Checks the whole file and returns its shape."""
    if not path.is_file():
        raise DataError(f"Expected a table at {path}, but there is no such file.")
    with unpacked(path) as file:
        start = file.read(4)
        if not start:
            raise DataError(f"Expected a table in {path}, but the file is empty.")
        for mark, kind in OTHER_KINDS.items():
            if start.startswith(mark):
                raise DataError(f"Expected text in {path}, but it is {kind}.")
        file.seek(3 if start.startswith(b"\xef\xbb\xbf") else 0)
        scan = _Scan(path, max_record)
        carry = b""
        while block := file.read(BLOCK):
            carry = scan.feed(carry + block, last=False)
        if carry:
            scan.feed(carry + b"\n", last=True)
    return scan.shape()


class _Scan:
    """The pass itself: whole records come in, counts and complaints come out."""

    def __init__(self, path: Path, max_record: int) -> None:
        self.path, self.max_record = path, max_record
        self.separator = ""
        self.names: tuple[str, ...] = ()
        self.records = 0  # finished ones, the header included
        self.blank_row: int | None = None  # the first of the blank lines that end the file so far

    def shape(self) -> TextShape:
        below = (self.records if self.blank_row is None else self.blank_row - 1) - 1
        if below < 1:
            raise DataError(f"Expected rows below the header of {self.path}, but there is none.")
        return TextShape(self.separator, self.names, below)

    def feed(self, buffer: bytes, *, last: bool) -> bytes:
        """Checks the whole records of the buffer, which starts with one, and returns what is left."""
        codes = np.frombuffer(buffer, np.uint8)
        quotes = np.flatnonzero(codes == QUOTE)
        inside = _inside(codes, quotes)
        newlines = np.flatnonzero(codes == NEWLINE)
        ends = newlines if inside is None else newlines[~inside[newlines]]
        length = int(ends[-1]) + 1 if ends.size else 0
        tail = len(buffer) - length
        longest = int(np.diff(ends, prepend=-1).max(initial=0)) if ends.size else 0
        if longest > self.max_record or tail > self.max_record:
            lengths = np.append(np.diff(ends, prepend=-1), tail)
            self._too_long(self.records + 1 + int(np.flatnonzero(lengths > self.max_record)[0]), quotes.size > 0)
        if last and tail:
            raise DataError(
                f"Expected every quotation mark to be closed in {self.path}, but one that opens in row "
                f"{self.records + ends.size + 1:,} never is. Write a quotation mark inside a cell twice."
            )
        if length:
            if not self.names:
                self._read_header(buffer[: int(ends[0]) + 1])
            self._check_records(buffer[:length], codes[:length], inside, quotes[quotes < length], ends)
            self.records += ends.size
        return buffer[length:]

    def _read_header(self, record: bytes) -> None:
        text = self._decode(record, np.array([len(record) - 1]), np.zeros(0, np.int64)).rstrip("\r\n")
        if "\r" in text or "\n" in text:
            raise DataError(
                f"Expected the header of {self.path} to be one line that ends with a newline, but it holds a line "
                "break. Save the file with Unix or Windows line ends."
            )
        if kind_of(self.path) in (".tsv", ".tab"):
            self.separator = "\t"
        else:
            bare = "".join(text.split('"')[::2])
            self.separator = max(SEPARATORS, key=bare.count)  # the first of equals: a comma where there is none
        try:
            names = next(csv.reader(io.StringIO(text), delimiter=self.separator, strict=True), [])
        except csv.Error as error:
            raise DataError(f"Expected a header in row 1 of {self.path}, but got: {error}.") from error
        self.names = tuple(name.strip() for name in names)
        for i, name in enumerate(self.names):
            if name and name in self.names[:i]:
                raise DataError(
                    f"Expected different names in row 1 of {self.path}, but column {shown(name)} is there twice. "
                    "Rename one."
                )
        if not any(self.names):
            raise DataError(f"Expected names of columns in row 1 of {self.path}, but the row is empty.")

    def _check_records(
        self,
        buffer: bytes,
        codes: NDArray[np.uint8],
        inside: NDArray[np.bool_] | None,
        quotes: NDArray[np.int64],
        ends: NDArray[np.int64],
    ) -> None:
        cuts = np.flatnonzero(codes == ord(self.separator))
        cuts = cuts if inside is None else cuts[~inside[cuts]]
        self._decode(buffer, ends, cuts)
        if b"\0" in buffer:
            place = self._place(buffer.index(b"\0"), ends, cuts)
            raise DataError(f"Expected text in {place}, but got a NUL byte. This is no text file, or a damaged one.")
        starts = np.append(0, ends[:-1] + 1)
        self._check_quotes(codes, quotes, ends, cuts)
        blank = (ends == starts) | ((ends == starts + 1) & (codes[starts] == RETURN))
        self._check_blank(blank)
        cells = np.diff(np.searchsorted(cuts, ends), prepend=0) + 1
        wrong = np.flatnonzero((cells != len(self.names)) & ~blank)
        if wrong.size:
            row, count = self.records + 1 + int(wrong[0]), int(cells[wrong[0]])
            border = min(count, len(self.names)) - 1
            raise DataError(
                f"Expected {len(self.names)} cells in {self.path}, row {row:,}, as in its header, but got {count}: the "
                f"row parts from the header after column {shown(self.names[border])}. Mend the row; a cell that "
                f"contains {self.separator!r} belongs in quotation marks."
            )

    def _check_blank(self, blank: NDArray[np.bool_]) -> None:
        filled = np.flatnonzero(~blank)
        first_row = self.records + 1
        if filled.size:
            early = np.flatnonzero(blank[: filled[-1]])
            hole = self.blank_row if self.blank_row is not None else (first_row + int(early[0]) if early.size else None)
            if hole is not None:
                raise DataError(
                    f"Expected no empty line between rows, but {self.path}, row {hole:,}, is one. Remove it."
                )
            after = int(filled[-1]) + 1
            self.blank_row = first_row + after if after < blank.size else None
        elif blank.size and self.blank_row is None:
            self.blank_row = first_row

    def _check_quotes(
        self, codes: NDArray[np.uint8], quotes: NDArray[np.int64], ends: NDArray[np.int64], cuts: NDArray[np.int64]
    ) -> None:
        """Opening marks follow a border or a closing mark (a doubled one), closing marks precede a border or a mark."""
        if not quotes.size:
            return
        opening, closing = quotes[0::2], quotes[1::2]
        border = (NEWLINE, ord(self.separator), QUOTE)
        before = codes[np.maximum(opening - 1, 0)]
        stray = opening[(opening > 0) & ~np.isin(before, border)]
        after = codes[closing + 1]  # there always is one: a record ends with a newline
        stray = np.append(stray, closing[~np.isin(after, (*border, RETURN))])
        if stray.size:
            raise DataError(
                f"Expected quotation marks around a whole cell only, but {self._place(int(stray.min()), ends, cuts)}, "
                "has one inside. Put the cell in quotation marks and write those inside it twice."
            )

    def _decode(self, buffer: bytes, ends: NDArray[np.int64], cuts: NDArray[np.int64]) -> str:
        try:
            return buffer.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"Expected UTF-8 text in {self._place(error.start, ends, cuts)}, but got byte "
                f"0x{buffer[error.start]:02x}. Save the file as UTF-8; in a spreadsheet that is a choice of `Save as`."
            ) from error

    def _place(self, offset: int, ends: NDArray[np.int64], cuts: NDArray[np.int64]) -> str:
        record = int(np.searchsorted(ends, offset))
        start = int(ends[record - 1]) + 1 if record else 0
        column = int(np.searchsorted(cuts, offset) - np.searchsorted(cuts, start))
        where = f"{self.path}, row {self.records + 1 + record:,}"
        return f"{where}, column {shown(self.names[column])}" if column < len(self.names) else where

    def _too_long(self, row: int, quoted: bool) -> NoReturn:
        hint = " Perhaps a quotation mark opens there and never closes." if quoted else ""
        raise DataError(
            f"Expected rows of at most {self.max_record:,} bytes, but {self.path}, row {row:,}, is longer; the rest "
            f"was not read.{hint} Is it a table of text with one record per line?"
        )


def _inside(codes: NDArray[np.uint8], quotes: NDArray[np.int64]) -> NDArray[np.bool_] | None:
    """Which bytes are inside quotation marks: those after an odd number of them."""
    if not quotes.size:
        return None
    return (np.cumsum(codes == QUOTE, dtype=np.uint8) & 1).astype(bool)
