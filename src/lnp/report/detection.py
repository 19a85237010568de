"""How well each method finds the wrong labels: average precision and area under the ROC curve."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lnp.report.comparison import Comparison
from lnp.report.records import ResultRow

__all__ = ["DetectionRow", "Score", "detection_rows"]


@dataclass(frozen=True)
class Score:
    """Means over datasets, in per cent, and over how many."""

    ap: float
    auroc: float
    datasets: int


@dataclass(frozen=True)
class DetectionRow:
    """A method: rate → scores; a rate that was not run is not there."""

    method: str
    by_rate: dict[float, Score]

    @property
    def cells(self) -> int:
        """Over how many datasets and rates."""
        return sum(score.datasets for score in self.by_rate.values())

    @property
    def mean_ap(self) -> float:
        """Over the rates."""
        return statistics.fmean(score.ap for score in self.by_rate.values())

    @property
    def mean_auroc(self) -> float:
        """Over the rates."""
        return statistics.fmean(score.auroc for score in self.by_rate.values())


def detection_rows(comparison: Comparison, rows: Iterable[ResultRow]) -> list[DetectionRow]:
    """Every method of a table that suspects labels: seeds are averaged first, then datasets.

    Methods of most cells first, and of these the best mean AP: wrong labels are easier to find on some graphs than on
    others, so a mean over the easy ones alone beats nobody.
    """
    runs: dict[tuple[str, float], dict[str, list[tuple[float, float]]]] = {}
    for row in rows:
        if (row.table, row.protocol) == (comparison.table.name, comparison.protocol):
            if row.detection_ap is None or row.detection_auroc is None:
                continue
            scores = runs.setdefault((row.method, row.rate), {}).setdefault(row.dataset, [])
            scores.append((row.detection_ap, row.detection_auroc))
    found = []
    for method in comparison.columns:
        by_rate = {rate: _score(list(sets.values())) for (name, rate), sets in sorted(runs.items()) if name == method}
        if by_rate:
            found.append(DetectionRow(method, by_rate))
    return sorted(found, key=lambda row: (-row.cells, -row.mean_ap))


def _score(datasets: Sequence[Sequence[tuple[float, float]]]) -> Score:
    ap, auroc = (
        100 * statistics.fmean(statistics.fmean(run[kind] for run in runs) for runs in datasets) for kind in (0, 1)
    )
    return Score(ap, auroc, len(datasets))
