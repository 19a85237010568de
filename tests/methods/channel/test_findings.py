"""What follows from evidence: every decision by hand."""

from __future__ import annotations

import math

import pytest
import torch

from lnp.methods.channel.findings import SURE as STANDARD_ERRORS
from lnp.methods.channel.findings import Findings, are_worse

FIRST, EQUAL, OWN = (
    torch.full((2, 2), 0.5),
    torch.tensor([[0.7, 0.3], [0.3, 0.7]]),
    torch.tensor([[0.9, 0.1], [0.4, 0.6]]),
)

SURE = 10.0
"""What the T that judges differs by here from the T that teaches."""


def found(first: list[float], equal: list[float], own: float = -torch.inf, trusted: int = 0) -> Findings:
    """Evidence with each of three variants, and with own rows."""
    findings = Findings(3, 2, trusted)
    for variant, evidence in enumerate(first):
        findings.note_first(variant, FIRST + variant, torch.tensor(evidence), SURE + FIRST + variant)
    for variant, evidence in enumerate(equal):
        findings.note_equal(variant, EQUAL + variant, torch.tensor(evidence), SURE + EQUAL + variant)
    findings.note_own(torch.tensor(own), SURE + OWN)
    return findings


def test_nothing_is_known_before_anything_was_tried() -> None:
    findings = Findings(3, 2)
    assert not findings.anything
    assert not findings.own_rows
    assert not findings.counts_lightly
    assert findings.first_rows.equal(torch.eye(2).expand(3, 2, 2))


@pytest.mark.parametrize(("own", "gain", "kept"), [
    (-0.70, 0.1, OWN),
    (-0.85, 0.1, FIRST + 2),  # the first start is better, with its variant
    (-0.85, 0.2, EQUAL + 1),  # better than equal rows, but not by enough
    (-2.00, 0.0, FIRST + 2),
])  # fmt: skip
def test_the_t_that_stays(own: float, gain: float, kept: torch.Tensor) -> None:
    findings = found([-1.0, -0.9, -0.8], [-1.2, -0.92, -1.1], own)
    assert findings.gain.item() == pytest.approx(max(own, -0.8) + 0.92)
    assert findings.decide(OWN, gain).equal(kept)
    assert findings.judging.equal(SURE + kept)
    assert bool(findings.own_rows) == (not kept.equal(EQUAL + 1))
    assert findings.variant == (2 if findings.own_rows else 1)


@pytest.mark.parametrize(("evidence", "light"), [(-0.75, True), (-0.8, False), (-1.0, False)])
def test_t_c_counts_lightly_only_if_nothing_before_was_better(evidence: float, light: bool) -> None:
    findings = found([-1.0, -0.9, -0.8], [-1.2, -0.92, -1.1], own=-0.5)
    findings.note_light(1, OWN, torch.tensor(evidence), SURE + OWN, torch.ones(0, dtype=torch.bool))
    assert bool(findings.counts_lightly) == light
    assert findings.equal_evidence[1].item() == pytest.approx(evidence if light else -0.92)
    assert findings.equal_rows[1].equal(OWN if light else EQUAL + 1)
    assert findings.variant_of_own_rows == (1 if light else 2)  # the first rows are no guide any more
    assert findings.decide(FIRST, 0.1).equal(FIRST)
    assert findings.judging.equal(SURE + OWN)


def test_with_a_light_t_c_the_first_rows_are_out() -> None:
    """Even where they would beat rows of their own: light equal rows are better than both."""
    findings = found([-1.0, -0.9, -0.8], [-1.2, -0.92, -1.1], own=-0.85)
    findings.note_light(1, OWN, torch.tensor(-0.7), SURE + OWN, torch.ones(0, dtype=torch.bool))
    assert findings.decide(FIRST, 0.0).equal(OWN)
    assert findings.judging.equal(SURE + OWN)
    assert not findings.own_rows


@pytest.mark.parametrize(("right", "light"), [(10, False), (30, True), (150, True)])
def test_t_c_has_a_veto(right: int, light: bool) -> None:
    """Labels are likelier with a light T_C, but half of it names the other half worse than where it counts fully."""
    findings = found([-1.0, -0.9, -0.8], [-1.2, -0.92, -1.1], own=-0.85, trusted=159)
    findings.unseen_right.copy_(torch.arange(159) < 40)
    findings.note_light(1, OWN, torch.tensor(-0.7), SURE + OWN, torch.arange(159) % 159 >= 159 - right)
    assert bool(findings.counts_lightly) == light
    assert findings.decide(FIRST, 0.1).equal(OWN if light else FIRST + 2)


def test_worse_is_two_standard_errors_of_the_answers_that_differ() -> None:
    """By enumeration: were each that differs a fair coin, so large a difference would be less likely than one in 20."""
    for only in range(12):
        for only_others in range(12):
            right = torch.tensor([True] * only + [False] * only_others + [True] * 5 + [False] * 9)
            others = torch.tensor([False] * only + [True] * only_others + [True] * 5 + [False] * 9)
            differ = only + only_others
            deviation = sum(math.comb(differ, k) * (k - differ / 2) ** 2 for k in range(differ + 1)) / 2**differ
            clear = only_others - differ / 2 > STANDARD_ERRORS * deviation**0.5 + 1e-9
            assert are_worse(right, others) == clear, (only, only_others)
            if clear and differ > 9:
                as_far = sum(math.comb(differ, k) for k in range(only_others, differ + 1)) / 2**differ
                assert as_far < 0.05


def test_what_was_saved_before_t_c_had_a_veto_can_be_read() -> None:
    saved = dict(found([-1.0, -0.9], [-1.2, -0.8]).state_dict())
    del saved["unseen_right"]
    findings = Findings(3, 2)
    findings.load_state_dict(saved)
    assert not findings.unseen_right.any()
    assert findings.equal_evidence.equal(saved["equal_evidence"])
