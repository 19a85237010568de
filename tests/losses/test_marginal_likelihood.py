"""Sums over latent labels, against enumeration of all assignments."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy.special import rel_entr

from lnp.losses.marginal_likelihood import (
    SHARPNESSES,
    calibrated_evidence,
    evidence_lower_bound,
    label_posterior,
    log_joint,
    negative_log_marginal,
)
from lnp.nn.softmax import NARROW

NODES, CLASSES = 4, 3


def random_rows(seed: int, rows: int, columns: int = CLASSES) -> torch.Tensor:
    """Positive rows that sum to 1."""
    return torch.from_numpy(np.random.default_rng(seed).dirichlet(np.full(columns, 0.7), rows))


def example(seed: int, rows: int = NODES) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Logits, given labels and a channel, in double precision."""
    rng = np.random.default_rng(seed)
    logits = torch.from_numpy(rng.normal(scale=2, size=(rows, CLASSES)))
    return logits, torch.from_numpy(rng.integers(0, CLASSES, rows)), random_rows(seed + 100, CLASSES)


def enumerate_joint(logits: torch.Tensor, labels: torch.Tensor, channel: torch.Tensor) -> dict[tuple[int, ...], float]:
    """P(Y, given) for each of the 3⁴ assignments Y of true labels to four nodes, factor by factor."""
    prior = (logits.exp() / logits.exp().sum(dim=1, keepdim=True)).tolist()
    noise, given = channel.tolist(), labels.tolist()
    return {
        true: math.prod(prior[i][k] * noise[k][given[i]] for i, k in enumerate(true))
        for true in itertools.product(range(CLASSES), repeat=len(given))
    }


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_likelihood_and_posterior_are_those_of_enumeration(seed: int) -> None:
    logits, labels, channel = example(seed)
    joint = enumerate_joint(logits, labels, channel)
    assert len(joint) == CLASSES**NODES
    evidence = sum(joint.values())
    assert negative_log_marginal(logits, labels, channel).sum().item() == pytest.approx(-math.log(evidence), rel=1e-12)
    marginals = np.zeros((NODES, CLASSES))
    for true, probability in joint.items():
        marginals[np.arange(NODES), true] += probability / evidence
    posterior = label_posterior(logits, labels, channel)
    np.testing.assert_allclose(posterior.numpy(), marginals, rtol=1e-10)
    for true, probability in joint.items():  # and the posterior of all labels together is their product
        product = posterior[torch.arange(NODES), torch.tensor(true)].prod().item()
        assert product == pytest.approx(probability / evidence, rel=1e-10)


@pytest.mark.parametrize("classes", [2, NARROW, NARROW + 1, 40])
def test_few_and_many_classes_have_the_sum_and_its_gradient(classes: int) -> None:
    """The gradient is prior minus posterior, by another formula."""
    rng = np.random.default_rng(classes)
    logits = torch.from_numpy(rng.normal(scale=3, size=(9, classes))).requires_grad_()
    labels, channel = torch.from_numpy(rng.integers(0, classes, 9)), random_rows(7, classes, classes)
    losses = negative_log_marginal(logits, labels, channel)
    prior = logits.detach().softmax(dim=1)
    torch.testing.assert_close(losses.detach(), -(prior @ channel)[torch.arange(9), labels].log())
    (gradient,) = torch.autograd.grad(losses.sum(), logits)
    torch.testing.assert_close(gradient, prior - label_posterior(logits.detach(), labels, channel))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_lower_bound_is_that_of_enumeration_tight_at_q_and_below_elsewhere(seed: int) -> None:
    logits, labels, channel = example(seed)
    joint = enumerate_joint(logits, labels, channel)
    log_likelihood = math.log(sum(joint.values()))
    posterior = label_posterior(logits, labels, channel)
    tight = evidence_lower_bound(posterior, logits, labels, channel).sum().item()
    assert tight == pytest.approx(log_likelihood, rel=1e-12)
    for draw in range(20):
        beliefs = random_rows(1000 * seed + draw, NODES)
        bound = evidence_lower_bound(beliefs, logits, labels, channel)
        expected = 0.0
        for true, probability in joint.items():
            weight = beliefs[torch.arange(NODES), torch.tensor(true)].prod().item()
            expected += weight * (math.log(probability) - math.log(weight))
        assert bound.sum().item() == pytest.approx(expected, rel=1e-9)
        gap = rel_entr(beliefs.numpy(), posterior.numpy()).sum(axis=1)
        np.testing.assert_allclose((-negative_log_marginal(logits, labels, channel) - bound).numpy(), gap, atol=1e-10)
        assert bound.sum().item() < log_likelihood


