from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch.autograd import grad

from lnp.nn.sparse import BLOCK, LONG, WIDE, SparseMatrix


def random_matrix(rows: int, columns: int, seed: int = 0) -> sp.csr_array:
    generator = np.random.default_rng(seed)
    dense = generator.normal(size=(rows, columns)) * (generator.random((rows, columns)) < 0.4)
    return sp.csr_array(dense.astype(np.float32))


@pytest.mark.parametrize("shape", [(7, 7), (9, 4), (3, 8), (1, 5), (5, 1)])
def test_product_and_gradient_equal_the_dense_ones(shape: tuple[int, int]) -> None:
    matrix = random_matrix(*shape)
    generator = np.random.default_rng(1)
    right = generator.normal(size=(shape[1], 6))
    weights = generator.normal(size=(shape[0], 6))
    dense = torch.tensor(right, dtype=torch.float32, requires_grad=True)

    product = SparseMatrix.from_scipy(matrix) @ dense
    (product * torch.tensor(weights, dtype=torch.float32)).sum().backward()

    exact = matrix.toarray().astype(np.float64)
    np.testing.assert_allclose(product.detach().numpy(), exact @ right, atol=1e-5)
    np.testing.assert_allclose(dense.grad.numpy(), exact.T @ weights, atol=1e-5)


def test_gradient_matches_finite_differences() -> None:
    matrix = SparseMatrix.from_scipy(random_matrix(6, 4))
    start = torch.tensor(np.random.default_rng(2).normal(size=(4, 3)), dtype=torch.float32)

    def loss(dense: torch.Tensor) -> torch.Tensor:
        return (matrix @ dense).tanh().square().sum()

    point = start.clone().requires_grad_()
    loss(point).backward()
    step = 1e-2
    for i in range(4):
        for j in range(3):
            shift = torch.zeros_like(start)
            shift[i, j] = step
            difference = (loss(start + shift) - loss(start - shift)) / (2 * step)
            assert point.grad[i, j].item() == pytest.approx(difference.item(), abs=5e-3)


def test_gradient_of_a_gradient_equals_the_dense_one() -> None:
    csr = random_matrix(6, 4)
    matrix, dense = SparseMatrix.from_scipy(csr), torch.from_numpy(csr.toarray())
    start = torch.tensor(np.random.default_rng(3).normal(size=(4, 2)), dtype=torch.float32)

    def second(multiply) -> torch.Tensor:
        point = start.clone().requires_grad_()
        (first,) = grad(multiply(point).tanh().sum(), point, create_graph=True)
        return grad(first.square().sum(), point)[0]

    torch.testing.assert_close(second(lambda b: matrix @ b), second(lambda b: dense @ b), atol=1e-5, rtol=1e-5)


def test_torch_func_sees_the_same_function() -> None:
    csr = random_matrix(5, 5)
    matrix, dense = SparseMatrix.from_scipy(csr), torch.from_numpy(csr.toarray())
    point = torch.tensor(np.random.default_rng(4).normal(size=(5, 2)), dtype=torch.float32)

    def twice(multiply):
        inner = torch.func.grad(lambda b: multiply(b).tanh().sum())
        return torch.func.grad(lambda b: inner(b).square().sum())

    torch.testing.assert_close(
        twice(lambda b: matrix @ b)(point), twice(lambda b: dense @ b)(point), atol=1e-5, rtol=1e-5
    )


def test_symmetric_flag_gives_the_same_gradient() -> None:
    square = random_matrix(8, 8)
    symmetric = sp.csr_array(square + square.T)
    gradients = []
    for flag in (False, True):
        dense = torch.ones(8, 3, requires_grad=True)
        (SparseMatrix.from_scipy(symmetric, symmetric=flag) @ dense).square().sum().backward()
        gradients.append(dense.grad)
    assert torch.equal(*gradients)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_index_types_and_unsorted_columns(index: type) -> None:
    # Row 0 is stored with its columns out of order.
    matrix = sp.csr_array(
        (np.array([3.0, 1.0, 2.0]), np.array([2, 0, 1], index), np.array([0, 2, 3], index)), shape=(2, 3)
    )
    result = SparseMatrix.from_scipy(matrix) @ torch.tensor([[1.0], [10.0], [100.0]])
    assert result.tolist() == [[301.0], [20.0]]


