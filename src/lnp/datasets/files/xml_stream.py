"""XML, element by element, from files that nobody vouches for.

Nothing is kept but what the caller collects, no entity that a file declares is accepted (so none can be expanded into
gigabytes, or name another file), and no single piece of text may exceed :data:`MAX_RECORD` bytes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from xml.parsers import expat

from lnp.datasets.files.gzipped import unpacked
from lnp.datasets.files.table import shown
from lnp.datasets.files.text_check import MAX_RECORD
from lnp.errors import DataError

__all__ = ["ElementReader", "parse_xml"]

BLOCK = 2**20


class ElementReader(ABC):
    """Receives elements. Names come without their namespace, text comes whole and only where it is asked for."""

    wants_text = False
    """Set by :meth:`start` for an element whose text matters; its :meth:`end` receives it."""

    @abstractmethod
    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins. A ``KeyError`` says that an attribute is missing."""

    @abstractmethod
    def end(self, name: str, text: str) -> None:
        """An element ends; ``text`` is empty unless it was wanted."""


def parse_xml(path: Path, reader: ElementReader) -> None:
    """Feeds a file to the reader; whatever is wrong with it is said with line and column."""
    if not path.is_file():
        raise DataError(f"Expected a graph at {path}, but there is no such file.")
    if path.stat().st_size == 0:
        raise DataError(f"Expected a graph in {path}, but the file is empty.")
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    pieces: list[str] = []
    length = 0

    def place() -> str:
        return f"{path}, line {parser.CurrentLineNumber:,}, column {parser.CurrentColumnNumber + 1}"

    def on_start(name: str, attributes: dict[str, str]) -> None:
        nonlocal length
        pieces.clear()
        length, reader.wants_text = 0, False
        local = _local(name)
        try:
            reader.start(local, {_local(key): value for key, value in attributes.items()})
        except KeyError as error:
            raise DataError(
                f"Expected <{local}> in {place()}, to have `{error.args[0]}`, but it has not. Add it."
            ) from error

    def on_text(text: str) -> None:
        nonlocal length
        if reader.wants_text:
            pieces.append(text)
            length += len(text)
            if length > MAX_RECORD:
                raise _too_long(place())

    def on_end(name: str) -> None:
        reader.end(_local(name), "".join(pieces) if reader.wants_text else "")
        reader.wants_text = False

    def on_entity(name: str, *rest: object) -> None:
        raise DataError(
            f"Expected no entity to be declared in {place()}, but {shown(name)} is. Such files can be made to explode; "
            "write the text itself."
        )

    parser.StartElementHandler, parser.EndElementHandler = on_start, on_end
    parser.CharacterDataHandler, parser.EntityDeclHandler = on_text, on_entity
    fed = 0
    try:
        with unpacked(path) as file:
            while block := file.read(BLOCK):
                parser.Parse(block, False)
                fed += len(block)
                if fed - max(parser.CurrentByteIndex, 0) > MAX_RECORD:  # one tag or attribute that does not end
                    raise _too_long(place())
            parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise DataError(
            f"Expected {path} to be well-formed XML, but line {error.lineno:,}, column {error.offset + 1} is not: "
            f"{expat.ErrorString(error.code)}. Write the file again."
        ) from error
    except (UnicodeError, LookupError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"Expected UTF-8 text in {place()}, but got: {error}. Save the file as UTF-8.") from error


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def _too_long(place: str) -> DataError:
    return DataError(
        f"Expected no text longer than {MAX_RECORD:,} bytes, but {place}, has one; the rest was not read. Is it a "
        "graph?"
    )
