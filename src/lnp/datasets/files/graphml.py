"""GraphML: nodes, edges and their ``<data>`` as two tables.

Node ids come from ``id``; an attribute is called by its ``attr.name``. Defaults are filled in, types that are numbers
must hold numbers; of an edge without ``weight`` among others that have one it is 1. Hyperedges and ports play no part.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lnp.datasets.files.attribute_table import AttributeTable
from lnp.datasets.files.table import Table
from lnp.datasets.files.xml_stream import ElementReader, parse_xml
from lnp.errors import DataError

__all__ = ["read_graphml"]

NUMBERS = frozenset(("int", "integer", "long", "float", "double"))


@dataclass
class _Key:
    name: str
    owner: str
    is_number: bool
    default: str | None = None


def read_graphml(path: Path) -> tuple[Table, Table]:
    """The node table and the edge table of a GraphML file."""
    reader = _GraphMLReader()
    parse_xml(path, reader)
    if not reader.nodes.rows or not reader.edges.rows:
        missing = "edge" if reader.nodes.rows else "node"
        raise DataError(f"Expected <node> and <edge> in {path}, but there is no {missing}. Is it GraphML?")
    for key in reader.keys.values():
        if key.default is not None:
            if key.owner in ("node", "all"):
                reader.nodes.fill(key.name, key.default)
            if key.owner in ("edge", "all"):
                reader.edges.fill(key.name, key.default)
    reader.edges.complete("weight", "1")
    return reader.nodes.table(str(path), "node"), reader.edges.table(str(path), "edge")


class _GraphMLReader(ElementReader):
    def __init__(self) -> None:
        self.keys: dict[str, _Key] = {}
        self.nodes, self.edges = AttributeTable("id"), AttributeTable("source", "target")
        self.owner: AttributeTable | None = None  # whose <data> comes next
        self.key: _Key | None = None

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "node":
            self.nodes.add(attributes["id"])
            self.owner = self.nodes
        elif name == "edge":
            self.edges.add(attributes["source"], attributes["target"])
            self.owner = self.edges
        elif name == "key":
            is_number = attributes.get("attr.type", "string").lower() in NUMBERS
            title = attributes.get("attr.name", attributes["id"])
            self.key = _Key(title, attributes.get("for", "all"), is_number)
            self.keys[attributes["id"]] = self.key
        elif name == "default":
            self.wants_text = True
        elif name == "data":
            self.key = self.keys.get(attributes["key"]) or _Key(attributes["key"], "all", False)
            self.wants_text = self.owner is not None

    def end(self, name: str, text: str) -> None:
        if name == "default" and self.key is not None:
            self.key.default = text
        elif name == "data" and self.owner is not None and self.key is not None and text:
            self.owner.put(self.key.name, text, number=self.key.is_number)
        elif name in ("node", "edge"):
            self.owner = None
