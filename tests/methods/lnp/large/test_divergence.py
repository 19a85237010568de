"""Posterior and prior against each other in one step, against the same from logits with automatic differentiation."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from lnp.losses.contrastive_blocks import blockwise_contrastive_loss
from lnp.losses.kl import kl_divergence
from lnp.methods.lnp.embedding import Labelled
from lnp.methods.lnp.large.divergence import Negatives, divergence
from lnp.methods.lnp.large.posterior import PosteriorLogits, Rules
from lnp.methods.lnp.large.prior import PriorLogits
from lnp.methods.lnp.posterior import fuse
from lnp.methods.lnp.prior import inform
from lnp.nn.prototypes import class_prototypes

SCALE, TAU, WEIGHT = 5.0, 0.5, 2.5
DRAWN = torch.tensor([3, 0, 3, 10, 7])
ROWS = torch.tensor([9, 2, 0, 10])
AT = torch.tensor([1, 2, 11, 2])
LOG_MASS = math.log(12 / 5)


@pytest.fixture
def pair(outputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """f of posterior and prior, no row zero."""
    values = outputs.clone()
    values[4] = torch.tensor([0.3, -0.2, 0.1, 0.9])
    return values, values.flip(0).cos() - 0.4


def large(
    leaves: tuple[torch.Tensor, ...], trusted: Labelled, noisy: Labelled, given: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    f, g = (leaf.detach() for leaf in leaves)
    ways = (
        PosteriorLogits(f, trusted, Rules.of(given, trusted, noisy, "trusted", f), SCALE),
        PriorLogits(g, noisy, SCALE),
    )
    return divergence(leaves[0], leaves[1], *ways, ROWS, AT, Negatives(DRAWN, TAU, LOG_MASS, WEIGHT))


def total(parts: tuple[torch.Tensor, ...], factors: tuple[float, float]) -> torch.Tensor:
    upstream = torch.linspace(-1, 2, 16, dtype=torch.float64).view(4, 4)
    rows, prior_rows, kl, contrastive = parts
    return (rows * upstream).sum() + (prior_rows * upstream.sin()).sum() + factors[0] * kl + factors[1] * contrastive


@pytest.mark.parametrize("factors", [(1.0, 1.0), (0.3, 0.3), (1.0, -0.7)])
def test_values_and_gradients_are_those_of_the_parts(
    pair: tuple[torch.Tensor, ...],
    trusted: Labelled,
    noisy: Labelled,
    given: torch.Tensor,
    factors: tuple[float, float],
) -> None:
    def plain(leaves: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        unit, other = (SCALE * F.normalize(leaf, dim=1) for leaf in leaves)
        posterior = fuse(unit, class_prototypes(unit, *trusted, 4), trusted, noisy).logits
        prior = inform(other, noisy, 4)
        q, p = posterior.softmax(dim=1), prior.softmax(dim=1)
        contrastive = WEIGHT * blockwise_contrastive_loss(q, p, DRAWN, TAU, LOG_MASS).mean()
        return q[ROWS], prior[AT], kl_divergence(posterior, prior).mean(), contrastive

    found = []
    for function in (plain, lambda leaves: large(leaves, trusted, noisy, given)):
        leaves = tuple(values.clone().requires_grad_() for values in pair)
        parts = function(leaves)
        found.append([*(part.detach() for part in parts), *torch.autograd.grad(total(parts, factors), leaves)])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-10)


def test_a_second_backward_pass_gives_the_same(
    pair: tuple[torch.Tensor, ...], trusted: Labelled, noisy: Labelled, given: torch.Tensor
) -> None:
    leaves = tuple(values.clone().requires_grad_() for values in pair)
    value = total(large(leaves, trusted, noisy, given), (1.0, 1.0))
    once = torch.autograd.grad(value, leaves, retain_graph=True)
    again = torch.autograd.grad(value, leaves)
    for ours, theirs in zip(once, again, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-14)
