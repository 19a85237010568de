"""The Markdown: cells, misses, pictures, and names that cannot break a table."""

from __future__ import annotations

import re

import pytest

from lnp.report.records import Results
from lnp.report.results import analyse
from lnp.report.results_markdown import render_markdown


@pytest.fixture
def text(runs) -> str:
    rows = [
        *runs("table-2", "cora", 0.8, "gcn", [50.0, 50.2]),
        *runs("table-2", "cora", 0.8, "lnp-v1", [61.0]),
        *runs("table-2", "cora", 0.8, "lnp-v2", [66.0, 70.0]),
        *runs("table-2", "cora", 0.8, "a|b<i>", [55.0, 56.0]),
        *runs("table-5", "arxiv-year", 0.8, "gcn", [30.0]),
        *runs("figure-ablation", "cora", 0.8, "lnp-v2", [66.0], part="v2"),
    ]
    return render_markdown(analyse(Results(tuple(rows), ("a note",))))


def test_cells(text: str) -> None:
    (row,) = [line for line in text.splitlines() if line.startswith("| cora 0.8 | 41.3")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1] == "41.3 (50.1 ± 0.1)"
    assert cells[3] == "50.5 (not run)"
    assert cells[8] == "64.8 (61.0, n = 1)"
    assert cells[9] == "**67.3** (**68.0 ± 2.8**) ≈"
    assert "| cora 0.8 | — (55.5 ± 0.7) |" in text
    assert "2 seeds unless a cell says otherwise." in text


def test_every_table_is_rectangular(text: str) -> None:
    tables = re.findall(r"(?:^\|.*\|$\n?)+", text, flags=re.MULTILINE)
    assert len(tables) > 8
    for table in tables:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1


def test_misses_notes_and_pictures(text: str) -> None:
    assert "| table-2, cora 0.8 | lnp-v1 | 64.81 ± 1.61 | 63.20 | 61.00 | 2.20 | 1 |" in text
    assert "- a note" in text
    assert "](figures/table-2-paper-scatter.png)" in text
    assert "](figures/figure-ablation-paper.png)" in text
    assert "a\\|b&lt;i&gt;" in text
    assert "a|b" not in text
    assert "arxiv-year stands in for snap-patents" in text
    assert text.endswith("\n")
    assert "\n\n\n" not in text
