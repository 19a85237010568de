"""What to try early in a study: what won elsewhere.

A dozen trials are few for ten options. Configurations that won for the same method at another rate, under the other
noise or on another graph are better guesses than draws, and every method may have as many of them. They were chosen by
the same selection rule, so nothing is seen that the rule does not see.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lnp.experiments.configs import Entry
from lnp.experiments.search_space import Space
from lnp.experiments.tuning_study import StudySpec

__all__ = ["MOST", "starting_points"]

MOST = 4
"""At most so many trials of a study start from what won elsewhere."""


def starting_points(entries: Iterable[Entry], study: StudySpec, most: int = MOST) -> list[dict[str, object]]:
    """Whole configurations to try, the nearest cell's first, each once and none of them the default.

    Near is the same graph before another, the same noise before another, then the rate; and with another backbone last.

    Args:
        entries: What ``lnp tune`` found; those for other methods or found by another rule are not used.
        study: What is to be tuned.
        most: How many.
    """
    spec = study.spec

    def distance(entry: Entry) -> tuple[bool, bool, bool, float]:
        return (
            entry.get("backbone") != study.backbone,
            entry["dataset"] != spec.dataset,
            entry["noise"] != spec.noise,
            round(abs(entry["rate"] - spec.rate), 9),
        )

    usable = [entry for entry in entries if (entry["method"], entry.get("selection")) == (spec.method, study.selection)]
    found: list[dict[str, object]] = []
    for entry in sorted(usable, key=distance):
        whole = {**study.default, **_known(entry["options"], study.space)}
        if whole not in (study.default, *found):
            found.append(whole)
    return found[:most]


def _known(options: Mapping[str, object], space: Space) -> dict[str, object]:
    """Only what the space has: another version of it may have had more."""
    return {option: value for option, value in options.items() if value in space.get(option, ())}
