"""The page: numbers as in the data, figures in their place, nothing fetched, nothing unescaped."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from lnp.errors import ConfigError
from lnp.experiments.demo_data import Curve, DemoData, MethodOutcome, Suspect
from lnp.experiments.prediction import Predictions
from lnp.report.page import page_summary, render_page, write_report

NAMES = ("zero", "<script>alert(1)</script>")


@pytest.fixture
def data() -> DemoData:
    def outcome(name: str, accuracies: list[float], terms: list[str]) -> MethodOutcome:
        curves = [Curve("train", term, 0, [3.0, 2.0 + number]) for number, term in enumerate(terms)]
        return MethodOutcome(
            name=name, accuracies=accuracies, found=[0.9, 0.7], seconds=[1, 2], epochs=[2, 2], curves=curves
        )

    picture = [[0.0, 1.0], [1.0, 0.0]]
    return DemoData(
        noise="flip",
        rate=0.6,
        seeds=2,
        nodes=4,
        train_nodes=3,
        trusted_nodes=2,
        test_nodes=1,
        base_rate=0.617,
        methods=[
            outcome("gcn", [0.5, 0.6], ["noisy_ce"]),
            outcome("lnp-v1", [0.71, 0.73], ["kl", "brand_new_term"]),
            outcome("lnp-channel", [0.8, 0.9], ["marginal_0", "trusted_ce", "contrastive"]),
        ],
        predictions=Predictions(None, NAMES, np.array([0, 1, 0, -1]), np.array([[0.1, 0.9]] * 4)),
        confusion=[[0, 2], [0, 1]],
        suspects=[Suspect(0, 0, 1, 0.1, 0.9, 1, picture), Suspect(2, 0, 1, 0.1, 0.87, 0, picture)],
        given_right=0.372,
        proposed_right=0.893,
    )


class Reader(HTMLParser):
    """Collects elements, classes and sources, and checks that elements nest."""

    VOID = ("meta", "link", "img")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_numbers_on_the_page_are_those_of_the_data(data: DemoData) -> None:
    page = render_page(page_summary(data))
    for text in ("55.0 ± 7.1", "72.0 ± 1.4", "85.0 ± 7.1", "80.0 ± 14.1", "61.7", "37.2 %", "89.3 %"):
        assert text in page
    marks = re.findall(r"[✓✗] truth: (\S+?)</span>", page)
    assert marks[1] == "zero"
    assert (page.count("✓ truth"), page.count("✗ truth")) == (1, 1)
    assert "87 % sure" in page
    assert "2 given labels are wrong" not in page  # the second suspect is right in truth
    assert "1 given labels are wrong and 1 proposals are right" in page


def test_terms_of_a_method_have_colours_of_their_own_and_shared_terms_the_same(data: DemoData) -> None:
    panels = page_summary(data)["curves"]
    legends = [{term: colour for colour, term, *_ in panel["legend"]} for panel in panels]
    for legend in legends:
        assert len(set(legend.values())) == len(legend)
        assert set(legend.values()) <= set(range(1, 8))
    assert legends[1]["kl"] == 4  # its place among the known terms
    assert legends[2]["contrastive"] == 7
    assert legends[2]["marginal_0"] not in (2, 7)


def test_each_figure_is_there(data: DemoData) -> None:
    elements = Reader(render_page(page_summary(data))).elements
    ids = {attributes.get("id") for _, attributes in elements}
    assert ids >= {"accuracy", "suspects", "confusion", "losses"}
    assert sum(tag == "svg" for tag, _ in elements) == 1 + 1 + 3
    assert sum(tag == "img" for tag, _ in elements) == 2
    assert sum(tag == "polyline" for tag, _ in elements) == 6


def test_nothing_is_fetched_and_nothing_runs(data: DemoData) -> None:
    page = render_page(page_summary(data))
    assert "http" not in page
    assert "@import" not in page
    assert "url(" not in page
    elements = Reader(page).elements
    assert all(tag not in ("script", "iframe", "object") for tag, _ in elements)
    sources = [attributes.get(key) for _, attributes in elements for key in ("src", "href") if key in attributes]
    assert sources
    assert all(source and source.startswith("data:") for source in sources)


def test_a_class_named_like_a_script_is_text(data: DemoData) -> None:
    page = render_page(page_summary(data))
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_one_seed_has_no_spread(data: DemoData) -> None:
    single = [replace(o, accuracies=o.accuracies[:1], found=o.found[:1], seconds=[1]) for o in data.methods]
    page = render_page(page_summary(replace(data, seeds=1, methods=single)))
    assert "±" not in page.replace("Mean ± standard deviation", "")
    assert "80.0 %" in page


def test_three_files(data: DemoData, tmp_path: Path) -> None:
    paths = write_report(tmp_path / "new", data)
    assert [path.name for path in paths] == ["report.html", "predictions.csv", "suspects.csv"]
    assert paths[0].read_text(encoding="utf-8") == render_page(page_summary(data))
    assert len(list(csv.reader(paths[1].read_text().splitlines()))) == 5
    assert [row["node"] for row in csv.DictReader(paths[2].read_text().splitlines())] == ["0", "2"]
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="it is a file"):
        write_report(tmp_path / "file", data)
