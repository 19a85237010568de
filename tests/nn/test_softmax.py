"""Softmax by columns of the transpose is softmax."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import softmax as scipy_softmax

from lnp.nn.softmax import NARROW, softmax


@pytest.mark.parametrize("classes", [1, 2, 7, NARROW, NARROW + 1, 40])
def test_agrees_with_scipy_on_both_sides_of_the_width_where_the_way_changes(classes: int) -> None:
    logits = np.random.default_rng(0).normal(0, 5, size=(50, classes))
    np.testing.assert_allclose(softmax(torch.from_numpy(logits)).numpy(), scipy_softmax(logits, axis=1), atol=1e-14)


def test_huge_logits_do_not_overflow() -> None:
    assert softmax(torch.tensor([[1000.0, 0.0], [-1000.0, -1000.0]])).tolist() == [[1.0, 0.0], [0.5, 0.5]]


@pytest.mark.parametrize("classes", [3, NARROW + 1])
def test_gradients_of_first_and_second_order(classes: int) -> None:
    logits = torch.from_numpy(np.random.default_rng(1).normal(size=(4, classes))).requires_grad_()
    assert torch.autograd.gradcheck(softmax, (logits,))
    assert torch.autograd.gradgradcheck(softmax, (logits,))


def test_rows_lie_in_memory_one_after_another() -> None:
    assert softmax(torch.zeros(5, 3)).is_contiguous()  # sparse products and gathers read rows
