"""Reported, reproduced and the gap between them, by hand."""

from __future__ import annotations

import math

import pytest

from lnp.experiments.tables import Published, load_table, parse_table
from lnp.report.comparison import compare, gap
from lnp.report.measured import Measured

TABLE = """
title = "t"
source = "s"
seeds = 5
[protocols]
paper = { protocol = "paper" }
[[panel]]
noise = "flip"
datasets = ["ours", "both"]
rates = [0.4]
methods = ["gcn", "lpm", "lnp-v2"]
extra = ["joint", "glc"]
[stand_ins]
ours = "theirs"
[published]
measure = "test accuracy"
methods = ["gcn", "lpm", "lnp-v2"]
[published.cells.both]
"0.4" = [[60.0, 2.0], "OOM", [70.0]]
[published.cells.theirs]
"0.4" = [[50.0, 1.0], [51.0, 1.0], [52.0, 1.0]]
"""


def test_two_standard_errors_of_both_by_hand() -> None:
    # paper: 2.0 / √5, ours: 3.0 / √3 → √(0.8 + 3.0) = 1.9494, twice that is 3.8987
    error = math.sqrt(2.0**2 / 5 + 3.0**2 / 3)
    near, far = (gap(Measured(60.0 + d, 3.0, 3), Published(60.0, 2.0)) for d in (3.89, 3.91))
    assert near is not None
    assert far is not None
    assert near.error == pytest.approx(error)
    assert (near.side, far.side) == ("within", "above")


def test_without_a_published_deviation_ours_stands_in() -> None:
    found = gap(Measured(60.0, 2.0, 4), Published(61.0))
    assert found is not None
    assert found.error == pytest.approx(math.sqrt(2.0**2 / 5 + 2.0**2 / 4))
    assert gap(Measured(60.0, None, 1), Published(61.0, 0.5)).side == "unknown"  # type: ignore[union-attr]
    assert gap(Measured(60.0, 1.0, 5), Published(None, note="OOM")) is None


def test_every_cell_is_there_and_says_what_it_is(runs) -> None:
    rows = [
        *runs("t", "both", 0.4, "gcn", [61.0, 63.0]),
        *runs("t", "both", 0.4, "joint", [62.0]),
        *runs("t", "both", 0.4, "lpm", [59.0, 59.0]),
        *runs("t", "ours", 0.4, "stranger", [10.0]),
        *runs("t", "both", 0.4, "gcn", [99.0], protocol="strict"),
        *runs("table-1", "both", 0.4, "gcn", [99.0]),
    ]
    found = compare(parse_table("t", TABLE), "paper", rows)
    assert found.places == (("ours", 0.4), ("both", 0.4), ("theirs", 0.4))
    assert (found.methods, found.extra, found.never_run) == (
        ("gcn", "lpm", "lnp-v2"),
        ("joint", "stranger"),
        ("glc",),
    )
    assert len(found.cells) == 3 * 5
    gcn = found.cells["both", 0.4, "gcn"]
    assert gcn.reproduced == Measured(62.0, pytest.approx(math.sqrt(2)), 2)
    assert gcn.gap is not None
    assert gcn.gap.value == pytest.approx(2.0)
    assert (gcn.rank, found.cells["both", 0.4, "joint"].rank) == (1.5, 1.5)  # both 62.0
    assert found.cells["both", 0.4, "lpm"].rank == 3
    assert found.cells["both", 0.4, "lpm"].gap is None  # the paper ran out of memory
    assert found.cells["both", 0.4, "lnp-v2"].reproduced is None
    assert [found.cells["theirs", 0.4, m].published_rank for m in found.methods] == [3, 2, 1]
    assert found.cells["ours", 0.4, "stranger"].published is None  # a stand-in is not compared


def test_the_real_tables_have_their_cells() -> None:
    for name in ("table-1", "table-2"):
        found = compare(load_table(name), "paper", [])
        assert sum(cell.published is not None for cell in found.all_cells()) == 6 * 4 * 9
        assert all(cell.reproduced is None and cell.gap is None for cell in found.all_cells())
