from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.nn import weighted_graph
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.propagation import propagation_name
from lnp.nn.weighted_graph import PairCache, Pairs, WeightedGraph, looped_adjacency, new_pairs


@pytest.fixture
def graph(random_graph):
    return random_graph(nodes=9, density=0.3)


def free_pairs(graph):
    """Every second pair of nodes that is no edge, the isolated node's among them."""
    first, second = np.triu_indices(graph.node_count, 1)
    pairs = new_pairs(first, second, graph.adjacency)
    return Pairs(pairs.first.numpy()[::2], pairs.second.numpy()[::2], graph.node_count)


def dense_propagation(graph, pairs, weights, normalisation):
    """S from the definition, in double precision."""
    n = graph.node_count
    full = torch.eye(n, dtype=torch.float64) + torch.from_numpy(graph.adjacency.toarray()).double()
    links = torch.zeros(n, n, dtype=torch.float64)
    first, second = pairs.first.long(), pairs.second.long()
    full = full + links.index_put((first, second), weights) + links.index_put((second, first), weights)
    degree = full.sum(dim=1)
    if normalisation == "row":
        return full / degree.unsqueeze(1)
    return full / (degree.unsqueeze(1) * degree.unsqueeze(0)).sqrt()


@pytest.mark.parametrize("normalisation", ["symmetric", "row"])
@pytest.mark.parametrize("chunk", [3, 2**18])
def test_product_and_gradients_agree_with_a_dense_matrix(graph, normalisation, chunk, monkeypatch):
    monkeypatch.setattr(weighted_graph, "CHUNK", chunk)
    pairs = free_pairs(graph)
    generator = np.random.default_rng(1)
    weights = torch.tensor(generator.uniform(0.1, 2, len(pairs)), dtype=torch.float32, requires_grad=True)
    dense = torch.tensor(generator.normal(size=(9, 4)), dtype=torch.float32, requires_grad=True)
    target = torch.tensor(generator.normal(size=(9, 4)), dtype=torch.float32)

    matrix = WeightedGraph(looped_adjacency(graph.adjacency), [pairs.weighted(weights)], normalisation)
    ours = matrix @ (matrix @ dense).tanh()
    (ours * target).sum().backward()

    weights_64, dense_64 = (t.detach().double().requires_grad_() for t in (weights, dense))
    reference = dense_propagation(graph, pairs, weights_64, normalisation)
    expected = reference @ (reference @ dense_64).tanh()
    (expected * target.double()).sum().backward()

    torch.testing.assert_close(ours.double(), expected, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(weights.grad.double(), weights_64.grad, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(dense.grad.double(), dense_64.grad, atol=1e-5, rtol=1e-4)


def test_gradients_pass_finite_differences(graph):
    pairs = free_pairs(graph)
    generator = np.random.default_rng(2)
    weights = torch.tensor(generator.uniform(0.5, 2, len(pairs)), dtype=torch.float64, requires_grad=True)
    vectors = torch.tensor(generator.normal(size=(9, 3)), dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda w, b: pairs.weighted(w) @ b, (weights, vectors))
    assert torch.autograd.gradcheck(lambda w: pairs.weighted(w).degrees(), (weights,))
    assert torch.autograd.gradcheck(pairs.dots, (vectors,))


def test_dots_accept_repeated_pairs():
    pairs = Pairs(np.array([0, 0, 1]), np.array([1, 1, 2]), 3)
    vectors = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    products = pairs.dots(vectors)
    assert products.tolist() == [11, 11, 39]
    products.sum().backward()
    assert vectors.grad.tolist() == [[6, 8], [7, 10], [3, 4]]


def test_weight_zero_is_no_edge_and_gets_no_gradient(graph):
    pairs = free_pairs(graph)
    weights = torch.rand(len(pairs), generator=torch.Generator().manual_seed(0)) + 0.1
    weights[::3] = 0
    weights.requires_grad_()
    dense = torch.eye(9)
    looped = looped_adjacency(graph.adjacency)
    product = WeightedGraph(looped, [pairs.weighted(weights)]) @ dense
    expected = dense_propagation(graph, pairs, weights.detach().double(), "symmetric")
    torch.testing.assert_close(product.double(), expected, atol=1e-6, rtol=1e-5)
    part = pairs.weighted(weights)
    (part @ dense).square().sum().backward()
    # Σ (w_ij² + w_ji²) has the derivative 4 w.
    torch.testing.assert_close(weights.grad, 4 * weights.detach())


@pytest.mark.parametrize("loops", [0.3, 1.0, 10.0])
@pytest.mark.parametrize("normalisation", ["symmetric", "row"])
def test_without_weights_it_is_the_usual_propagation(graph, normalisation, loops):
    usual = GraphTensors(graph).propagation(propagation_name(normalisation, loops)) @ torch.eye(9)
    looped, pairs = looped_adjacency(graph.adjacency, loops=loops), free_pairs(graph)
    nothing = pairs.weighted(torch.zeros(len(pairs)))
    for parts in ([], [nothing]):
        torch.testing.assert_close(WeightedGraph(looped, parts, normalisation, loops) @ torch.eye(9), usual)


def test_two_parts_are_one_graph(graph):
    pairs, looped = free_pairs(graph), looped_adjacency(graph.adjacency)
    first, second = pairs.first.numpy(), pairs.second.numpy()
    weights = torch.linspace(0.1, 1, len(pairs))
    halves = [
        Pairs(first[part], second[part], 9).weighted(weights[part]) for part in (slice(0, 5), slice(5, len(pairs)))
    ]
    whole = WeightedGraph(looped, [pairs.weighted(weights)]) @ torch.eye(9)
    torch.testing.assert_close(WeightedGraph(looped, halves) @ torch.eye(9), whole)


def test_neighbour_mean_by_hand(graph):
    pairs = free_pairs(graph)
    weights = torch.linspace(0.2, 1.5, len(pairs))
    for used in (weights, torch.zeros_like(weights)):
        full = graph.adjacency.toarray().astype(np.float64)
        for i, j, w in zip(pairs.first.tolist(), pairs.second.tolist(), used.tolist(), strict=True):
            full[i, j] = full[j, i] = w
        total = full.sum(axis=1, keepdims=True)
        expected = np.divide(full, total, out=np.zeros_like(full), where=total > 0)
        for loops in (1.0, 3.0):
            looped = looped_adjacency(graph.adjacency, loops=loops)
            mean = WeightedGraph(looped, [pairs.weighted(used)], loops=loops).neighbour_mean(torch.eye(9))
            np.testing.assert_allclose(mean.numpy(), expected, atol=1e-6)


def test_new_pairs_are_new(tiny_graph):
    first, second = np.array([0, 1, 4, 6, 6, 0, 5, 2]), np.array([1, 0, 4, 0, 0, 6, 2, 5])
    pairs = new_pairs(first, second, tiny_graph.adjacency)
    assert list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)) == [(0, 6), (2, 5)]


def test_pairs_are_built_again_only_when_their_buffer_changes():
    built = []

    def build():
        built.append(1)
        return Pairs(np.array([0]), np.array([1]), 2)

    cache, key = PairCache(), torch.tensor([1, 2])
    assert cache.get(key, build) is cache.get(key.clone(), build)
    key[0] = 5  # in place, as loading a state does
    cache.get(key, build)
    assert len(built) == 2