def test_a_belief_may_rule_classes_out() -> None:
    logits, labels, channel = example(3)
    certain = torch.eye(CLASSES, dtype=torch.float64)[torch.tensor([0, 2, 1, 1])]
    bound = evidence_lower_bound(certain, logits, labels, channel)
    torch.testing.assert_close(bound, log_joint(logits, labels, channel)[torch.arange(4), torch.tensor([0, 2, 1, 1])])


def test_without_noise_it_is_cross_entropy_and_the_given_label_is_the_true_one() -> None:
    logits, labels, _ = example(4, 50)
    identity = torch.eye(CLASSES, dtype=torch.float64)
    expected = F.cross_entropy(logits, labels, reduction="none")
    torch.testing.assert_close(negative_log_marginal(logits, labels, identity), expected, rtol=1e-8, atol=1e-9)
    torch.testing.assert_close(
        label_posterior(logits, labels, identity), F.one_hot(labels, CLASSES).double(), rtol=0, atol=1e-8
    )


def test_noise_that_says_nothing_leaves_the_prior_and_no_gradient() -> None:
    logits, labels, channel = example(5, 50)
    same = channel[:1].expand(CLASSES, -1)
    torch.testing.assert_close(label_posterior(logits, labels, same), logits.softmax(dim=1))
    logits.requires_grad_()
    loss = negative_log_marginal(logits, labels, same)
    torch.testing.assert_close(loss, -same[0].log()[labels])
    (gradient,) = torch.autograd.grad(loss.sum(), logits)
    assert gradient.abs().max() < 1e-12


def test_relabelling_the_classes_changes_nothing_but_names() -> None:
    logits, labels, channel = example(6, 50)
    new = torch.tensor([2, 0, 1])  # class k is called new[k]
    old = new.argsort()
    renamed = logits[:, old], new[labels], channel[old][:, old]
    torch.testing.assert_close(negative_log_marginal(*renamed), negative_log_marginal(logits, labels, channel))
    torch.testing.assert_close(label_posterior(*renamed), label_posterior(logits, labels, channel)[:, old])
    torch.testing.assert_close(calibrated_evidence(*renamed), calibrated_evidence(logits, labels, channel))


def test_gradients_by_finite_differences_and_in_closed_form() -> None:
    logits, labels, channel = example(7, 6)
    logits.requires_grad_()
    channel.requires_grad_()
    assert torch.autograd.gradcheck(lambda z, t: negative_log_marginal(z, labels, t), (logits, channel))
    assert torch.autograd.gradcheck(lambda z, t: label_posterior(z, labels, t), (logits, channel))
    to_logits, to_channel = torch.autograd.grad(negative_log_marginal(logits, labels, channel).sum(), (logits, channel))
    posterior = label_posterior(logits, labels, channel).detach()
    torch.testing.assert_close(to_logits, logits.detach().softmax(dim=1) - posterior)
    counts = torch.zeros(CLASSES, CLASSES, dtype=torch.float64).index_add_(1, labels, posterior.T)
    torch.testing.assert_close(to_channel, -counts / channel.detach())  # the M-step's counts


