from __future__ import annotations

import copy

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from lnp.nn import kept_product
from lnp.nn.backbone import BackboneSpec
from lnp.nn.gcn import GCN
from lnp.nn.graph_tensors import GraphTensors, SideBySide
from lnp.nn.kept_product import KeptProduct
from lnp.nn.sparse import SparseMatrix
from lnp.seeds import Seeds


def sparse(rows: int, columns: int, seed: int) -> SparseMatrix:
    return SparseMatrix.from_scipy(sp.random_array((rows, columns), density=0.3, rng=seed, format="csr"))


def dense(rows: int, columns: int, seed: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32))


def weights(*widths: int) -> list[nn.Parameter]:
    return [nn.Parameter(dense(6, width, 10 + number)) for number, width in enumerate(widths)]


FACTORS = {
    "sparse": (sparse(9, 6, 0),),
    "dense": (dense(9, 6, 1),),
    "sparse twice": (sparse(9, 6, 2), sparse(9, 9, 3)),
    "dense, then sparse": (dense(9, 6, 4), sparse(9, 9, 5)),
}


@pytest.fixture
def count(monkeypatch):
    """How often a matrix has been multiplied with weights."""
    calls = []
    plain = kept_product.multiply
    monkeypatch.setattr(kept_product, "multiply", lambda left, right: calls.append(1) or plain(left, right))
    return calls


@pytest.mark.parametrize("widths", [(3,), (20,), (2, 4)])
@pytest.mark.parametrize("name", FACTORS)
def test_what_is_taken_has_the_bits_and_the_gradient_of_what_is_computed(name, widths, count):
    factors, ws = FACTORS[name], weights(*widths)
    expected = torch.cat(ws, dim=1)
    for factor in factors:
        expected = factor @ (expected.T.contiguous().T if isinstance(factor, Tensor) else expected)
    pull = dense(9, sum(widths), 20)
    expected_gradients = torch.autograd.grad(expected, ws, pull)
    product = KeptProduct()
    with torch.no_grad():
        evaluated = product(factors, *ws)
    computed = len(count)
    taken = product(factors, *ws)
    assert computed == len(factors) == len(count)  # the second pass multiplied nothing
    assert torch.equal(evaluated, expected)
    assert torch.equal(taken, expected)
    for found, wanted in zip(torch.autograd.grad(taken, ws, pull), expected_gradients, strict=True):
        assert torch.equal(found, wanted)


def changed_by_adam(weight: nn.Parameter) -> None:
    weight.grad = torch.ones_like(weight)
    torch.optim.Adam([weight], lr=0.1, fused=True).step()


def changed_by_loading(weight: nn.Parameter) -> None:
    holder = nn.ParameterDict({"w": weight})
    holder.load_state_dict({"w": weight.detach() + 1})


def changed_by_copying(weight: nn.Parameter) -> None:
    with torch.no_grad():
        weight.copy_(weight + 1)


@pytest.mark.parametrize("change", [changed_by_adam, changed_by_loading, changed_by_copying])
@pytest.mark.parametrize("trains", [True, False])
def test_changed_weights_are_multiplied_anew(change, trains):
    factors, (weight,) = FACTORS["sparse twice"], weights(3)
    product = KeptProduct()
    with torch.no_grad():
        before = product(factors, weight)
    change(weight)
    with torch.set_grad_enabled(trains):
        after = product(factors, weight)
    assert torch.equal(after, factors[1] @ (factors[0] @ weight))
    assert not torch.equal(after, before)


def test_other_factors_and_other_weights_are_multiplied_anew():
    one, other = FACTORS["sparse"], (sparse(9, 6, 7),)
    first, second = weights(3, 3)
    product = KeptProduct()
    with torch.no_grad():
        product(one, first)
        assert torch.equal(product(other, first), other[0] @ first)
        assert torch.equal(product(other, second), other[0] @ second)
        assert torch.equal(product((*other, sparse(9, 9, 8)), second), sparse(9, 9, 8) @ (other[0] @ second))


def test_evaluation_twice_computes_once_and_training_takes_it_once(count):
    factors, (weight,) = FACTORS["sparse"], weights(3)
    product = KeptProduct()
    with torch.no_grad():
        product(factors, weight)
        product(factors, weight)
    assert len(count) == 1
    product(factors, weight)
    assert len(count) == 1
    product(factors, weight)  # what was taken is kept no longer
    assert len(count) == 2


def test_a_copy_of_a_network_goes_its_own_way():
    factors, (weight,) = FACTORS["dense"], weights(3)
    holder = nn.ParameterDict({"w": weight})
    holder.product = KeptProduct()
    with torch.no_grad():
        holder.product(factors, weight)
    twin = copy.deepcopy(holder)
    assert twin.product._known is None
    changed_by_adam(twin["w"])
    changed_by_adam(twin["w"])
    torch.testing.assert_close(twin.product(factors, twin["w"]), factors[0] @ twin["w"])
    torch.testing.assert_close(holder.product(factors, weight), factors[0] @ weight)


def test_gradients_of_gradients():
    factors, (weight,) = (sparse(9, 6, 2), sparse(9, 9, 3)), weights(3)
    product = KeptProduct()
    with torch.no_grad():
        product(factors, weight)
    results = []
    for value in (product(factors, weight), factors[1] @ (factors[0] @ weight)):
        (first,) = torch.autograd.grad(value.pow(3).sum(), weight, create_graph=True)
        results.append(torch.autograd.grad(first.square().sum(), weight)[0])
    torch.testing.assert_close(*results)


def test_what_carries_a_gradient_is_never_kept():
    extra = dense(9, 2, 30).requires_grad_()
    side = SideBySide(sparse(9, 4, 31), extra)
    (weight,) = weights(3)
    product = KeptProduct()
    with torch.no_grad():
        product((side,), weight)
    product((side,), weight).sum().backward()
    torch.testing.assert_close(extra.grad, weight.detach()[4:].sum(dim=1).expand(9, 2))


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_gcn_trains_to_the_same_bits_whether_it_was_evaluated_before_or_not(random_graph, layers):
    graph = GraphTensors(random_graph())
    results = []
    for evaluates in (False, True):
        network = GCN(BackboneSpec(inputs=5, outputs=3, hidden=16, layers=layers), Seeds(0).generator("initialisation"))
        adam = torch.optim.Adam(network.parameters(), lr=0.05, fused=True)
        generator = Seeds(1).generator("dropout")
        for _ in range(4):
            if evaluates:
                network.eval()
                with torch.no_grad():
                    network(graph)
                network.train()
            adam.zero_grad()
            network(graph, generator).square().sum().backward()
            adam.step()
        results.append([parameter.detach().clone() for parameter in network.parameters()])
    for one, other in zip(*results, strict=True):
        assert torch.equal(one, other)
