from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.nn.edge_predictor import EdgePredictor, edge_loss, link_weights
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.weighted_graph import Pairs
from lnp.seeds import Seeds


def all_pairs(nodes, linked):
    first, second = np.triu_indices(nodes, 1)
    edge = linked(first, second)
    return Pairs(first[edge], second[edge], nodes)


def test_loss_is_zero_on_cliques_with_orthogonal_unit_vectors():
    edges = all_pairs(9, lambda i, j: i // 3 == j // 3)
    vectors = torch.eye(3).repeat_interleave(3, dim=0)
    assert edge_loss(vectors, edges, 81).item() == 0
    assert edge_loss(vectors.roll(1, dims=0), edges, 81).item() > 0


def test_loss_by_hand():
    edges = Pairs(np.array([0]), np.array([1]), 3)
    vectors = torch.tensor([[1.0, 0.0], [3.0, 1.0], [2.0, 2.0]])
    # Nine draws of nine ordered pairs: each non-edge once. Dots 3 on the edge, 2 and 8 off it: (4 + 4 + 64) · 3 / 3
    assert edge_loss(vectors, edges, 9).item() == pytest.approx(72)
    # No draw, no non-edges.
    assert edge_loss(vectors, edges, 0).item() == pytest.approx(12)


def test_loss_and_gradient_are_those_of_the_mean_over_draws(random_graph):
    """Every ordered pair is as likely as any other: by enumeration of all pairs, in double precision."""
    graph, n, draws = random_graph(nodes=14), 14, 90
    vectors = torch.randn(n, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    edges = Pairs(*graph.edges, n)
    adjacency = graph.adjacency.toarray()
    linked, apart, count = [], [], 0.0
    for i in range(n):
        for j in range(i + 1, n):
            dot = vectors[i] @ vectors[j]
            if adjacency[i, j]:
                linked.append((dot - 1) ** 2)
            else:
                apart.append(draws / n**2 * dot**2)
                count += draws / n**2
    expected = (torch.stack(linked).sum() + torch.stack(apart).sum()) * n / (len(linked) + count)
    (found_gradient,) = torch.autograd.grad(edge_loss(vectors, edges, draws), vectors)
    (expected_gradient,) = torch.autograd.grad(expected, vectors)
    assert edge_loss(vectors, edges, draws).item() == pytest.approx(expected.item(), rel=1e-12)
    torch.testing.assert_close(found_gradient, expected_gradient, rtol=1e-10, atol=1e-12)


def test_loss_is_what_drawn_non_edges_give_on_average(random_graph):
    graph, n, rounds, draws = random_graph(nodes=12), 12, 4000, 60
    vectors = torch.randn(n, 3, generator=torch.Generator().manual_seed(1))
    dots, generator = (vectors @ vectors.T).numpy(), np.random.default_rng(0)
    first, second = generator.integers(0, n, size=(2, rounds, draws))
    counted = (first < second) & (graph.adjacency.toarray()[first, second] == 0)
    sums = np.where(counted, dots[first, second] ** 2, 0).sum(axis=1)
    edges = Pairs(*graph.edges, n)
    linked = ((edges.dots(vectors) - 1) ** 2).sum().item()
    found = edge_loss(vectors, edges, draws).item() * (len(edges) + counted.sum(axis=1).mean()) / n - linked
    assert found == pytest.approx(sums.mean(), abs=5 * sums.std() / np.sqrt(rounds))


def test_loss_of_a_graph_without_edges():
    nobody = Pairs(np.zeros(0, int), np.zeros(0, int), 4)
    assert edge_loss(torch.eye(4), nobody, 16).item() == 0
    assert edge_loss(torch.ones(4, 1), nobody, 16).item() == pytest.approx(4)  # every pair has dot 1, times n


def test_weights_are_zero_or_at_least_the_threshold(random_graph):
    graph = random_graph(nodes=20)
    predictor = EdgePredictor(5, 8, Seeds(0).generator("initialisation"))
    predictor.eval()
    vectors = predictor(GraphTensors(graph)).detach()
    s = link_weights(vectors @ vectors.T, 0.25)
    torch.testing.assert_close(s, s.T)
    assert ((s == 0) | (s >= 0.25)).all()
    assert 0 < (s > 0).sum() < s.numel()
    # Above the threshold the weight is the dot product itself.
    torch.testing.assert_close(s[s > 0], (vectors @ vectors.T)[s > 0])


def test_unit_length(random_graph):
    predictor = EdgePredictor(5, 8, Seeds(0).generator("initialisation"), unit_length=True)
    predictor.eval()
    lengths = predictor(GraphTensors(random_graph())).norm(dim=1)
    connected = lengths > 0.5
    torch.testing.assert_close(lengths[connected], torch.ones(int(connected.sum())))
    assert connected.sum() >= 11  # all but perhaps the isolated node
