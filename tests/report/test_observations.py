"""Verdicts from cases."""

from __future__ import annotations

import pytest

from lnp.report.measured import Difference
from lnp.report.observations import FAILS, HOLDS, PARTLY, UNKNOWN, Case, judge


def cases(*values: float, error: float | None = 1.0) -> list[Case]:
    return [Case(f"case {number}", Difference(value, error)) for number, value in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "needs", "verdict"),
    [
        ([1, 2, 3, 4], "all", HOLDS),
        ([1, 2, 3, -4], "all", PARTLY),
        ([1, 2, 3, -4], "most", HOLDS),
        ([1, 2, -3, -4], "most", PARTLY),
        ([1, -2, -3, -4], "all", FAILS),
        ([0.0], "all", FAILS),  # a tie is no lead
        ([], "all", UNKNOWN),
    ],
)
def test_verdicts(values: list[float], needs: str, verdict: str) -> None:
    assert judge("g", "paper", "claim", cases(*values), needs=needs).verdict == verdict


def test_the_sentence_has_the_numbers() -> None:
    found = judge(
        "g", "paper", "claim", cases(3.0, 1.0, -1.5, -5.0), what="it is ahead", expected=6, published=cases(1.0, -1.0)
    )
    assert found.sentence == (
        "So far 4 of 6 cases have been run. In 2 of 4 cases it is ahead, in 1 by more than two standard errors; in 1 "
        "it is the reverse by as much. The mean difference is −0.6 points. Against it: case 3 (−5.0), case 2 (−1.5). "
        "By the paper's own figures it is 1 of 2."
    )


def test_single_runs_are_called_so() -> None:
    found = judge("g", "paper", "claim", cases(3.0, error=None))
    sentences = (
        "In 1 of 1 cases it is so.",
        "The mean difference is +3.0 points.",
        "These are single runs, so differences",
    )
    assert found.sentence.startswith(" ".join(sentences))
    assert "single" not in judge("g", "paper", "claim", cases(3.0, error=1.0)).sentence


def test_many_exceptions_are_counted() -> None:
    sentence = judge("g", "paper", "claim", cases(*range(-6, 0))).sentence
    assert "Against it: case 0 (−6.0), case 1 (−5.0), case 2 (−4.0), case 3 (−3.0) and 2 more." in sentence
