"""The best of a search, judged once more by several seeds.

With one seed the best of a dozen trials is mostly the luckiest: a score on validation nodes differs by a point or more
from seed to seed, and the largest of many is above its own mean. So the best few and the default are scored again, each
by the same seeds, and the best mean wins. That is a study of its own, beside the search, resumable like it; a search
that goes further and finds others has another final.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from lnp.errors import check_range
from lnp.experiments.tuning import OnTrial, Tuner
from lnp.experiments.tuning_file import TuningFile
from lnp.experiments.tuning_trials import Trials

__all__ = ["Final", "finals", "run_finals"]


@dataclass(frozen=True, kw_only=True)
class Final:
    """How the best of a search are judged.

    Args:
        finalists: How many beside the default; 0 for no final.
        seeds: Runs whose mean score counts.
    """

    finalists: int = 0
    seeds: int = 3

    def __post_init__(self) -> None:
        check_range("finalists", self.finalists, 0, 1e6)
        check_range("final_seeds", self.seeds, 1, 1e6)


def finals(searches: Sequence[Trials], file: TuningFile, final: Final) -> list[Trials]:
    """The final of each search that has a score."""
    return [
        file.open(replace(search.spec, seeds=final.seeds, finalists=best))
        for search in searches
        if (best := _finalists(search, final.finalists)) is not None
    ]


def run_finals(studies: Sequence[Trials], tuner: Tuner, on_trial: OnTrial | None = None) -> None:
    """Has every final judge its finalists and the default, and nothing else."""
    for count, group in groupby(sorted(studies, key=_count), key=_count):
        replace(tuner, trials=count + 1).run(list(group), on_trial)


def _finalists(search: Trials, most: int) -> tuple[dict[str, object], ...] | None:
    """The best configurations, each once and none of them the default; ``None`` before the first score."""
    ranked = search.ranked()
    if not ranked:
        return None
    distinct: list[dict[str, object]] = []
    for trial in ranked:
        options = dict(trial.user_attrs["options"])
        if options not in (search.spec.default, *distinct):
            distinct.append(options)
    return tuple(distinct[:most])


def _count(study: Trials) -> int:
    return len(study.spec.finalists)
