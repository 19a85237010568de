"""The M-step against urns, scipy and numerical optimisation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import betaln, log_softmax
from scipy.stats import dirichlet_multinomial, multinomial

from lnp.losses.marginal_likelihood import label_posterior, negative_log_marginal
from lnp.methods.channel.transition import (
    STRENGTHS,
    expected_counts,
    learn_transition,
    log_evidence,
    posterior_mode,
    shared_rows,
    strength_limit,
)


def random_counts(seed: int, classes: int = 4, mean: float = 10.0) -> torch.Tensor:
    """Expected counts are no whole numbers."""
    return torch.from_numpy(np.random.default_rng(seed).gamma(1.0, mean, (classes, classes)))


def counts_of(rows: np.ndarray, nodes: float) -> torch.Tensor:
    return torch.from_numpy(nodes * np.asarray(rows))


def test_counts_add_the_beliefs_of_each_given_label() -> None:
    rng = np.random.default_rng(0)
    beliefs, labels = rng.dirichlet(np.ones(4), 60), rng.integers(0, 3, 60)  # nobody was given class 3
    expected = np.zeros((4, 4))
    for belief, label in zip(beliefs, labels, strict=True):
        expected[:, label] += belief
    counts = expected_counts(torch.from_numpy(beliefs), torch.from_numpy(labels))
    np.testing.assert_allclose(counts.numpy(), expected, rtol=1e-12)
    assert counts.sum().item() == pytest.approx(60)


def test_counts_of_certain_beliefs_are_a_confusion_matrix() -> None:
    true, given = torch.tensor([0, 0, 1, 2, 2, 2]), torch.tensor([0, 1, 1, 2, 0, 2])
    counts = expected_counts(torch.eye(3)[true], given)
    assert counts.tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 2]]


def test_shared_rows_keep_the_mean_probability_and_lose_the_rest_alike() -> None:
    counts = random_counts(1)
    table = counts.numpy()
    kept = np.mean([table[k, k] / table[k].sum() for k in range(4)])
    expected = np.full((4, 4), (1 - kept) / 3)
    np.fill_diagonal(expected, kept)
    np.testing.assert_allclose(shared_rows(counts).numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize(("diagonal", "kept"), [(5.0, 1 - 1e-3), (0.0, 1e-3)])
def test_shared_rows_never_become_certain(diagonal: float, kept: float) -> None:
    counts = diagonal * torch.eye(3) + (0.0 if diagonal else 1.0) * (1 - torch.eye(3))
    shared = shared_rows(counts)
    torch.testing.assert_close(shared.diagonal(), torch.full((3,), kept))
    torch.testing.assert_close(shared.sum(dim=1), torch.ones(3))


@pytest.mark.parametrize("least", [0.2, 0.5])
def test_shared_rows_can_be_made_to_keep_a_share_for_sure(least: float) -> None:
    """The share kept for sure, and its part of what is drawn at random: the diagonal of a I + (1 - a) / c."""
    alike, mostly_kept = torch.full((4, 4), 5.0), 5 + 95 * torch.eye(4)
    torch.testing.assert_close(shared_rows(alike, least=least), least * torch.eye(4) + (1 - least) / 4)
    torch.testing.assert_close(shared_rows(mostly_kept, least=least), shared_rows(mostly_kept))


def test_evidence_is_the_probability_of_drawing_the_labels_one_by_one() -> None:
    """From an urn that starts with s·m balls and gets one more of each colour that is drawn."""
    rng = np.random.default_rng(2)
    counts, pseudo = rng.integers(0, 6, (3, 3)), rng.gamma(2.0, 1.0, (3, 3))
    expected = 0.0
    for row, start in zip(counts, pseudo, strict=True):
        urn = start.copy()
        for colour in rng.permutation(np.repeat(np.arange(3), row)):  # the order does not matter
            expected += math.log(urn[colour] / urn.sum())
            urn[colour] += 1
    value = log_evidence(torch.from_numpy(counts.astype(float)), torch.from_numpy(pseudo)).item()
    assert value == pytest.approx(expected, rel=1e-10)
    by_scipy = sum(
        dirichlet_multinomial.logpmf(row, start, row.sum())
        - multinomial.logpmf(row, row.sum(), np.full(3, 1 / 3))
        - row.sum() * math.log(3)  # what remains is minus the number of orders
        for row, start in zip(counts, pseudo, strict=True)
    )
    assert value == pytest.approx(by_scipy, rel=1e-8)


def test_evidence_of_many_strengths_at_once() -> None:
    counts, centre = random_counts(3), shared_rows(random_counts(3))
    several = log_evidence(counts, torch.tensor([[[2.0]], [[7.0]]], dtype=torch.float64) * centre)
    for value, strength in zip(several.tolist(), (2.0, 7.0), strict=True):
        assert value == pytest.approx(log_evidence(counts, strength * centre).item(), rel=1e-12)


def test_the_mode_is_where_numerical_optimisation_ends() -> None:
    counts, pseudo = random_counts(4, classes=3), 5 * shared_rows(random_counts(4, classes=3))
    weights = (counts + pseudo).numpy()

    def negative(free: np.ndarray) -> float:
        return -float((weights * log_softmax(free.reshape(3, 3), axis=1)).sum())

    found = minimize(negative, np.zeros(9), method="BFGS", options={"gtol": 1e-6})
    np.testing.assert_allclose(
        posterior_mode(counts, pseudo).numpy(), np.exp(log_softmax(found.x.reshape(3, 3), axis=1)), atol=1e-5
    )


@pytest.mark.parametrize("largest", [2.0, 60.0, 640.0])
@pytest.mark.parametrize("seed", [5, 6, 7])
def test_the_strength_is_the_one_with_the_most_evidence(seed: int, largest: float) -> None:
    counts = random_counts(seed, mean=30.0)
    table, d = counts.numpy(), shared_rows(counts).numpy()[0, 0]
    kept, totals = table.diagonal(), table.sum(axis=1)
    evidence = [
        (betaln(s * d + kept, s * (1 - d) + totals - kept) - betaln(s * d, s * (1 - d))).sum() for s in STRENGTHS
    ]
    s = min(STRENGTHS[int(np.argmax(evidence))], largest)
    expected = np.diag((s * d + kept) / (s + totals))
    for k, j in itertools.permutations(range(4), 2):
        expected[k, j] = (1 - expected[k, k]) * (1 / 3 + table[k, j]) / (1 + totals[k] - kept[k])
    np.testing.assert_allclose(learn_transition(counts, largest_strength=largest).numpy(), expected, rtol=1e-9)


def test_classes_that_lose_their_labels_elsewhere_agree_in_how_many_they_lose() -> None:
    """Six classes of seven keep four labels in ten, each losing the rest to another; one seems to keep seven."""
    rows = 0.4 * np.eye(7) + 0.6 * np.roll(np.eye(7), 1, axis=1)
    rows[1] = 0.7 * np.eye(7)[1] + 0.3 * np.eye(7)[2]
    learned = learn_transition(counts_of(rows, 60.0), largest_strength=60.0).numpy()
    assert learned[1, 1] < 0.62
    np.testing.assert_allclose(np.delete(learned.diagonal(), 1), 0.4, atol=0.03)
    np.testing.assert_allclose(learned[1, 2] / (1 - learned[1, 1]), 1.0, atol=0.1)  # where they go is as clear


def test_classes_may_lose_as_many_labels_as_they_like() -> None:
    kept = np.array([0.9, 0.35, 0.6, 0.8, 0.4, 0.7, 0.5])
    rows = np.diag(kept) + np.diag(1 - kept) @ np.roll(np.eye(7), 1, axis=1)
    learned = learn_transition(counts_of(rows, 150.0), largest_strength=60.0).numpy()
    np.testing.assert_allclose(learned.diagonal(), kept, atol=0.04)


def test_alike_rates_are_learned_together_and_places_apart() -> None:
    """Rates that differ as chance would have it are one rate; where the labels went stays as it was."""
    kept = 0.7 + np.array([0.02, -0.02, 0.02, -0.02])
    pair = np.diag(kept) + np.diag(1 - kept) @ np.roll(np.eye(4), 1, axis=1)
    learned = learn_transition(counts_of(pair, 50.0)).numpy()
    assert np.abs(learned.diagonal() - 0.7).max() < 0.002
    places = learned / (1 - learned.diagonal())[:, None]
    np.testing.assert_allclose(places[range(4), (1, 2, 3, 0)], 1.0, atol=0.05)


def test_a_limit_on_the_strength_lets_rows_part() -> None:
    rows = 0.7 * np.eye(4) + 0.1 * (1 - np.eye(4))
    counts = counts_of(rows, 50.0)
    counts[0] = torch.tensor([29.0, 11.0, 5.0, 5.0])
    tied, free = (learn_transition(counts, largest_strength=largest) for largest in (640.0, 2.0))
    own = counts[0] / counts[0].sum()
    assert (free[0] - own).abs().max() < (tied[0] - own).abs().max() / 3


def test_few_blurred_labels_are_learned_from() -> None:
    """20 a class, 40 % of them moved to the next class, seen through networks that are right six times in ten."""
    classes, labels = 7, 20
    noise = 0.6 * np.eye(classes) + 0.4 * np.roll(np.eye(classes), 1, axis=1)
    seen = 0.6 * np.eye(classes) + (0.4 / (classes - 1)) * (1 - np.eye(classes))
    blurred = torch.from_numpy(labels * seen @ noise)
    learned = learn_transition(blurred, largest_strength=60.0).numpy()
    blurred_rows = (blurred / blurred.sum(dim=1, keepdim=True)).numpy()
    assert np.abs(learned - blurred_rows).sum(axis=1).mean() < 0.05


def test_few_labels_have_rates_of_their_own_only_if_the_prior_counts_for_less() -> None:
    """Classes that keep between three and seven labels in ten, but blurred to between 45 and 55 in a hundred."""
    classes, labels = 6, 20
    kept = np.linspace(0.45, 0.55, classes)
    counts = counts_of(np.diag(kept) + np.diag(1 - kept) @ np.roll(np.eye(classes), 1, axis=1), labels)
    limits = 60.0, strength_limit(60.0, labels * classes, classes)
    stiff, free = (learn_transition(counts, largest_strength=limit).numpy().diagonal() for limit in limits)
    assert np.abs(free - kept).max() < 0.004 < 0.03 < np.abs(stiff - kept).max()


def test_a_class_without_nodes_has_the_row_that_all_share() -> None:
    counts = random_counts(8)
    counts[2] = 0
    learned = learn_transition(counts)
    torch.testing.assert_close(learned[2], shared_rows(counts)[2])
    assert learned.isfinite().all()


def test_relabelling_the_classes_relabels_t() -> None:
    counts = random_counts(9)
    order = torch.tensor([2, 0, 3, 1])
    torch.testing.assert_close(learn_transition(counts[order][:, order]), learn_transition(counts)[order][:, order])


def test_rows_sum_to_one_and_nothing_is_impossible_even_without_counts() -> None:
    for counts in (random_counts(10), torch.zeros(3, 3), 1e6 * torch.eye(3)):
        learned = learn_transition(counts.float())
        torch.testing.assert_close(learned.sum(dim=1), torch.ones(len(counts)))
        assert (learned > 0).all()


def test_expectation_maximisation_never_lowers_the_posterior_and_finds_the_channel() -> None:
    """With a fixed prior over true labels: the E-step of the loss and this M-step, turn by turn."""
    rng = np.random.default_rng(11)
    truth = rng.integers(0, 3, 3000)
    channel = np.array([[0.6, 0.4, 0.0], [0.0, 0.6, 0.4], [0.4, 0.0, 0.6]])
    labels = torch.from_numpy((channel[truth].cumsum(axis=1) < rng.random((3000, 1))).sum(axis=1))
    logits = torch.from_numpy(rng.normal(size=(3000, 3)) + 3.0 * np.eye(3)[truth])
    pseudo = 5 * shared_rows(torch.eye(3, dtype=torch.float64) + 1)
    found = torch.full((3, 3), 0.2, dtype=torch.float64) + 0.4 * torch.eye(3)
    values = []
    for _ in range(40):
        evidence = -negative_log_marginal(logits, labels, found).sum()
        values.append((evidence + (pseudo * found.log()).sum()).item())
        found = posterior_mode(expected_counts(label_posterior(logits, labels, found), labels), pseudo)
    assert all(after >= before - 1e-9 for before, after in itertools.pairwise(values))
    np.testing.assert_allclose(found.numpy(), channel, atol=0.05)


def test_with_one_class_every_label_is_kept() -> None:
    counts = torch.tensor([[7.0]])
    assert shared_rows(counts, least=0.2).tolist() == [[1.0]]
    assert learn_transition(counts).tolist() == [[1.0]]
