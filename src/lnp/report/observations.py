"""Whether an observation of the paper holds: cases that speak for or against it, counted, and a sentence with numbers.

A case is a difference of two means that is positive where the paper is right. What the paper says of all cases
("needs" is "all") holds if every difference is positive; what it says of most ("most") if three quarters are. With at
least half of them it holds in part.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lnp.report.measured import Difference

__all__ = ["FAILS", "HOLDS", "PARTLY", "UNKNOWN", "Case", "Observation", "judge", "signed"]

HOLDS, PARTLY, FAILS, UNKNOWN = "holds", "holds in part", "does not hold", "not run"
SHARES = {"all": 1.0, "most": 0.75}
PART = 0.5
NAMED = 4
"""How many exceptions a sentence names."""


@dataclass(frozen=True)
class Case:
    """A difference that is positive where the paper is right."""

    label: str
    difference: Difference

    @property
    def favours(self) -> bool:
        """Whether it speaks for the paper."""
        return self.difference.value > 0


@dataclass(frozen=True)
class Observation:
    """An observation of the paper and what our runs say of it.

    Args:
        group: What it is about: "table-1 and table-2", "figure-sensitivity", ….
        protocol: Under which the runs were made.
        claim: What the paper observes, in our words.
        verdict: One of four.
        sentence: Why, with the numbers.
        cases: What was counted.
    """

    group: str
    protocol: str
    claim: str
    verdict: str
    sentence: str
    cases: tuple[Case, ...] = ()


def judge(
    group: str,
    protocol: str,
    claim: str,
    cases: Iterable[Case],
    *,
    needs: str = "all",
    what: str = "it is so",
    expected: int = 0,
    published: Sequence[Case] = (),
    detail: str = "",
    single_runs: bool | None = None,
) -> Observation:
    """Counts the cases and writes the sentence.

    Args:
        group: What it is about.
        protocol: Under which the runs were made.
        claim: What the paper observes.
        cases: Differences, positive where the paper is right.
        needs: "all" or "most".
        what: What is so in a case that speaks for the paper: "LNP-v2 is ahead".
        expected: How many cases there should be.
        published: The same cases by the paper's own figures.
        detail: Numbers to add.
        single_runs: Whether all cases are of single runs; ``None``: if none has a standard error.
    """
    cases = tuple(cases)
    if not cases:
        return Observation(group, protocol, claim, UNKNOWN, "There are no runs to judge it by yet.")
    favourable = sum(case.favours for case in cases)
    share = favourable / len(cases)
    verdict = HOLDS if share >= SHARES[needs] else PARTLY if share >= PART else FAILS
    parts = [f"In {favourable} of {len(cases)} cases {what}{_clearly(cases)}."]
    if len(cases) < expected:
        parts.insert(0, f"So far {len(cases)} of {expected} cases have been run.")
    if detail:
        parts.append(detail)
    else:
        mean = statistics.fmean(case.difference.value for case in cases)
        parts.append(f"The mean difference is {signed(mean)} points.")
        parts.extend(_exceptions(cases))
    if _without_errors(cases) if single_runs is None else single_runs:
        parts.append("These are single runs, so differences of a point or two may be chance.")
    if published:
        count = sum(case.favours for case in published)
        parts.append(f"By the paper's own figures it is {count} of {len(published)}.")
    return Observation(group, protocol, claim, verdict, " ".join(parts), cases)


def signed(value: float, digits: int = 1) -> str:
    """A number with its sign, a true minus, and no sign where it rounds to zero.

    >>> signed(1.25, 2), signed(-3.0), signed(-0.01)
    ('+1.25', '−3.0', '0.0')
    """
    text = f"{abs(value):.{digits}f}"
    if not float(text):
        return text
    return ("+" if value > 0 else "−") + text


def _without_errors(cases: Sequence[Case]) -> bool:
    return all(case.difference.side == "unknown" for case in cases)


def _clearly(cases: Sequence[Case]) -> str:
    if _without_errors(cases):
        return ""
    sides = [case.difference.side for case in cases]
    above, below = sides.count("above"), sides.count("below")
    return f", in {above} by more than two standard errors; in {below} it is the reverse by as much"


def _exceptions(cases: Sequence[Case]) -> list[str]:
    against = sorted((case for case in cases if not case.favours), key=lambda case: case.difference.value)
    if not against:
        return []
    named = ", ".join(f"{case.label} ({signed(case.difference.value)})" for case in against[:NAMED])
    more = len(against) - NAMED
    return [f"Against it: {named}{f' and {more} more' if more > 0 else ''}."]
