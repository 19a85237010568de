from __future__ import annotations

import torch

from lnp.engine.lockstep.stack import on_stack


def test_sees_all_seeds_and_is_differentiated() -> None:
    values = torch.arange(6.0).view(3, 2).requires_grad_()
    shared = torch.tensor([1.0, 10.0])
    seen: list[torch.Size] = []

    def function(stack, same):
        seen.append(stack.shape)
        return stack * same * torch.tensor([[1.0], [2.0], [3.0]])  # another factor for every seed

    result = torch.func.vmap(lambda row: on_stack(function, row, shared).sum())(values)
    result.sum().backward()
    assert seen == [(3, 2)]
    assert result.tolist() == [10.0, 2 * 32.0, 3 * 54.0]
    assert values.grad.tolist() == [[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]]


def test_the_seeds_may_lie_along_another_dimension() -> None:
    values = torch.arange(6.0).view(2, 3)
    result = torch.func.vmap(lambda row: on_stack(lambda stack: stack.cumsum(dim=0), row), in_dims=1)(values)
    assert torch.equal(result, values.T.cumsum(dim=0))
