"""Evidence by brute force."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.audit.evidence import embeddings, neighbour_labels, prototype_similarity
from lnp.methods.batch import full_batch
from lnp.methods.registry import METHODS, create_method, make_config
from lnp.seeds import Seeds


def test_neighbours_are_counted_one_by_one(toy_task) -> None:
    given, graph = toy_task.observed.given, toy_task.graph
    nodes = np.array([5, 3, 59, 0])
    found = neighbour_labels(graph, given, nodes)
    dense = graph.adjacency.toarray()
    for row, node in enumerate(nodes):
        for k in range(3):
            assert found[row, k] == sum(dense[node, j] > 0 and given[j] == k for j in range(60))
    assert found.sum() < (dense[nodes] > 0).sum()  # some neighbours have no label


def test_weights_of_edges_do_not_count(tiny_graph) -> None:
    heavy = type(tiny_graph).from_edges(
        tiny_graph.edges, tiny_graph.features, class_count=3, weights=np.full(tiny_graph.edge_count, 2.5)
    )
    given = np.array([0, 0, 0, 1, 1, 2, -1])
    expected = [[2, 0, 0], [2, 0, 0], [2, 1, 0], [1, 1, 1], [0, 1, 1], [0, 2, 0], [0, 0, 0]]
    assert neighbour_labels(heavy, given, np.arange(7)).tolist() == expected


def test_cosines_with_weighted_means() -> None:
    generator = np.random.default_rng(0)
    vectors, weights = generator.standard_normal((9, 4)), generator.random(9)
    given = np.array([0, 0, 0, 1, 1, 1, -1, -1, 1])
    nodes = np.array([8, 6, 0])
    found = prototype_similarity(vectors, given, weights, nodes, 3)
    for k in (0, 1):
        members = np.flatnonzero(given == k)
        prototype = sum(weights[i] * vectors[i] for i in members) / weights[members].sum()
        for row, node in enumerate(nodes):
            lengths = np.linalg.norm(vectors[node]) * np.linalg.norm(prototype)
            assert found[row, k] == pytest.approx(vectors[node] @ prototype / lengths)
    assert np.isnan(found[:, 2]).all()


def test_a_vector_without_length_is_like_nothing() -> None:
    found = prototype_similarity(np.array([[1.0, 0], [0, 0]]), np.array([0, -1]), np.ones(2), np.array([0, 1]), 1)
    assert found.tolist() == [[1.0], [0.0]]


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_has_embeddings(toy_task, name: str) -> None:
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    method = create_method(name, make_config(name, {"hidden": 8}), batch, Seeds(0).generator("initialisation"))
    probabilities = torch.full((60, 3), 1 / 3)
    vectors = embeddings(method, batch, probabilities)
    assert vectors.shape[0] == 60
    assert torch.isfinite(vectors).all()


def test_the_network_that_predicts_is_asked(toy_task) -> None:
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    method = create_method("glc", make_config("glc", {"hidden": 8}), batch, Seeds(0).generator("initialisation"))
    method.eval()
    vectors = embeddings(method, batch, torch.full((60, 3), 1 / 3))
    torch.testing.assert_close(vectors, method.phases.classifier.embed(batch.graph))
    without = create_method("label-propagation", make_config("label-propagation"), batch, Seeds(0).generator("x"))
    chances = torch.tensor([[0.5, 0.25, 0.25]]).repeat(60, 1)
    torch.testing.assert_close(embeddings(without, batch, chances), chances.log())