def test_the_bound_at_a_fixed_q_has_the_gradient_of_the_likelihood() -> None:
    """Why to raise the bound is to raise the likelihood."""
    logits, labels, channel = example(8, 30)
    logits.requires_grad_()
    beliefs = label_posterior(logits, labels, channel).detach()
    (of_bound,) = torch.autograd.grad(evidence_lower_bound(beliefs, logits, labels, channel).sum(), logits)
    (of_loss,) = torch.autograd.grad(negative_log_marginal(logits, labels, channel).sum(), logits)
    torch.testing.assert_close(of_bound, -of_loss)


def test_certain_networks_and_impossible_labels_stay_finite() -> None:
    logits = torch.tensor([[1e4, -1e4, 0.0], [-1e4, 1e4, 0.0]], requires_grad=True)
    labels = torch.tensor([1, 1])
    loss = negative_log_marginal(logits, labels, torch.eye(3))
    assert loss.isfinite().all()
    assert loss[1].item() == pytest.approx(0, abs=1e-6)
    assert loss[0].item() == pytest.approx(-math.log(1e-12), rel=1e-5)
    loss.sum().backward()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()


def test_calibrated_evidence_is_the_largest_mean_log_likelihood_over_the_factors() -> None:
    logits, labels, channel = example(9, 40)
    means = []
    for factor in SHARPNESSES:
        scaled = np.exp(factor * logits.numpy())
        given = (scaled / scaled.sum(axis=1, keepdims=True)) @ channel.numpy()
        means.append(np.log(given[np.arange(40), labels.numpy()]).mean())
    assert calibrated_evidence(logits, labels, channel).item() == pytest.approx(max(means), rel=1e-10)
    assert max(means) > min(means)


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_how_sure_a_network_is_does_not_count(factor: float) -> None:
    """Labels drawn from softmax(z): the best factor is 1, and 1/2 or 2 for networks that are too sure or too shy."""
    rng = np.random.default_rng(10)
    logits = torch.from_numpy(rng.normal(scale=1.5, size=(4000, CLASSES)))
    chance = torch.from_numpy(rng.random((4000, 1)))
    labels = (logits.softmax(dim=1).cumsum(dim=1) < chance).sum(dim=1).clamp(max=CLASSES - 1)
    identity = torch.eye(CLASSES, dtype=torch.float64)
    honest = -negative_log_marginal(logits, labels, identity).mean()
    torch.testing.assert_close(calibrated_evidence(logits, labels, identity), honest)
    torch.testing.assert_close(calibrated_evidence(factor * logits, labels, identity), honest)
    assert -negative_log_marginal(factor * logits, labels, identity).mean() < honest - 0.02


def test_the_likelihood_is_a_proper_score_of_the_channel() -> None:
    """Among channels the one that labels were drawn through is the most likely, so held-out labels can choose T."""
    rng = np.random.default_rng(11)
    true = torch.from_numpy(rng.integers(0, CLASSES, 6000))
    channel = torch.tensor([[0.6, 0.4, 0.0], [0.0, 0.6, 0.4], [0.4, 0.0, 0.6]], dtype=torch.float64)
    chance = torch.from_numpy(rng.random((6000, 1)))
    labels = (channel[true].cumsum(dim=1) < chance).sum(dim=1)
    logits = 2.0 * F.one_hot(true, CLASSES).double()
    scores = {
        name: calibrated_evidence(logits, labels, other).item()
        for name, other in {
            "right": channel,
            "identity": torch.eye(CLASSES, dtype=torch.float64),
            "uniform": torch.full((CLASSES, CLASSES), 0.2, dtype=torch.float64) + 0.4 * torch.eye(CLASSES),
            "transposed": channel.T,
        }.items()
    }
    assert max(scores, key=lambda name: scores[name]) == "right"
    assert scores["right"] > max(value for name, value in scores.items() if name != "right") + 0.05
