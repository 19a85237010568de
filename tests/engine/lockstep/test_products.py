from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from lnp.engine.lockstep.products import StackedGraph, StackedMatrix, multiply_stacks
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.sparse import SparseMatrix

GENERATOR = np.random.default_rng(0)
DENSE = np.where(GENERATOR.random((6, 5)) < 0.4, GENERATOR.normal(size=(6, 5)), 0).astype(np.float32)
DENSE[2] = 0  # a row without entries


def draw(*shape: int) -> torch.Tensor:
    return torch.from_numpy(GENERATOR.normal(size=shape).astype(np.float32)).requires_grad_()


def gradients(product: torch.Tensor, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    weights = torch.arange(product.numel(), dtype=torch.float32).view(product.shape)
    return list(torch.autograd.grad((product * weights).sum(), inputs))


def test_sparse_product_and_gradient_are_those_of_the_dense_matrix() -> None:
    right, dense = draw(3, 5, 4), torch.from_numpy(DENSE)
    found = StackedMatrix(SparseMatrix.from_scipy(sp.csr_array(DENSE)), 3) @ right
    torch.testing.assert_close(found, dense @ right)
    torch.testing.assert_close(gradients(found, [right]), gradients(dense @ right, [right]))


@pytest.mark.parametrize("shared", [True, False])
def test_dense_product_and_gradients(shared: bool) -> None:
    left, right = draw(6, 5) if shared else draw(3, 6, 5), draw(3, 5, 2)
    expected = torch.stack([(left if shared else left[s]) @ right[s] for s in range(3)])
    found = multiply_stacks(left, right)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(gradients(found, [left, right]), gradients(expected, [left, right]))


@pytest.mark.parametrize("kind", ["row", "symmetric"])
def test_graph_has_the_matrices_of_the_graph(tiny_graph, kind) -> None:
    tensors = GraphTensors(tiny_graph)
    stacked, dense = StackedGraph(tensors, 2), draw(2, 7, 3)
    expected = torch.stack([tensors.propagation(kind) @ one for one in dense])
    found = stacked.propagation(kind) @ dense
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(gradients(found, [dense]), gradients(expected, [dense]))
    assert stacked.propagation(kind) is stacked.propagation(kind)
    assert stacked.node_count == 7
