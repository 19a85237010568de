"""Detection: seeds are averaged within a dataset, datasets within a rate."""

from __future__ import annotations

import pytest

from lnp.experiments.tables import load_table
from lnp.report.comparison import compare
from lnp.report.detection import detection_rows


def test_means_of_means_and_the_order(runs) -> None:
    rows = [
        *runs("table-2", "cora", 0.2, "gcn", [80.0] * 3, detection_ap=0.2, detection_auroc=0.6),
        *runs("table-2", "actor", 0.2, "gcn", [30.0], detection_ap=0.4, detection_auroc=0.8),
        *runs("table-2", "cora", 0.8, "gcn", [40.0], detection_ap=0.9, detection_auroc=0.9),
        *runs("table-2", "cora", 0.2, "gce", [80.0], detection_ap=0.7, detection_auroc=0.9),
        *runs("table-2", "cora", 0.2, "lnp-v2", [80.0], detection_ap=0.8, detection_auroc=0.9),
        *runs("table-2", "cora", 0.2, "clean-only", [50.0], detection_ap=None, detection_auroc=None),
        *runs("table-2", "cora", 0.2, "gcn", [80.0], protocol="strict", detection_ap=1.0),
    ]
    first, second, third = detection_rows(compare(load_table("table-2"), "paper", rows), rows)
    assert (first.method, second.method, third.method) == ("gcn", "lnp-v2", "gce")  # gcn was run in three cells
    score = first.by_rate[0.2]
    assert (score.ap, score.auroc, score.datasets) == (pytest.approx(30.0), pytest.approx(70.0), 2)
    assert first.mean_ap == pytest.approx((30.0 + 90.0) / 2)
    assert list(second.by_rate) == [0.2]
