from __future__ import annotations

import math

import pytest
import torch

from lnp.nn.dropout import dropout
from lnp.seeds import Seeds


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.5, 0.8, 0.95])
def test_rate_scale_and_expectation(rate: float) -> None:
    values = torch.full((400, 300), 3.0)
    result = dropout(values, rate, Seeds(0).generator("dropout"))
    rounded = round(rate * 256) / 256
    kept = result != 0
    # Kept entries are scaled by exactly 1 / (1 - rate), with the rate rounded to a 256th.
    assert abs(rounded - rate) <= 1 / 512
    torch.testing.assert_close(result[kept], torch.full((int(kept.sum()),), 3 / (1 - rounded)))
    deviation = math.sqrt(rounded * (1 - rounded) / values.numel())
    assert abs((~kept).double().mean().item() - rounded) < 4 * deviation
    assert result.mean().item() == pytest.approx(3.0, abs=4 * 3 * deviation / (1 - rounded))


def test_entries_are_dropped_independently() -> None:
    kept = (dropout(torch.ones(2000, 64), 0.5, Seeds(3).generator("dropout")) != 0).double()
    correlation = torch.corrcoef(kept.T) - torch.eye(64)
    assert correlation.abs().max() < 5 / math.sqrt(2000)


def test_same_generator_same_mask_and_a_new_mask_at_every_call() -> None:
    values = torch.ones(30, 7)
    first, second = Seeds(1).generator("dropout"), Seeds(1).generator("dropout")
    masks = [dropout(values, 0.5, first) for _ in range(2)]
    assert torch.equal(masks[0], dropout(values, 0.5, second))
    assert torch.equal(masks[1], dropout(values, 0.5, second))
    assert not torch.equal(*masks)


def test_gradient_is_the_mask() -> None:
    values = torch.ones(50, 3, requires_grad=True)
    result = dropout(values, 0.5, Seeds(0).generator("dropout"))
    result.sum().backward()
    assert torch.equal(values.grad, result.detach())  # the values are 1, so the result is the mask


def test_evaluation_and_rate_zero_change_nothing() -> None:
    values = torch.rand(4, 3)
    assert dropout(values, 0.5, None) is values
    generator = Seeds(0).generator("dropout")
    before = generator.bit_generator.state["state"]["state"].tolist()
    assert dropout(values, 0.0, generator) is values
    assert generator.bit_generator.state["state"]["state"].tolist() == before  # and no number was drawn
