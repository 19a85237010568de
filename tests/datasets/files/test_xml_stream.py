"""XML that nobody vouches for: no bombs, no endless text, and errors with their place."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

import lnp.datasets.files.xml_stream as module
from lnp.datasets.files.xml_stream import ElementReader, parse_xml
from lnp.errors import DataError


class Collector(ElementReader):
    """Everything that comes, as it comes."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.wants_text = name == "data"
        self.seen.append((name, attributes["id"] if name == "node" else ""))

    def end(self, name: str, text: str) -> None:
        self.seen.append((f"/{name}", text))


def parse(folder: Path, content: str | bytes) -> list[tuple[str, str]]:
    path = folder / "g.xml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    reader = Collector()
    parse_xml(path, reader)
    return reader.seen


def test_names_lose_their_namespace_and_text_comes_whole(tmp_path: Path) -> None:
    seen = parse(tmp_path, '<g xmlns="u" xmlns:y="v">no<node y:id="7"/><data>a&amp;b<![CDATA[<c>]]> d</data></g>')
    expected = [("g", ""), ("node", "7"), ("/node", ""), ("data", ""), ("/data", "a&b<c> d"), ("/g", "")]
    assert seen == expected


def test_text_around_an_inner_element_is_nobody_s(tmp_path: Path) -> None:
    seen = parse(tmp_path, "<g><data>x<node id='1'/>y</data></g>")
    assert ("/data", "") in seen


BOMB = "<!DOCTYPE g [" + "<!ENTITY a0 'ha'>" + "".join(f"<!ENTITY a{i} '{f'&a{i - 1};' * 10}'>" for i in range(1, 12))


@pytest.mark.parametrize(
    "content",
    [
        BOMB + "]><g><data>&a11;</data></g>",
        "<!DOCTYPE g [<!ENTITY x SYSTEM 'file:///etc/hostname'>]><g><data>&x;</data></g>",
        "<!DOCTYPE g [<!ENTITY % x SYSTEM 'http://127.0.0.1:9/x'> %x;]><g/>",
    ],
)
def test_declared_entities_are_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(DataError, match=r"g.xml, line 1, column \d+, but '\w+' is. Such files can be made to explode"):
        parse(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("<g>", r"g.xml to be well-formed XML, but line 1, column 4 is not: no element found"),
        ("<g>\n<a></b></g>", r"line 2, column 6 is not: mismatched tag"),
        ("<g>&nope;</g>", r"undefined entity"),
        (b"<g>\xff</g>", r"line 1, column 4 is not: not well-formed"),
        (b"<?xml version='1.0' encoding='nonsense'?><g/>", r"unknown encoding"),
        ("<g><node/></g>", r"Expected <node> in .*g.xml, line 1, column 4, to have `id`, but it has not"),
        ("id,label\n1,2\n", r"well-formed XML, but line 1, column 1 is not"),
    ],
)
def test_damage_is_named(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse(tmp_path, content)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no such file"):
        parse_xml(tmp_path / "absent.graphml", Collector())


@pytest.mark.parametrize("start", ["<g><data>", "<g><node id='", "<g><!--", "<g "])
def test_endless_text_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str) -> None:
    monkeypatch.setattr(module, "MAX_RECORD", 2**21)
    path = tmp_path / "g.xml"
    with path.open("wb") as file:
        file.write(start.encode())
        for _ in range(64):
            file.write(b"x" * 2**20)
    tracemalloc.start()
    with pytest.raises(DataError, match=r"no text longer than 2,097,152 bytes, .* the rest was not read"):
        parse_xml(path, Collector())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * 2**20
