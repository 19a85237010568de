"""GEXF: nodes, edges and their ``<attvalue>`` as two tables.

An attribute is called by its ``title``. What a node is called (its XML attribute ``label``) is a name for people in
some programs and a class in others: it is the column "label" where values repeat (half as many as nodes, or fewer) and
no attribute has that title, else the column "name". Times and colours play no part.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lnp.datasets.files.attribute_table import AttributeTable
from lnp.datasets.files.table import Table
from lnp.datasets.files.xml_stream import ElementReader, parse_xml
from lnp.errors import DataError

__all__ = ["read_gexf"]

NUMBERS = frozenset(("integer", "long", "float", "double", "short", "byte", "bigdecimal", "biginteger"))
CALLED = "\0called"
"""Where the names of nodes are kept until it is known what they are."""


@dataclass
class _Attribute:
    title: str
    is_number: bool
    default: str | None = None


def read_gexf(path: Path) -> tuple[Table, Table]:
    """The node table and the edge table of a GEXF file."""
    reader = _GexfReader()
    parse_xml(path, reader)
    nodes, edges = reader.tables["node"], reader.tables["edge"]
    if not nodes.rows or not edges.rows:
        missing = "edge" if nodes.rows else "node"
        raise DataError(f"Expected <node> and <edge> in {path}, but there is no {missing}. Is it GEXF?")
    for owner, attributes in reader.attributes.items():
        for attribute in attributes.values():
            if attribute.default is not None:
                reader.tables[owner].fill(attribute.title, attribute.default)
    edges.complete("weight", "1")  # what the format says of an edge without a weight
    called = [str(value) for value in nodes.columns.get(CALLED, []) if value is not None]
    if called == nodes.columns["id"]:
        del nodes.columns[CALLED]  # nothing that the ids do not say
    elif called:
        is_class = "label" not in nodes.columns and 2 * len(set(called)) <= len(called)
        nodes.rename(CALLED, "label" if is_class else ("name" if "name" not in nodes.columns else "called"))
    return nodes.table(str(path), "node"), edges.table(str(path), "edge")


class _GexfReader(ElementReader):
    def __init__(self) -> None:
        self.tables = {"node": AttributeTable("id"), "edge": AttributeTable("source", "target")}
        self.attributes: dict[str, dict[str, _Attribute]] = {"node": {}, "edge": {}}
        self.declaring, self.inside = "node", ""
        self.attribute: _Attribute | None = None

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "node":
            self.tables["node"].add(attributes["id"])
            self.inside = "node"
            if "label" in attributes:
                self.tables["node"].put(CALLED, attributes["label"])
        elif name == "edge":
            self.tables["edge"].add(attributes["source"], attributes["target"])
            self.inside = "edge"
            if "weight" in attributes:
                self.tables["edge"].put("weight", attributes["weight"], number=True)
        elif name == "attributes":
            self.declaring = "edge" if attributes.get("class") == "edge" else "node"
        elif name == "attribute":
            is_number = attributes.get("type", "string").lower() in NUMBERS
            self.attribute = _Attribute(attributes.get("title") or attributes["id"], is_number)
            self.attributes[self.declaring][attributes["id"]] = self.attribute
        elif name == "default":
            self.wants_text = True
        elif name == "attvalue" and self.inside:
            key = attributes.get("for") or attributes["id"]
            known = self.attributes[self.inside].get(key) or _Attribute(key, False)
            self.tables[self.inside].put(known.title, attributes["value"], number=known.is_number)

    def end(self, name: str, text: str) -> None:
        if name == "default" and self.attribute is not None:
            self.attribute.default = text
        elif name == "attribute":
            self.attribute = None
        elif name == self.inside:
            self.inside = ""
