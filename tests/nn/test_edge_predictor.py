from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.nn.edge_predictor import EdgePredictor, edge_loss, link_weights, sample_non_edges
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.weighted_graph import Pairs
from lnp.seeds import Seeds


def all_pairs(nodes, linked):
    first, second = np.triu_indices(nodes, 1)
    edge = linked(first, second)
    return Pairs(first[edge], second[edge], nodes), Pairs(first[~edge], second[~edge], nodes)


def test_loss_is_zero_on_cliques_with_orthogonal_unit_vectors():
    edges, non_edges = all_pairs(9, lambda i, j: i // 3 == j // 3)
    vectors = torch.eye(3).repeat_interleave(3, dim=0)
    assert edge_loss(vectors, edges, non_edges).item() == 0
    assert edge_loss(vectors.roll(1, dims=0), edges, non_edges).item() > 0


def test_loss_by_hand():
    edges, non_edges = Pairs(np.array([0]), np.array([1]), 3), Pairs(np.array([0, 1]), np.array([2, 2]), 3)
    vectors = torch.tensor([[1.0, 0.0], [3.0, 1.0], [2.0, 2.0]])
    # dots 3 on the edge, 2 and 8 off it: (4 + 4 + 64) · 3 / 3
    assert edge_loss(vectors, edges, non_edges).item() == pytest.approx(72)


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


def test_non_edges_are_every_non_edge_equally_often(random_graph):
    graph = random_graph(nodes=8)
    first, second = sample_non_edges(graph.adjacency, 64_000, np.random.default_rng(0))
    assert (first < second).all()
    counts = np.zeros((8, 8))
    np.add.at(counts, (first, second), 1)
    free = np.triu(graph.adjacency.toarray() == 0, 1)
    assert counts[~free].sum() == 0
    assert (np.abs(counts[free] - 1000) < 5 * np.sqrt(1000)).all()


def test_non_edges_of_a_graph_without_edges(tiny_graph):
    empty = type(tiny_graph).from_edges(np.zeros((2, 0), int), np.eye(4), class_count=2)
    first, _ = sample_non_edges(empty.adjacency, 160, np.random.default_rng(0))
    assert 30 < first.size < 90
