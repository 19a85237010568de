"""What follows from evidence: every decision by hand."""

from __future__ import annotations

import pytest
import torch

from lnp.methods.channel.findings import Findings

FIRST, EQUAL, OWN = (
    torch.full((2, 2), 0.5),
    torch.tensor([[0.7, 0.3], [0.3, 0.7]]),
    torch.tensor([[0.9, 0.1], [0.4, 0.6]]),
)

SURE = 10.0
"""What the T that judges differs by here from the T that teaches."""


def found(first: list[float], equal: list[float], own: float = -torch.inf) -> Findings:
    """Evidence with each of three variants, and with own rows."""
    findings = Findings(3, 2)
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
    findings.note_light(1, OWN, torch.tensor(evidence), SURE + OWN)
    assert bool(findings.counts_lightly) == light
    assert findings.equal_evidence[1].item() == pytest.approx(evidence if light else -0.92)
    assert findings.equal_rows[1].equal(OWN if light else EQUAL + 1)
    assert findings.variant_of_own_rows == (1 if light else 2)  # the first rows are no guide any more
    assert findings.decide(FIRST, 0.1).equal(FIRST)
    assert findings.judging.equal(SURE + OWN)


def test_with_a_light_t_c_the_first_rows_are_out() -> None:
    """Even where they would beat rows of their own: light equal rows are better than both."""
    findings = found([-1.0, -0.9, -0.8], [-1.2, -0.92, -1.1], own=-0.85)
    findings.note_light(1, OWN, torch.tensor(-0.7), SURE + OWN)
    assert findings.decide(FIRST, 0.0).equal(OWN)
    assert findings.judging.equal(SURE + OWN)
    assert not findings.own_rows
