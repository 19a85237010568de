from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.special import rel_entr

from lnp.losses.kl import kl_divergence, kl_divergence_of_probabilities


def random_logits(seed: int, rows: int = 40, classes: int = 5) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(scale=3, size=(rows, classes)))


def test_both_forms_equal_scipy() -> None:
    p, q = random_logits(0), random_logits(1)
    expected = rel_entr(p.softmax(1).numpy(), q.softmax(1).numpy()).sum(axis=1)
    np.testing.assert_allclose(kl_divergence(p, q).numpy(), expected, rtol=1e-10)
    np.testing.assert_allclose(kl_divergence_of_probabilities(p.softmax(1), q.softmax(1)).numpy(), expected, rtol=1e-10)


def test_zero_for_equal_distributions_and_positive_otherwise() -> None:
    p, q = random_logits(2), random_logits(3)
    assert kl_divergence(p, p + 7).abs().max() < 1e-12  # logits count up to a constant
    assert (kl_divergence(p, q) > 0).all()
    assert not torch.allclose(kl_divergence(p, q), kl_divergence(q, p))


def test_a_class_that_p_rules_out_adds_nothing() -> None:
    p, q = torch.tensor([[1.0, 0.0, 0.0]]), torch.tensor([[0.25, 0.75, 0.0]])
    assert kl_divergence_of_probabilities(p, q).item() == pytest.approx(math.log(4))
    assert kl_divergence(p.log(), q.log()).item() == pytest.approx(math.log(4))


def test_what_q_rules_out_is_infinite_from_logits_and_large_but_finite_from_probabilities() -> None:
    p, q = torch.tensor([[0.5, 0.5]]), torch.tensor([[1.0, 0.0]])
    assert kl_divergence(p.log(), q.log()).item() == math.inf
    value = kl_divergence_of_probabilities(p, q).item()
    assert value == pytest.approx(-math.log(2) - 0.5 * math.log(torch.finfo(torch.float32).tiny), rel=1e-6)


def test_gradients_are_those_of_the_closed_form() -> None:
    # d KL / d q_logits = q - p,  d KL / d p_logits = p * (log p/q - KL)
    p_logits, q_logits = random_logits(4).requires_grad_(), random_logits(5).requires_grad_()
    divergence = kl_divergence(p_logits, q_logits)
    divergence.sum().backward()
    p, q = p_logits.detach().softmax(1), q_logits.detach().softmax(1)
    torch.testing.assert_close(q_logits.grad, q - p)
    torch.testing.assert_close(p_logits.grad, p * ((p / q).log() - divergence.detach().unsqueeze(1)))


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_gradient_is_finite_at_the_corner_of_the_simplex(share: float) -> None:
    weight = torch.tensor([[share]], requires_grad=True)
    corners = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    mixed = weight * corners[0] + (1 - weight) * corners[1]
    kl_divergence_of_probabilities(mixed, torch.tensor([[0.5, 0.5]])).sum().backward()
    assert torch.isfinite(weight.grad).all()
    logits = torch.tensor([[0.0, -torch.inf]], requires_grad=True)
    kl_divergence(logits, torch.zeros(1, 2)).sum().backward()
    assert logits.grad.tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("block", [7, 4096])
def test_many_rows_have_the_same_values_and_gradients(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    weights = torch.linspace(-1, 2, 40, dtype=torch.float64)
    results = []
    for many in (100_000, 40):
        monkeypatch.setattr("lnp.losses.kl.MANY", many)
        monkeypatch.setattr("lnp.losses.kl.BLOCK", block)
        p, q = random_logits(4), random_logits(5)
        p[3, 1] = p[9, 0] = -math.inf  # ruled out by p
        p.requires_grad_(), q.requires_grad_()
        values = kl_divergence(p, q)
        results.append([values, *torch.autograd.grad((weights * values).sum(), [p, q])])
        with torch.no_grad():
            assert torch.equal(kl_divergence(p, q), values)
    for few, many_rows in zip(*results, strict=True):
        torch.testing.assert_close(few.nan_to_num(0), many_rows, rtol=1e-10, atol=1e-12)


def test_many_rows_by_finite_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lnp.losses.kl.MANY", 6)
    p, q = random_logits(6, 6).requires_grad_(), random_logits(7, 6).requires_grad_()
    assert torch.autograd.gradcheck(kl_divergence, (p, q))
