"""T by which labels are judged, against the T that labels were drawn from and against a general optimiser."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp
from torch import Tensor

from lnp.losses.marginal_likelihood import label_posterior, negative_log_marginal
from lnp.methods.channel.judging import SHARPER, judging_rows
from lnp.methods.channel.transition import expected_counts, shared_rows

FLIPS = np.array([[0.8, 0.2, 0.0], [0.0, 0.7, 0.3], [0.1, 0.0, 0.9]])
EVEN = 0.7 * np.eye(3) + 0.1


def normalised(counts: Tensor) -> Tensor:
    """The M-step of maximum likelihood."""
    return counts / counts.sum(dim=1, keepdim=True)


def draw(transition: np.ndarray, softness: float, count: int = 6000) -> tuple[Tensor, Tensor]:
    """What networks say that know a lot and say it with logits ``softness`` times too short; and given labels."""
    rng = np.random.default_rng(0)
    logits = rng.normal(scale=4.0, size=(count, 3))
    truth = [rng.choice(3, p=np.exp(row)) for row in log_softmax(logits, axis=1)]
    given = [rng.choice(3, p=transition[k]) for k in truth]
    return torch.from_numpy(log_softmax(logits / softness, axis=1)), torch.tensor(given)


def by_expectation_maximisation(logs: Tensor, labels: Tensor, rows: Callable[[Tensor], Tensor]) -> Tensor:
    """T with the networks as sure as they are."""
    transition = (torch.eye(3) + 1 / 3).double() / 2
    for _ in range(300):
        transition = rows(expected_counts(label_posterior(logs, labels, transition), labels))
    return transition


@pytest.mark.parametrize(("transition", "rows"), [(FLIPS, normalised), (EVEN, shared_rows)], ids=["flips", "even"])
@pytest.mark.parametrize("softness", [1.0, 2.8, 5.6])
def test_doubt_of_the_networks_is_not_taken_for_right_labels(
    transition: np.ndarray, rows: Callable[[Tensor], Tensor], softness: float
) -> None:
    logs, labels = draw(transition, softness)
    found = judging_rows(logs, labels, torch.eye(3).double(), rows)
    np.testing.assert_allclose(found.numpy(), transition, atol=0.03)
    if softness > 1:  # what it is for: left as they are, the networks make T too clean
        plain = by_expectation_maximisation(logs, labels, rows).diagonal()
        assert (plain.mean() - transition.diagonal().mean()).item() > 0.05


def test_no_pair_of_sharpness_and_channel_is_likelier() -> None:
    logs, labels = draw(FLIPS, 2.0, count=800)

    def minus_likelihood(values: np.ndarray) -> float:
        prior = log_softmax(np.exp(values[0]) * logs.numpy(), axis=1)
        channel = log_softmax(values[1:].reshape(3, 3), axis=1)
        return -float(logsumexp(prior + channel.T[labels.numpy()], axis=1).mean())

    starts = [np.concatenate([[np.log(w)], 3 * np.eye(3).ravel()]) for w in (0.7, 2.0, 5.0)]
    best = min(minimize(minus_likelihood, start).fun for start in starts)
    found = judging_rows(logs, labels, torch.eye(3).double(), normalised)
    likeliest = min(negative_log_marginal(w * logs, labels, found).mean().item() for w in SHARPER)
    assert likeliest == pytest.approx(best, abs=2e-3)


def test_a_start_with_most_labels_wrong_is_not_left() -> None:
    """With two of three labels wrong the identity explains labels by classes that have changed places."""
    wrong = np.array([[0.3, 0.7, 0.0], [0.0, 0.3, 0.7], [0.7, 0.0, 0.3]])
    logs, labels = draw(wrong, 2.0)
    found = judging_rows(logs, labels, torch.from_numpy(0.8 * wrong + 0.2 / 3), normalised)
    np.testing.assert_allclose(found.numpy(), wrong, atol=0.04)


def test_how_sure_networks_are_makes_no_difference() -> None:
    rows = partial(shared_rows, least=0.2)
    logs, labels = draw(EVEN, 2.0)
    same = judging_rows(logs, labels, torch.eye(3).double(), rows)
    twice = judging_rows(2 * logs, labels, torch.eye(3).double(), rows)  # logits, no longer logarithms
    torch.testing.assert_close(twice, same, atol=1e-3, rtol=0)
