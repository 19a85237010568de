"""The page: numbers and marks as in the records, nothing fetched, nothing unescaped, nothing blank."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from lnp.report.records import ResultRow, Results
from lnp.report.results import analyse
from lnp.report.results_page import render_results, results_page

EVIL = "<script>alert(1)</script>"


class Reader(HTMLParser):
    """Collects elements and checks that they nest and that no id is there twice."""

    VOID = ("meta", "link")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        assert self.open == []
        ids = [attributes["id"] for _, attributes in self.elements if "id" in attributes]
        assert len(ids) == len(set(ids))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture
def rows(runs) -> list[ResultRow]:
    """A bit of everything; Table 2, Cora 0.8: gcn 41.33 ± 1.12, lnp-v1 64.81 ± 1.61, lnp-v2 67.31 ± 3.11."""
    found = [
        *runs("table-2", "cora", 0.8, "gcn", [50.0, 50.2]),
        *runs("table-2", "cora", 0.8, "lnp-v1", [61.0]),
        *runs("table-2", "cora", 0.8, "lnp-v2", [66.0, 68.0, 70.0]),
        *runs("table-2", "cora", 0.8, EVIL, [55.0, 56.0]),
        *runs("table-2", "cora", 0.8, "gcn", [45.0], protocol="strict"),
        *runs("table-5", "arxiv-year", 0.8, "gcn", [30.0]),
        *runs("table-8", "arxiv-year", 0.8, "gcn", [30.0]),
        *runs("figure-ablation", "cora", 0.8, "lnp-v2", [66.0, 68.0], part="v2"),
        *runs("figure-ablation", "cora", 0.8, "lnp-v2", [60.0, 62.0], part="nl"),
        *runs("figure-clean-size", "citeseer", 0.8, "lnp-v2", [66.0], part="a/trusted=20"),
        *runs("real-noise", "cora", 0.0, "gcn", [66.0], part="cora"),
    ]
    for value in (0.01, 1.0, 100.0):
        found += runs("figure-sensitivity", "cora", 0.8, "lnp-v2", [60.0], part=f"lambda_1={value:g}")
    for rate in (0.2, 0.4):
        for method in ("gcn", "gce", "lnp-v2"):
            found += runs("table-1", "cora", rate, method, [70.0, 71.0])
    return found


def cells(page: str, table: str) -> dict[tuple[str, str], str]:
    """(row, method) → text of the cell, lines parted by bars."""
    body = page.split(f'id="{table}"')[1].split("</table>")[0]
    heads = re.findall(r'<th scope="col"(?: class="[^"]*")?>(.*?)</th>', body.split("<tbody>")[0].split("<tr>")[2])
    found = {}
    for row in body.split("<tbody>")[1].split("</tr>")[:-1]:
        name = re.search(r'<th scope="row" class="stick">(.*?)</th>', row).group(1)  # type: ignore[union-attr]
        texts = [re.sub(r"(<[^>]*>)+", "|", text).strip("|") for text in re.findall(r"<td[^>]*>(.*?)</td>", row)]
        found |= {(name, head): text for head, text in zip(heads, texts, strict=True)}
    return found


def test_cells_are_reported_reproduced_gap_rank_and_seeds(rows) -> None:
    found = cells(render_results(analyse(Results(tuple(rows)))), "table-2-paper")
    assert found["cora 0.8", "gcn"] == "41.3 ± 1.1|50.1 ± 0.1|+8.8|rank 4, 2 seeds"
    assert found["cora 0.8", "lnp-v2"] == "67.3 ± 3.1|68.0 ± 2.0|+0.7 ≈|rank 1, 3 seeds"
    assert found["cora 0.8", "lnp-v1"] == "64.8 ± 1.6|61.0|−3.8|rank 2, 1 seed"  # one seed: no spread, no mark
    assert found["cora 0.8", "gce"] == "50.5 ± 3.5|not run"
    assert found["cora 0.8", "&lt;script&gt;alert(1)&lt;/script&gt;"] == "—|55.5 ± 0.7|rank 3, 2 seeds"
    assert len(found) == 24 * 10
    assert all(text for text in found.values())  # nothing is left blank


def test_the_best_of_a_row_is_bold_and_gaps_are_coloured(rows) -> None:
    summary = results_page(analyse(Results(tuple(rows))))
    table = next(one for one in summary["tables"] if one["id"] == "table-2-paper")
    row = next(row for row in table["rows"] if (row["dataset"], row["rate"]) == ("cora", "0.8"))
    by_method = dict(zip([*table["methods"], *table["extra"]], row["cells"], strict=True))
    assert [name for name, cell in by_method.items() if cell["best"]] == ["lnp-v2"]
    assert [name for name, cell in by_method.items() if cell["reported_best"]] == ["lnp-v2"]
    assert [by_method[name]["colour"] for name in ("gcn", "lnp-v1", "lnp-v2", "gce")] == ["up-3", "down-2", "even", ""]


def test_a_stand_in_is_not_compared(rows) -> None:
    found = cells(render_results(analyse(Results(tuple(rows)))), "table-5-paper")
    name = next(name for name, _ in found if name.startswith("arxiv-year 0.8"))
    assert "in place of snap-patents; not in the paper" in name
    assert found[name, "gcn"] == "—|30.0|rank 1, 1 seed"
    assert found["snap-patents 0.8", "nrgnn"] == "OOM|not run"


def test_captions_of_large_graphs_state_the_substitution(rows) -> None:
    page = render_results(analyse(Results(tuple(rows))))
    for name, graph in (("table-5", "arxiv-year"), ("table-8", "synthetic-patents")):
        (caption,) = re.findall(rf"<h3[^>]*>([^<]*{graph} for snap-patents[^<]*)<", page)
        assert caption.endswith(f"{name}, protocol paper") or name == "table-5"
        assert "ogbn-arxiv-structural for ogbn-arxiv" in caption


def test_everything_is_on_the_page(rows) -> None:
    page = render_results(analyse(Results(tuple(rows), ("a note & more",))))
    elements = Reader(page).elements
    ids = {attributes.get("id") for _, attributes in elements}
    assert ids >= {"summary", "reading", "reach", "observations", "detection", "cost", "protocols", "records"}
    assert ids >= {"table-1-paper", "table-2-strict", "real-noise-paper", "figure-sensitivity-paper"}
    assert ids >= {"table-2-paper-scatter-drawn", "table-1-paper-ranks-drawn", "figure-clean-size-a-paper-drawn"}
    links = {attributes["href"] for tag, attributes in elements if tag == "a"}
    assert {f"#{name}" for name in ids if name} >= links  # every link of the contents leads somewhere
    assert "a note &amp; more" in page
    assert "64.81 ± 1.61</td><td>63.20</td><td>61.00</td>" in page  # a miss is listed
    scrolling = [attributes for _, attributes in elements if "box" in (attributes.get("class") or "").split()]
    assert scrolling
    assert all(attributes.get("tabindex") == "0" and attributes.get("aria-label") for attributes in scrolling)


def test_keys_and_notes_fit_what_is_drawn(rows) -> None:
    page = results_page(analyse(Results(tuple(rows))))
    drawn = {figure["name"]: figure for table in page["tables"] for figure in table["figures"]}
    drawn |= {figure["name"]: figure for section in page["figures"] for figure in section["figures"]}
    scatter = drawn["table-2-paper-scatter"]
    assert [line for _, line, _ in scatter["legend"]] == [None, None]  # points, not lines
    assert "paper" not in drawn["real-noise-paper"]["note"]  # it has no such figure
    assert "does not print" in drawn["figure-sensitivity-paper"]["note"]


def test_nothing_is_fetched_nothing_runs_nothing_is_unescaped(rows) -> None:
    page = render_results(analyse(Results(tuple(rows))))
    assert "<script" not in page
    assert "http" not in page
    assert "@import" not in page
    assert "url(" not in page
    elements = Reader(page).elements
    assert all(tag not in ("script", "iframe", "object", "img") for tag, _ in elements)
    outside = [attributes["href"] or "" for _, attributes in elements if "href" in attributes]
    assert all(link.startswith(("data:", "#")) for link in outside)


def test_same_records_same_page(rows) -> None:
    first = render_results(analyse(Results(tuple(rows))))
    assert render_results(analyse(Results(tuple(rows)))) == first
