"""The contrastive loss against a literal double loop, and its sampled form against expectations."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lnp.losses.contrastive import contrastive_loss, sampled_contrastive_loss
from lnp.seeds import Seeds


def literal(first: torch.Tensor, second: torch.Tensor, tau: float) -> list[float]:
    """The paper's formula, index by index."""

    def pairwise(a: torch.Tensor, b: torch.Tensor, i: int) -> float:
        positive = math.exp(float(a[i] @ b[i]) / tau)
        across = sum(math.exp(float(a[i] @ b[j]) / tau) for j in range(len(a)) if j != i)
        within = sum(math.exp(float(a[i] @ a[j]) / tau) for j in range(len(a)) if j != i)
        return -math.log(positive / (positive + across + within))

    return [0.5 * (pairwise(first, second, i) + pairwise(second, first, i)) for i in range(len(first))]


@pytest.fixture
def predictions() -> tuple[torch.Tensor, torch.Tensor]:
    rng = Seeds(3).generator("contrastive")
    first, second = (torch.from_numpy(rng.normal(size=(11, 4))) for _ in range(2))
    return first.softmax(dim=1), second.softmax(dim=1)


@pytest.mark.parametrize("block", [1, 4, 11, 1024])
@pytest.mark.parametrize("tau", [0.5, 2.0])
def test_equals_the_double_loop_whatever_the_block(
    predictions: tuple[torch.Tensor, torch.Tensor], block: int, tau: float
) -> None:
    np.testing.assert_allclose(contrastive_loss(*predictions, tau, block=block), literal(*predictions, tau), rtol=1e-10)


def test_blocks_have_the_gradient_of_the_whole(predictions: tuple[torch.Tensor, torch.Tensor]) -> None:
    gradients = []
    for block in (3, 1024):
        first, second = (p.clone().requires_grad_() for p in predictions)
        contrastive_loss(first, second, 0.5, block=block).mean().backward()
        gradients.append(torch.cat([first.grad, second.grad]))
    torch.testing.assert_close(gradients[0], gradients[1], rtol=1e-10, atol=1e-12)


def test_gradient_by_finite_differences(predictions: tuple[torch.Tensor, torch.Tensor]) -> None:
    first, second = (p.clone().requires_grad_() for p in predictions)
    assert torch.autograd.gradcheck(lambda a, b: contrastive_loss(a, b, 0.5, block=4), (first, second))


def test_sampled_gradient_by_finite_differences(predictions: tuple[torch.Tensor, torch.Tensor]) -> None:
    first, second = (p.clone().requires_grad_() for p in predictions)

    def loss(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return sampled_contrastive_loss(a, b, 0.5, 5, Seeds(2).generator("sampling"))

    assert torch.autograd.gradcheck(loss, (first, second))


def test_large_logits_do_not_overflow(predictions: tuple[torch.Tensor, torch.Tensor]) -> None:
    first, second = (20 * p for p in predictions)
    np.testing.assert_allclose(contrastive_loss(first, second, 0.5), literal(first, second, 0.5), rtol=1e-8, atol=1e-12)


def test_a_row_without_other_candidates_has_no_gradient(predictions: tuple[torch.Tensor, torch.Tensor]) -> None:
    """With a single draw some row meets nobody but itself; its loss is 0, and so is its gradient."""
    first, second = (p.clone().requires_grad_() for p in predictions)
    loss = sampled_contrastive_loss(first, second, 0.5, 1, Seeds(2).generator("sampling"))
    alone = loss.detach() < 1e-6
    assert alone.sum() == 1
    loss.sum().backward()
    gradient = torch.cat([first.grad, second.grad], dim=1)  # type: ignore[list-item]
    assert gradient.isfinite().all()
    other = next(i for i in range(len(first)) if not alone[i])
    assert (gradient[other] != 0).any()


def test_small_temperatures_do_not_underflow_to_nothing() -> None:
    """Rows far from all others: every exponential is 0, and the positive pair is all there is."""
    first = torch.eye(4, dtype=torch.float64, requires_grad=True)
    loss = contrastive_loss(first, first.detach(), 0.001)
    np.testing.assert_allclose(loss.detach(), 0, atol=1e-12)
    loss.sum().backward()
    assert first.grad is not None
    assert first.grad.isfinite().all()


def test_sampled_denominator_is_unbiased(predictions: tuple[torch.Tensor, torch.Tensor]) -> None:
    """exp(loss + positive) is the denominator when both directions agree, so take equal predictions."""
    first, _ = predictions
    positive = (first * first).sum(dim=1) / 0.5
    exact = (contrastive_loss(first, first, 0.5) + positive).exp()
    rng = Seeds(5).generator("sampling")
    draws = torch.stack([(sampled_contrastive_loss(first, first, 0.5, 3, rng) + positive).exp() for _ in range(4000)])
    error = draws.std(dim=0) / math.sqrt(len(draws))
    assert ((draws.mean(dim=0) - exact).abs() < 4.5 * error).all()


def test_sampled_loss_tends_to_the_exact_one(predictions: tuple[torch.Tensor, torch.Tensor]) -> None:
    sampled = sampled_contrastive_loss(*predictions, 0.5, 200_000, Seeds(1).generator("sampling"))
    torch.testing.assert_close(sampled, contrastive_loss(*predictions, 0.5), rtol=0, atol=0.01)


def test_agreement_lowers_the_loss() -> None:
    sure = torch.eye(4).repeat(3, 1)
    swapped = sure[:, [1, 0, 3, 2]]
    assert contrastive_loss(sure, sure, 0.5).mean() < contrastive_loss(sure, swapped, 0.5).mean()


def test_rows_that_stand_for_more_nodes_count_so_often(predictions: tuple[torch.Tensor, torch.Tensor]) -> None:
    """The others' mass grows by the factor: against every row three times, less the rows that would be the node."""
    first, second = predictions
    n, factor = first.shape[0], 3
    positive = (first * second).sum(dim=1) / 0.5
    total = torch.zeros(n, dtype=first.dtype)
    for anchors, across, within in ((first, second, first), (second, first, second)):
        apart = ~torch.eye(n, dtype=torch.bool)
        masses = [((anchors @ other.T / 0.5).exp() * apart).sum(dim=1) for other in (across, within)]
        total += (positive.exp() + factor * sum(masses)).log() - positive
    np.testing.assert_allclose(contrastive_loss(first, second, 0.5, population=factor * n), total / 2, rtol=1e-10)
    one, other = (
        sampled_contrastive_loss(first, first, 0.5, 4, Seeds(3).generator("s"), population=p)
        for p in (None, factor * n)
    )
    torch.testing.assert_close(other.exp() - 1, factor * (one.exp() - 1))  # the others' mass over the node's own
