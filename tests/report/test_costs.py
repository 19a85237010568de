"""Time and memory: medians, ratios, and Table 8."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lnp.report.costs import costs, timing_observations, timings
from lnp.report.observations import PARTLY


def test_medians_and_ratios(runs) -> None:
    rows = [
        *runs("table-2", "cora", 0.8, "gcn", [40.0, 41.0], seconds=2.0),
        *runs("table-2", "cora", 0.4, "gcn", [60.0], seconds=5.0),
        *runs("table-2", "cora", 0.8, "lnp-v2", [70.0], seconds=6.0, peak_mib=512.0),
        *runs("figure-ablation", "cora", 0.8, "lnp-v2", [70.0], part="v2", seconds=6.0),  # the same run
        *runs("table-2", "cora", 0.8, "label-propagation", [50.0], seconds=1.0, epochs=0),
        *runs("table-7", "actor", 0.8, "gce", [30.0], seconds=9.0, backbone="h2gcn"),
    ]
    found = costs(rows)
    assert list(found) == ["gce (h2gcn)", "gcn", "label-propagation", "lnp-v2"]
    assert found["gcn"]["cora"].seconds == 2.0
    assert found["gcn"]["cora"].epoch == pytest.approx(0.02)
    assert (found["lnp-v2"]["cora"].ratio, found["lnp-v2"]["cora"].runs) == (3.0, 1)
    assert found["label-propagation"]["cora"].epoch is None
    assert found["gce (h2gcn)"]["actor"].ratio is None  # gcn was not run there
    assert found["gcn"]["cora"].mib is None
    (row,) = runs("table-2", "cora", 0.8, "lnp-v2", [70.0], seconds=6.0)
    assert costs([replace(row, peak_mib=512.0)])["lnp-v2"]["cora"].mib == 512.0


def test_table_8_compares_ratios(runs) -> None:
    rows = [
        *runs("table-8", "arxiv-year", 0.8, "gcn", [40.0] * 2, seconds=10.0),
        *runs("table-8", "arxiv-year", 0.8, "lnp-v1", [40.0], seconds=40.0),
        *runs("table-8", "arxiv-year", 0.8, "lpm", [40.0], seconds=60.0),
        *runs("table-8", "arxiv-year", 0.8, "nrgnn", [40.0], seconds=20.0),
    ]
    found = {one.method: one for one in timings(rows, "paper")}
    assert found["lnp-v1"].stands_for == "snap-patents"
    assert found["lnp-v1"].ratio == 4.0
    assert found["lnp-v1"].published_ratio == pytest.approx(614.85 / 124.95)
    assert found["nrgnn"].published is not None
    assert (found["nrgnn"].published.note, found["nrgnn"].published_ratio) == ("OOM", None)
    assert found["lnp-v2"].seconds is None
    (said,) = timing_observations(found.values(), "paper")
    assert said.verdict == PARTLY  # faster than lpm, slower than nrgnn
    assert "0.5 to 1.5" in said.sentence
    assert timings(rows, "strict") == []
