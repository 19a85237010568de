from __future__ import annotations

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from lnp.errors import ConfigError
from lnp.losses.correction import backward_correction, bounded_inverse, forward_correction

FLIP = torch.tensor([[0.7, 0.3, 0.0], [0.0, 0.6, 0.4], [0.2, 0.0, 0.8]], dtype=torch.float64)


@pytest.fixture
def logits():
    return 2 * torch.randn(30, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.fixture
def labels():
    return torch.randint(0, 3, (30,), generator=torch.Generator().manual_seed(1))


def test_identity_gives_cross_entropy(logits, labels):
    identity = torch.eye(3, dtype=torch.float64)
    plain = F.cross_entropy(logits, labels, reduction="none")
    torch.testing.assert_close(forward_correction(logits, labels, identity), plain)
    torch.testing.assert_close(backward_correction(logits, labels, identity), plain)


def test_forward_definition(logits, labels):
    noisy = logits.softmax(dim=1) @ FLIP
    torch.testing.assert_close(
        forward_correction(logits, labels, FLIP), -noisy[torch.arange(30), labels].log(), atol=1e-9, rtol=1e-9
    )


def test_backward_is_unbiased(logits, labels):
    inverse = bounded_inverse(FLIP, max_condition=1e6)
    per_given = torch.stack([backward_correction(logits, torch.full((30,), j), inverse) for j in range(3)], dim=1)
    expected = (FLIP[labels] * per_given).sum(dim=1)  # over the given label, for the true label
    torch.testing.assert_close(expected, F.cross_entropy(logits, labels, reduction="none"))


def test_backward_is_bounded_by_the_clip():
    inverse = bounded_inverse(FLIP, max_condition=1e6)
    assert (inverse < 0).any()
    logits = torch.tensor([[0.0, 0.0, -1000.0], [1000.0, 0.0, 0.0]], dtype=torch.float64)
    losses = backward_correction(logits, torch.tensor([1, 1]), inverse, clip=1e-5)
    assert losses.abs().max() <= inverse.abs().sum() * -math.log(1e-5)


def minimise(loss):
    """The probabilities that minimise ``loss`` over one row of logits."""
    logits = torch.zeros(1, 3, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([logits], max_iter=300, tolerance_grad=1e-12, line_search_fn="strong_wolfe")

    def closure():
        optimiser.zero_grad()
        value = loss(logits)
        value.backward()
        return value

    value = optimiser.step(closure)
    return logits.detach().softmax(dim=1)[0], value


def test_forward_and_backward_agree_in_minimiser_not_in_value():
    clean = torch.tensor([0.55, 0.3, 0.15], dtype=torch.float64)  # what the features say of the true label
    given = clean @ FLIP
    inverse = bounded_inverse(FLIP, max_condition=1e6)
    each = torch.arange(3)
    forward, forward_value = minimise(lambda z: (given * forward_correction(z.expand(3, 3), each, FLIP)).sum())
    backward, backward_value = minimise(lambda z: (given * backward_correction(z.expand(3, 3), each, inverse)).sum())
    plain, _ = minimise(lambda z: (given * F.cross_entropy(z.expand(3, 3), each, reduction="none")).sum())
    torch.testing.assert_close(forward, clean, atol=1e-4, rtol=0)
    torch.testing.assert_close(backward, clean, atol=1e-4, rtol=0)
    torch.testing.assert_close(plain, given, atol=1e-4, rtol=0)
    assert abs(forward_value - backward_value) > 0.01


def test_forward_with_a_label_that_c_forbids_stays_finite():
    logits = torch.zeros(1, 2, requires_grad=True)
    loss = forward_correction(logits, torch.tensor([1]), torch.tensor([[1.0, 0.0], [1.0, 0.0]]))
    loss.sum().backward()
    assert loss.item() == pytest.approx(-math.log(1e-12), rel=1e-4)
    assert logits.grad.isfinite().all()


def test_inverse_of_a_well_conditioned_matrix_is_exact():
    for remedy in ("shrink", "pseudo-inverse"):
        torch.testing.assert_close(
            bounded_inverse(FLIP, max_condition=100, remedy=remedy), torch.from_numpy(np.linalg.inv(FLIP.numpy()))
        )


def test_shrinkage_is_the_smallest_that_suffices():
    singular = torch.tensor([[0.5, 0.5], [0.5, 0.5]], dtype=torch.float64)  # flip 0.5 of a swapped pair
    inverse = bounded_inverse(singular, max_condition=20)
    # Eigenvalues 1 and e, so the condition number is 1/e: e = 0.05.
    torch.testing.assert_close(inverse, torch.linalg.inv(0.95 * singular + 0.05 * torch.eye(2, dtype=torch.float64)))


def test_pseudo_inverse_drops_small_singular_values():
    nearly = torch.tensor([[0.501, 0.499], [0.499, 0.501]], dtype=torch.float64)
    torch.testing.assert_close(
        bounded_inverse(nearly, max_condition=100, remedy="pseudo-inverse"),
        torch.full((2, 2), 0.5, dtype=torch.float64),
    )


def test_unknown_remedy():
    with pytest.raises(ConfigError, match="Expected `remedy` to be one of pseudo-inverse, shrink, but got 'hope'"):
        bounded_inverse(FLIP, max_condition=10, remedy="hope")
