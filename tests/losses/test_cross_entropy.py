from __future__ import annotations

import numpy as np
import torch
from scipy.special import log_softmax
from sklearn.metrics import log_loss

from lnp.losses.cross_entropy import cross_entropy

LOGITS = torch.tensor(np.random.default_rng(0).normal(scale=3, size=(20, 4)), dtype=torch.float32)
LABELS = torch.from_numpy(np.random.default_rng(1).integers(0, 4, 20))


def test_one_value_per_node_by_the_formula() -> None:
    expected = -log_softmax(LOGITS.double().numpy(), axis=1)[np.arange(20), LABELS.numpy()]
    np.testing.assert_allclose(cross_entropy(LOGITS, LABELS).numpy(), expected, atol=1e-5)


def test_mean_equals_that_of_scikit_learn() -> None:
    reference = log_loss(LABELS.numpy(), LOGITS.double().softmax(dim=1).numpy(), labels=[0, 1, 2, 3])
    np.testing.assert_allclose(cross_entropy(LOGITS, LABELS).mean().item(), reference, rtol=1e-6)


def test_gradient_is_probability_minus_one_hot() -> None:
    logits = LOGITS.clone().requires_grad_()
    cross_entropy(logits, LABELS).sum().backward()
    expected = LOGITS.softmax(dim=1) - torch.nn.functional.one_hot(LABELS, 4)
    torch.testing.assert_close(logits.grad, expected, atol=1e-6, rtol=1e-5)


def test_large_logits_stay_finite_and_a_constant_does_not_matter() -> None:
    extreme = torch.tensor([[1000.0, 0.0], [0.0, 1000.0]])
    assert cross_entropy(extreme, torch.tensor([0, 0])).tolist() == [0.0, 1000.0]
    torch.testing.assert_close(cross_entropy(LOGITS + 7, LABELS), cross_entropy(LOGITS, LABELS), atol=1e-5, rtol=1e-5)
