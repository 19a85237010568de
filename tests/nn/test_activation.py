from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.nn.activation import relu_dropout, relu_dropout_
from lnp.nn.dropout import dropout
from lnp.seeds import Seeds


def example(shape: tuple[int, int] = (13, 7)) -> torch.Tensor:
    values = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    values[0, :3] = 0.0
    return torch.from_numpy(values)


@pytest.mark.parametrize("rate", [0.0, 0.3, 0.5, 0.95])
@pytest.mark.parametrize("block", [8, 24, 2**16])
def test_it_is_relu_then_dropout_bit_for_bit(rate: float, block: int) -> None:
    results = []
    for fused in (False, True):
        leaf = example().requires_grad_()
        fresh, generator = leaf * 1, Seeds(3).generator("dropout")
        result = relu_dropout_(fresh, rate, generator, block=block) if fused else dropout(fresh.relu(), rate, generator)
        (gradient,) = torch.autograd.grad((result * example().cos()).sum(), leaf)
        results.append((result, gradient, generator.integers(0, 2**62)))
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(results[0][:2], results[1][:2], strict=True))
    assert results[0][2] == results[1][2]  # both leave the stream at the same place


def test_evaluation_is_relu() -> None:
    assert torch.equal(relu_dropout_(example(), 0.5, None), example().relu())


def test_it_works_in_place_and_keeps_one_matrix() -> None:
    kept: list[torch.Tensor] = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept.append(tensor)
        return tensor

    values = example().requires_grad_() * 1
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        result = relu_dropout_(values, 0.5, Seeds(0).generator("dropout"))
    assert result.data_ptr() == values.data_ptr()
    assert [tensor.data_ptr() for tensor in kept] == [result.data_ptr()]


def test_second_derivatives() -> None:
    leaf = (example((4, 3)).double() + 0.01).requires_grad_()  # nothing at the kink

    def outputs(values: torch.Tensor) -> torch.Tensor:
        return relu_dropout_(values.sin(), 0.5, Seeds(1).generator("dropout")).square()

    assert torch.autograd.gradcheck(outputs, (leaf,))
    assert torch.autograd.gradgradcheck(outputs, (leaf,))


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_it_is_the_same_inside_torch_func(rate: float) -> None:
    values = torch.from_numpy(np.random.default_rng(6).normal(size=(9, 5)).astype(np.float32))

    def total(inputs: torch.Tensor) -> torch.Tensor:
        return relu_dropout(inputs * 2, rate, Seeds(1).generator("dropout")).square().sum()

    start = values.clone().requires_grad_()
    (expected,) = torch.autograd.grad(total(start), start)
    assert torch.equal(torch.func.grad(total)(values), expected)
    assert expected.abs().sum() > 0
