"""The block-wise sampled loss against a literal double loop, and against the form that keeps its exponentials."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lnp.losses import contrastive
from lnp.losses.contrastive_blocks import blockwise_contrastive_loss
from lnp.seeds import Seeds


def literal(first: torch.Tensor, second: torch.Tensor, drawn: list[int], tau: float, mass: float) -> list[float]:
    """The definition, index by index; a node drawn twice counts twice."""

    def one_way(a: torch.Tensor, b: torch.Tensor, i: int) -> float:
        positive = float(a[i] @ b[i]) / tau
        others = sum(math.exp(float(a[i] @ c[j]) / tau - positive) for c in (b, a) for j in drawn if j != i)
        return math.log1p(mass * others)

    return [0.5 * (one_way(first, second, i) + one_way(second, first, i)) for i in range(len(first))]


@pytest.fixture
def predictions() -> tuple[torch.Tensor, torch.Tensor]:
    rng = Seeds(3).generator("contrastive")
    first, second = (torch.from_numpy(rng.normal(size=(11, 4))) for _ in range(2))
    return first.softmax(dim=1), second.softmax(dim=1)


DRAWN = torch.tensor([3, 0, 3, 10, 7])


@pytest.mark.parametrize("block", [1, 4, 11, 4096])
@pytest.mark.parametrize("tau", [0.01, 0.5, 2.0])  # at 0.01 the exponents would overflow 32 bits
def test_equals_the_double_loop_whatever_the_block(
    predictions: tuple[torch.Tensor, torch.Tensor], block: int, tau: float
) -> None:
    losses = blockwise_contrastive_loss(*predictions, DRAWN, tau, math.log(11 / 5), block=block)
    np.testing.assert_allclose(losses, literal(*predictions, DRAWN.tolist(), tau, 11 / 5), rtol=1e-10)


def test_with_every_node_drawn_once_it_is_the_exact_loss(predictions: tuple[torch.Tensor, torch.Tensor]) -> None:
    losses = blockwise_contrastive_loss(*predictions, torch.arange(11), 0.5, 0.0, block=4)
    np.testing.assert_allclose(losses, contrastive.contrastive_loss(*predictions, 0.5), rtol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("tau", [0.01, 0.5])
def test_gradient_by_finite_differences(
    predictions: tuple[torch.Tensor, torch.Tensor], weighted: bool, tau: float
) -> None:
    first, second = (p.clone().requires_grad_() for p in predictions)
    weights = torch.linspace(-1, 2, 11, dtype=torch.float64) if weighted else torch.full((11,), 0.3).double()

    def loss(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (weights * blockwise_contrastive_loss(a, b, DRAWN, tau, 1.0, block=4)).sum()

    assert torch.autograd.gradcheck(loss, (first, second), eps=1e-7, rtol=1e-4)


@pytest.mark.parametrize("block", [3, 4096])
def test_gradients_are_those_of_the_form_that_keeps_its_exponentials(
    predictions: tuple[torch.Tensor, torch.Tensor], block: int
) -> None:
    gradients = []
    for blockwise in (False, True):
        first, second = (p.clone().requires_grad_() for p in predictions)
        if blockwise:
            losses = blockwise_contrastive_loss(first, second, DRAWN, 0.5, 0.7, block=block)
        else:
            both = contrastive._both_directions
            losses = both(first, second, first[DRAWN], second[DRAWN], DRAWN, 0.5, log_mass=0.7)
        gradients.append(torch.cat(torch.autograd.grad(losses.mean(), [first, second])))
    torch.testing.assert_close(*gradients, rtol=1e-10, atol=1e-13)


def test_many_rows_take_this_way_and_keep_nothing_but_gradients(
    predictions: tuple[torch.Tensor, torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    def sampled() -> torch.Tensor:
        return contrastive.sampled_contrastive_loss(
            *(p.clone().requires_grad_() for p in predictions), 0.5, 5, Seeds(1).generator("sampling"), population=40
        )

    few = sampled()
    monkeypatch.setattr(contrastive, "MANY", 11)
    kept: list[int] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (kept.append(t.numel()), t)[1], lambda t: t):
        many = sampled()
    torch.testing.assert_close(few, many, rtol=1e-10, atol=1e-13)
    assert sorted(kept) == [40, 44, 44, 44, 44]  # gradients of 10 candidates; f, g and their gradients
    with torch.no_grad():
        torch.testing.assert_close(sampled(), many.detach(), rtol=0, atol=0)
