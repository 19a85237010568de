"""Evidence by the other half: against a loop by hand, and what it is for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch

from lnp.losses.marginal_likelihood import SHARPNESSES, calibrated_evidence, label_posterior
from lnp.methods.channel.crossed import STEPS, are_few, crossed_evidence
from lnp.methods.channel.transition import expected_counts, learn_transition, shared_rows

CLASSES = 6


def case(noise: np.ndarray, count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Probabilities of networks that know most of it, labels behind the noise, and two halves."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, CLASSES, count)
    labels = np.array([draw.choice(CLASSES, p=noise[k]) for k in truth])
    known = np.where(draw.random(count) < 0.85, truth, draw.integers(0, CLASSES, count))
    probabilities = 0.6 * np.eye(CLASSES)[known] + 0.4 / CLASSES
    side = torch.from_numpy(np.arange(count) % 2)
    return torch.from_numpy(np.log(probabilities)), torch.from_numpy(labels), side


def learned_from_all(
    logs: torch.Tensor, labels: torch.Tensor, learn: Callable[[torch.Tensor], torch.Tensor]
) -> torch.Tensor:
    rows = torch.eye(CLASSES, dtype=logs.dtype) * 0.5 + 0.5 / CLASSES
    for _ in range(30):
        rows = learn(expected_counts(label_posterior(logs, labels, rows), labels))
    return rows


def test_it_is_a_loop_over_two_halves() -> None:
    logs, labels, side = case(0.7 * np.eye(CLASSES) + 0.3 / CLASSES, 30, seed=0)
    start, pi = np.full((CLASSES, CLASSES), 0.1) + 0.4 * np.eye(CLASSES), logs.exp().numpy()
    total = 0.0
    for half in (0, 1):
        rows = start
        for _ in range(STEPS):
            counts = np.zeros_like(rows)
            for i in np.flatnonzero(side.numpy() == half):
                joint = pi[i] * rows[:, labels[i]]
                counts[:, labels[i]] += joint / joint.sum()
            rows = (counts + 1) / (counts + 1).sum(axis=1, keepdims=True)
        scores = []
        for power in SHARPNESSES:
            sharp = pi**power / (pi**power).sum(axis=1, keepdims=True)
            scores.append(sum(np.log(sharp[i] @ rows[:, labels[i]]) for i in np.flatnonzero(side.numpy() != half)))
        total += max(scores)

    def learn(counts: torch.Tensor) -> torch.Tensor:
        return (counts + 1) / (counts + 1).sum(dim=1, keepdim=True)

    found = crossed_evidence(logs, labels, side, torch.from_numpy(start), learn)
    assert found.item() == pytest.approx(total / 30, rel=1e-9)


@pytest.mark.parametrize("alike", [True, False], ids=["noise that treats classes alike", "each class to the next"])
def test_rows_of_their_own_win_where_classes_differ_and_not_by_counting_the_labels_that_judge(alike: bool) -> None:
    elsewhere = np.full((CLASSES, CLASSES), 1 / CLASSES) if alike else np.roll(np.eye(CLASSES), 1, axis=1)
    noise = 0.55 * np.eye(CLASSES) + 0.45 * elsewhere
    own, equal = partial(learn_transition, largest_strength=1.0), partial(shared_rows, least=0.2)
    gains = np.zeros((10, 2))
    for seed in range(10):
        logs, labels, side = case(noise, 120, seed)
        for sign, learn in ((1, own), (-1, equal)):
            rows = learned_from_all(logs, labels, learn)
            gains[seed, 0] += sign * calibrated_evidence(logs, labels, rows).item()
            gains[seed, 1] += sign * crossed_evidence(logs, labels, side, rows, learn).item()
    counted, crossed = gains.T
    assert counted.min() > 0  # the labels that a T was counted from always find it better
    assert crossed.max() < 0 if alike else crossed.min() > 0.05


def test_relabelling_the_classes_changes_nothing() -> None:
    logs, labels, side = case(0.6 * np.eye(CLASSES) + 0.4 * np.roll(np.eye(CLASSES), 1, axis=1), 60, seed=3)
    new = torch.tensor([2, 0, 5, 1, 3, 4])  # class k is called new[k]
    old, learn = new.argsort(), partial(learn_transition, largest_strength=1.0)
    rows = learned_from_all(logs, labels, learn)
    found = crossed_evidence(logs, labels, side, rows, learn)
    renamed = crossed_evidence(logs[:, old], new[labels], side, rows[old][:, old], learn)
    torch.testing.assert_close(renamed, found, rtol=1e-9, atol=0)
    unchanged_rows = crossed_evidence(logs[:, old], labels, side, rows, learn)
    assert abs(float(unchanged_rows - found)) > 0.01  # or nothing was tested


def test_few_is_said_of_labels_for_each_class() -> None:
    assert are_few(149 * 7, 7)
    assert not are_few(150 * 7, 7)
    assert not are_few(1083, 7)  # Cora with 40 % of its nodes
