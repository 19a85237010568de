"""The sweep against KL divergence and contrastive loss, one after the other, from the same logits."""

from __future__ import annotations

import math

import pytest
import torch

from lnp.losses.contrastive_blocks import blockwise_contrastive_loss
from lnp.losses.divergence_sweep import divergence_sweep
from lnp.losses.kl import kl_divergence
from lnp.seeds import Seeds

DRAWN = torch.tensor([3, 0, 3, 10, 7])
ROWS = torch.tensor([9, 2, 0, 10])
LOG_MASS = math.log(11 / 5)


@pytest.fixture
def logits() -> tuple[torch.Tensor, torch.Tensor]:
    rng = Seeds(4).generator("sweep")
    first, second = (torch.from_numpy(rng.normal(size=(11, 4))) for _ in range(2))
    return first, second


def plain(first: torch.Tensor, second: torch.Tensor, tau: float) -> tuple[torch.Tensor, ...]:
    q, p = first.softmax(dim=1), second.softmax(dim=1)
    contrastive = blockwise_contrastive_loss(q, p, DRAWN, tau, LOG_MASS).mean()
    return q[ROWS], kl_divergence(first, second).mean(), 2.5 * contrastive


@pytest.mark.parametrize("block", [1, 4, 2048])
@pytest.mark.parametrize("tau", [0.01, 0.5, 2.0])
@pytest.mark.parametrize("bound", [10.0, 100.0])
@pytest.mark.parametrize("factors", [(1.0, 1.0), (0.3, 0.3), (1.0, -0.7), (0.0, 1.0)])
def test_values_and_gradients_are_those_of_the_two_losses(
    logits: tuple[torch.Tensor, torch.Tensor], block: int, tau: float, bound: float, factors: tuple[float, float]
) -> None:
    upstream = torch.linspace(-1, 2, 16, dtype=torch.float64).view(4, 4)
    found = []
    for large in (False, True):
        first, second = (values.clone().requires_grad_() for values in logits)
        if large:
            parts = divergence_sweep(first, second, ROWS, DRAWN, tau, LOG_MASS, 2.5, bound, block=block)
        else:
            parts = plain(first, second, tau)
        total = (parts[0] * upstream).sum() + factors[0] * parts[1] + factors[1] * parts[2]
        gradients = torch.autograd.grad(total, (first, second))
        found.append([*(part.detach() for part in parts), *gradients])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-11)


def test_a_second_backward_pass_gives_the_same(logits: tuple[torch.Tensor, torch.Tensor]) -> None:
    first, second = (values.clone().requires_grad_() for values in logits)
    rows, kl, contrastive = divergence_sweep(first, second, ROWS, DRAWN, 0.5, LOG_MASS, 1.0, 10.0)
    total = rows.square().sum() + kl + contrastive
    once = torch.autograd.grad(total, (first, second), retain_graph=True)
    again = torch.autograd.grad(total, (first, second))
    for ours, theirs in zip(once, again, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-14)
