"""The page of an audit: numbers as in the table, everything escaped, nothing fetched."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from lnp.audit.table import AuditTable
from lnp.errors import ConfigError
from lnp.graph.graph import Graph
from lnp.report.audit_page import TOP, AuditSubject, audit_summary, render_audit, write_audit_page

EVIL = "<script>alert(1)</script>"


def make_table(rows: int = 4) -> AuditTable:
    quality = np.linspace(0.02, 0.9, rows - 1)
    return AuditTable(
        nodes=np.arange(rows)[::-1].copy(),
        given=np.array([0] * (rows - 1) + [1]),
        quality=np.r_[quality, 1.0],
        proposed=np.where(np.r_[quality, 1.0] < 0.5, 1, 0),
        confidence=np.maximum(1 - np.r_[quality, 0.0], np.r_[quality, 1.0]),
        probabilities=np.tile([0.25, 0.75], (rows, 1)),
        prototype_similarity=np.tile([-0.5, np.nan], (rows, 1)),
        neighbour_labels=np.tile([1, 3], (rows, 1)),
        trusted=np.arange(rows) == rows - 1,
        noise_rate=np.array([0.54, np.nan]),
        transition=np.array([[0.7, 0.3], [0.1, 0.9]]),
        checks=np.zeros((2, 2), np.int64),
        class_names=(EVIL, "other"),
        scorer="cross-fit",
    )


def make_subject(rows: int = 4, **options) -> AuditSubject:
    features = np.linspace(0, 1, 4 * rows).reshape(rows, 4)
    notes = {"picture_shape": (2, 2)}
    graph = Graph.from_edges([[0], [1]], features, class_names=(EVIL, "other"), name=f"my {EVIL} graph", notes=notes)
    return AuditSubject(graph, "lnp-v2", **options)


class Reader(HTMLParser):
    """Collects elements, and checks that they nest."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.text += " "
        if tag not in ("meta", "link", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self.text += " "

    def handle_data(self, data: str) -> None:
        self.text += data


def page_of(table: AuditTable, subject: AuditSubject) -> str:
    return render_audit(audit_summary(table, subject))


def test_numbers_are_those_of_the_table() -> None:
    text = " ".join(Reader(page_of(make_table(), make_subject())).text.split())
    assert "3 labels that nobody has checked" in text
    assert "54 % of them are probably wrong, about 2" in text  # qualities 0.02, 0.46, 0.9
    assert "2 of 3 expected to be wrong among the 3 most suspect" in text
    assert "About 2 of 3 are probably wrong: 2 look like “other”." in text
    assert "No label of this class is left to check." in text
    assert "right: 2 %; the proposal: 98 %" in text
    assert "right: 90 %; no other label is more likely" in text
    assert "25 %" in text
    assert "−0.50" in text
    assert "The scale rests on the 1 checked label:" in text


def test_what_checked_labels_had_been_is_said_where_it_is_known() -> None:
    told = replace(make_table(), checks=np.array([[3, 2], [0, 4]]))
    assert "what right ones look like; 2 of 9 had been wrong" in Reader(page_of(told, make_subject())).text
    assert "had been wrong" not in Reader(page_of(make_table(), make_subject())).text


def test_what_a_node_is_shown_by() -> None:
    ids, texts = ("n0", "n1", f"n2 {EVIL}", "n3"), {f"title {EVIL}": ("a", "", "long " * 200, EVIL)}
    page = page_of(make_table(), make_subject(node_ids=ids, texts=texts))
    reader = Reader(page)
    assert sum(tag == "img" for tag, _ in reader.elements) == 3
    assert f"node n2 {EVIL}" in reader.text
    assert "node n0" not in reader.text  # trusted
    assert reader.text.count(f"title {EVIL}:") == 2  # node 1 has no text
    assert "long…" in reader.text
    assert len(max(re.findall(r"(?:long ?)+", reader.text), key=len)) < 310


def test_nothing_runs_and_nothing_is_fetched() -> None:
    page = page_of(make_table(), make_subject(texts={"t": (EVIL,) * 4}))
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "http" not in page
    assert "url(" not in page
    sources = [a.get(k) for _, a in Reader(page).elements for k in ("src", "href") if k in a]
    assert sources
    assert all(source and source.startswith("data:") for source in sources)
    assert not [a for _, a in Reader(page).elements if any(key.startswith("on") for key in a)]


def test_at_most_a_hundred_are_shown() -> None:
    page = page_of(make_table(150), make_subject(150))
    assert page.count("<li>") == TOP
    assert f"The {TOP} most suspect labels" in page


def test_without_checked_labels_or_without_a_channel_it_says_so() -> None:
    table = make_table()
    none = replace(table, trusted=np.zeros(4, bool), transition=np.full((2, 2), np.nan), scorer="unknown")
    page = page_of(none, make_subject())
    assert "No label was checked, so take the scale with care" in page
    assert 'id="channel"' not in page
    assert 'id="channel"' in page_of(table, make_subject())


def test_everything_checked_is_a_page_too() -> None:
    table = replace(make_table(), trusted=np.ones(4, bool), quality=np.ones(4), noise_rate=np.full(2, np.nan))
    assert "The 0 most suspect labels" in page_of(table, make_subject())


def test_written_whole(tmp_path: Path) -> None:
    write_audit_page(tmp_path / "a" / "page.html", make_table(), make_subject())
    assert (tmp_path / "a" / "page.html").read_text(encoding="utf-8") == page_of(make_table(), make_subject())
    with pytest.raises(ConfigError, match="is a folder"):
        write_audit_page(tmp_path, make_table(), make_subject())
