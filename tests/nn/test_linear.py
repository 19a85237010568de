from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.stats import kstest

from lnp.errors import ConfigError
from lnp.nn.linear import Linear, multiply
from lnp.nn.sparse import SparseMatrix
from lnp.seeds import Seeds


def test_affine_map_of_dense_and_sparse_features() -> None:
    values = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, -1.0]], np.float32)
    layer = Linear(3, 2, Seeds(0).generator("initialisation"), initialisation="fan-out")
    expected = values @ layer.weight.detach().numpy() + layer.bias.detach().numpy()
    np.testing.assert_allclose(layer(torch.from_numpy(values)).detach().numpy(), expected, atol=1e-6)
    sparse = SparseMatrix.from_scipy(sp.csr_array(values))
    np.testing.assert_allclose(layer(sparse).detach().numpy(), expected, atol=1e-6)


@pytest.mark.parametrize(("initialisation", "bound"), [("glorot", math.sqrt(6 / 250)), ("fan-out", 1 / math.sqrt(50))])
def test_initial_weights_are_uniform_within_their_bound(initialisation: str, bound: float) -> None:
    layer = Linear(200, 50, Seeds(1).generator("initialisation"), initialisation=initialisation)
    weights = layer.weight.detach().numpy().ravel()
    assert np.abs(weights).max() <= bound * (1 + 1e-6)
    assert kstest(weights, "uniform", args=(-bound, 2 * bound)).pvalue > 1e-3
    if initialisation == "glorot":
        assert not layer.bias.any()
    else:
        assert 0 < layer.bias.abs().max() <= bound * (1 + 1e-6)


def test_same_generator_same_weights() -> None:
    first, second, other = (Linear(4, 3, Seeds(seed).generator("initialisation")) for seed in (5, 5, 6))
    assert torch.equal(first.weight, second.weight)
    assert not torch.equal(first.weight, other.weight)


def test_without_bias() -> None:
    layer = Linear(2, 2, Seeds(0).generator("initialisation"), bias=False)
    assert layer.bias is None
    assert [name for name, _ in layer.named_parameters()] == ["weight"]
    assert torch.equal(layer(torch.eye(2)), layer.weight)


def test_unknown_initialisation() -> None:
    with pytest.raises(ConfigError, match=r"Expected `initialisation` to be one of fan-out, glorot, but got 'zeros'\."):
        Linear(2, 2, Seeds(0).generator("initialisation"), initialisation="zeros")


def test_multiply_is_the_matrix_product_with_its_gradients() -> None:
    generator = np.random.default_rng(3)
    features = torch.from_numpy(generator.normal(size=(6, 4))).requires_grad_()
    weight = torch.from_numpy(generator.normal(size=(4, 3))).requires_grad_()
    np.testing.assert_allclose(
        multiply(features, weight).detach().numpy(), features.detach().numpy() @ weight.detach().numpy(), rtol=1e-14
    )
    assert torch.autograd.gradcheck(multiply, (features, weight))
    assert torch.autograd.gradgradcheck(multiply, (features, weight))
