from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from lnp.losses.generalised_cross_entropy import (
    generalised_cross_entropy,
    truncated_generalised_cross_entropy,
    truncation_value,
)


@pytest.fixture
def logits():
    return 2 * torch.randn(40, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.fixture
def labels():
    return torch.randint(0, 5, (40,), generator=torch.Generator().manual_seed(1))


def every_label(logits, q):
    """(k, c): the loss of each row for every label it might carry."""
    count, classes = logits.shape
    return torch.stack([generalised_cross_entropy(logits, torch.full((count,), j), q=q) for j in range(classes)], 1)


def test_small_q_is_cross_entropy(logits, labels):
    torch.testing.assert_close(
        generalised_cross_entropy(logits, labels, q=1e-6),
        F.cross_entropy(logits, labels, reduction="none"),
        atol=1e-4,
        rtol=0,
    )


def test_small_q_is_cross_entropy_in_single_precision(logits, labels):
    torch.testing.assert_close(
        generalised_cross_entropy(logits.float(), labels, q=1e-6),
        F.cross_entropy(logits.float(), labels, reduction="none"),
        atol=1e-4,
        rtol=0,
    )


def test_q_of_one_is_half_the_absolute_error(logits, labels):
    one_hot = F.one_hot(labels, 5)
    absolute = (logits.softmax(dim=1) - one_hot).abs().sum(dim=1)
    torch.testing.assert_close(generalised_cross_entropy(logits, labels, q=1.0), absolute / 2)


def test_gradient_is_that_of_cross_entropy_damped(logits, labels):
    q, step = 0.7, 1e-6
    p = logits.softmax(dim=1)
    likelihood = p.gather(1, labels.unsqueeze(1))
    stated = likelihood**q * (p - F.one_hot(labels, 5))
    for j in range(5):
        shift = torch.zeros(5, dtype=torch.float64)
        shift[j] = step
        up = generalised_cross_entropy(logits + shift, labels, q=q)
        down = generalised_cross_entropy(logits - shift, labels, q=q)
        torch.testing.assert_close((up - down) / (2 * step), stated[:, j], atol=1e-7, rtol=1e-5)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.7, 1.0])
def test_sum_over_labels_lies_in_its_bounds(logits, q):
    sums = every_label(logits, q).sum(dim=1)
    assert (sums >= (5 - 5 ** (1 - q)) / q - 1e-9).all()
    assert (sums <= (5 - 1) / q + 1e-9).all()


def test_bounds_are_reached(logits):
    even, sure = torch.zeros(1, 5, dtype=torch.float64), torch.tensor([[800.0, 0, 0, 0, 0]], dtype=torch.float64)
    assert every_label(even, 0.7).sum().item() == pytest.approx((5 - 5**0.3) / 0.7)
    assert every_label(sure, 0.7).sum().item() == pytest.approx(4 / 0.7)


def test_truncation_at_zero_changes_nothing_and_at_one_leaves_a_constant(logits, labels):
    whole = generalised_cross_entropy(logits, labels, q=0.7)
    torch.testing.assert_close(truncated_generalised_cross_entropy(logits, labels, q=0.7, k=0.0), whole)
    constant = truncated_generalised_cross_entropy(logits, labels, q=0.7, k=1.0)
    torch.testing.assert_close(constant, torch.zeros_like(constant))


def test_truncated_labels_give_no_gradient(logits, labels):
    logits.requires_grad_()
    losses = truncated_generalised_cross_entropy(logits, labels, q=0.7, k=0.5)
    losses.sum().backward()
    believed = logits.softmax(dim=1).gather(1, labels.unsqueeze(1)).squeeze(1) > 0.5
    assert believed.any()
    assert (~believed).any()
    torch.testing.assert_close(logits.grad.abs().sum(dim=1) > 0, believed)
    assert losses[~believed].unique().tolist() == [pytest.approx(truncation_value(q=0.7, k=0.5))]


def test_extreme_logits_stay_finite():
    logits = torch.tensor([[1e4, 0.0, 0.0]], requires_grad=True)
    loss = generalised_cross_entropy(logits, torch.tensor([1]), q=0.7)
    loss.sum().backward()
    assert loss.item() == pytest.approx(1 / 0.7)
    assert logits.grad.isfinite().all()
