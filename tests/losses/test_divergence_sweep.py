"""The sweep against KL divergence and contrastive loss, one after the other, from the same logits."""

from __future__ import annotations

import math

import pytest
import torch

from lnp.losses.contrastive_blocks import blockwise_contrastive_loss
from lnp.losses.divergence_sweep import divergence_sweep_
from lnp.losses.kl import kl_divergence
from lnp.seeds import Seeds

DRAWN = torch.tensor([3, 0, 3, 10, 7])
LOG_MASS = math.log(11 / 5)


@pytest.fixture
def logits() -> tuple[torch.Tensor, torch.Tensor]:
    rng = Seeds(4).generator("sweep")
    first, second = (torch.from_numpy(rng.normal(size=(11, 4))) for _ in range(2))
    return first, second


@pytest.mark.parametrize("every", [2, 3, 11, 20])
@pytest.mark.parametrize("block", [4, 2048])
def test_asking_some_nodes_is_right_on_average(
    logits: tuple[torch.Tensor, torch.Tensor], every: int, block: int
) -> None:
    """The mean over all ways to ask every m-th node is what asking all gives: both terms and both gradients."""

    def swept(anchors: tuple[int, int]) -> list[torch.Tensor]:
        first, second = (values.clone() for values in logits)
        terms = divergence_sweep_(first, second, DRAWN, 0.5, LOG_MASS, 10.0, 0.8, 0.6, anchors=anchors, block=block)
        return [*terms, first, second]

    some = [swept((offset, every)) for offset in range(every)]
    for number, whole in enumerate(swept((0, 1))):
        mean = torch.stack([one[number] for one in some]).mean(dim=0)
        torch.testing.assert_close(mean, whole, rtol=1e-9, atol=1e-11)
    assert not torch.allclose(some[0][1], some[1][1], rtol=1e-3)  # or nothing was tested


def plain(first: torch.Tensor, second: torch.Tensor, tau: float) -> tuple[torch.Tensor, torch.Tensor]:
    q, p = first.softmax(dim=1), second.softmax(dim=1)
    contrastive = blockwise_contrastive_loss(q, p, DRAWN, tau, LOG_MASS).mean()
    return kl_divergence(first, second).mean(), contrastive


@pytest.mark.parametrize("block", [1, 4, 2048])
@pytest.mark.parametrize("tau", [0.01, 0.5, 2.0])
@pytest.mark.parametrize("bound", [10.0, 100.0])
@pytest.mark.parametrize("factors", [(1.0, 1.0), (0.3, 0.3), (1.0, -0.7), (0.0, 1.0), (1.0, 0.0)])
def test_values_and_gradients_are_those_of_the_two_losses(
    logits: tuple[torch.Tensor, torch.Tensor], block: int, tau: float, bound: float, factors: tuple[float, float]
) -> None:
    leaves = [values.clone().requires_grad_() for values in logits]
    kl, contrastive = plain(*leaves, tau)
    expected = [kl, contrastive, *torch.autograd.grad(factors[0] * kl + factors[1] * contrastive, leaves)]

    first, second = (values.clone() for values in logits)
    terms = divergence_sweep_(first, second, DRAWN, tau, LOG_MASS, bound, *factors, block=block)
    for ours, theirs in zip([*terms, first, second], expected, strict=True):
        torch.testing.assert_close(ours, theirs.detach(), rtol=1e-9, atol=1e-11)