def test_empty_rows_give_zeros_even_over_used_memory() -> None:
    matrix = SparseMatrix.from_scipy(sp.csr_array(([1.0], ([1], [2])), shape=(4, 4)))
    for _ in range(20):
        stale = torch.full((4, 5), float("nan"))
        del stale  # its memory is the likely place of the product
        product = matrix @ torch.ones(4, 5)
        assert product.tolist() == [[0.0] * 5, [1.0] * 5, [0.0] * 5, [0.0] * 5]


def test_entryless_matrix_and_columns_in_any_memory_order() -> None:
    empty = SparseMatrix.from_scipy(sp.csr_array((3, 2), dtype=np.float32))
    assert (empty @ torch.ones(2, 4)).tolist() == [[0.0] * 4] * 3
    csr = random_matrix(6, 5)
    wide = torch.tensor(np.random.default_rng(5).normal(size=(3, 5)), dtype=torch.float32)
    result = SparseMatrix.from_scipy(csr) @ wide.T
    np.testing.assert_allclose(result.numpy(), csr.toarray() @ wide.T.numpy(), atol=1e-5)


def test_nothing_is_computed_for_a_right_side_without_gradient() -> None:
    assert not (SparseMatrix.from_scipy(random_matrix(3, 3)) @ torch.ones(3, 2)).requires_grad


@pytest.mark.parametrize("columns", [1, WIDE - 1, WIDE, 4 * WIDE])
def test_narrow_and_wide_products_agree_with_scipy_forward_and_backward(columns: int) -> None:
    generator = np.random.default_rng(columns)
    dense = generator.normal(size=(30, 20)) * (generator.random((30, 20)) < 0.1)
    dense[[0, 7, 29]] = 0  # rows without entries, the first and the last among them
    matrix = SparseMatrix.from_scipy(sp.csr_array(dense.astype(np.float32)))
    right = torch.from_numpy(generator.normal(size=(20, columns)).astype(np.float32)).requires_grad_()
    product = matrix @ right
    gradient = generator.normal(size=(30, columns)).astype(np.float32)
    product.backward(torch.from_numpy(gradient))
    np.testing.assert_allclose(product.detach().numpy(), dense @ right.detach().numpy(), atol=1e-5)
    np.testing.assert_allclose(right.grad.numpy(), dense.T @ gradient, atol=1e-5)


def test_transpose_and_rows_with_their_gradients() -> None:
    dense = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    dense[np.abs(dense) < 0.5] = 0
    matrix = SparseMatrix.from_scipy(sp.csr_array(dense))
    for ours, theirs in ((matrix.turned(), dense.T), (matrix.rows(torch.tensor([3, 0, 3])), dense[[3, 0, 3]])):
        values = torch.eye(theirs.shape[1], requires_grad=True)
        product = ours @ values
        np.testing.assert_allclose(product.detach().numpy(), theirs, atol=1e-7)
        weights = torch.linspace(-1, 1, product.numel()).view_as(product)
        (gradient,) = torch.autograd.grad((product * weights).sum(), values)
        np.testing.assert_allclose(gradient.numpy(), theirs.T @ weights.numpy(), atol=1e-6)


@pytest.mark.parametrize("width", [BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 5])
@pytest.mark.parametrize("columns", [LONG, 4 * LONG])
def test_long_rows_are_multiplied_in_blocks_to_the_same_bits(width: int, columns: int) -> None:
    """With 0.4 entries a place rows are short in the first matrix and long in the second."""
    csr = random_matrix(11, columns)
    assert (csr.nnz >= LONG * 11) is (columns == 4 * LONG)
    dense = torch.tensor(np.random.default_rng(4).normal(size=(columns, width)), dtype=torch.float32)
    product = SparseMatrix.from_scipy(csr) @ dense
    np.testing.assert_allclose(product.numpy(), csr.toarray().astype(np.float64) @ dense.double().numpy(), atol=1e-4)
    apart = [
        SparseMatrix.from_scipy(csr) @ part.contiguous() for part in dense.split(WIDE, dim=1) if part.shape[1] == WIDE
    ]
    assert torch.equal(product[:, : WIDE * len(apart)], torch.cat(apart, dim=1))


@pytest.mark.parametrize("width", [3, WIDE, 2 * BLOCK])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_blend_equals_the_dense_one(width: int, share: float) -> None:
    csr, generator = random_matrix(7, 7), np.random.default_rng(5)
    dense, other = (generator.normal(size=(7, width)).astype(np.float32) for _ in range(2))
    found = SparseMatrix.from_scipy(csr).blend(torch.from_numpy(dense), torch.from_numpy(other), share)
    np.testing.assert_allclose(found.numpy(), share * csr.toarray() @ dense + (1 - share) * other, atol=1e-5)
