"""Networks on parts against networks on the whole graph, and sampled matrices against the exact ones on average."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from lnp.graph.graph import Graph
from lnp.nn.backbone import BackboneSpec
from lnp.nn.graph_part import GraphPart, Scales
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.propagation import PROPAGATIONS, propagation_matrix
from lnp.nn.registry import build_backbone
from lnp.nn.sampling import NeighbourSampler
from lnp.seeds import Seeds

NODES = 40


def make_graph(*, sparse: bool = False) -> Graph:
    """40 nodes with weighted edges; the last two are isolated."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(NODES, 6)) * (rng.random((NODES, 6)) < 0.4)
    return Graph.from_edges(
        rng.integers(0, NODES - 2, (2, 60)),
        sp.csr_array(features) if sparse else features,
        class_count=3,
        weights=rng.uniform(0.5, 2, 60),
    )


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("backbone", "layers", "options"),
    [
        ("gcn", 2, {"normalisation": "symmetric"}),
        ("gcn", 3, {"normalisation": "row"}),
        ("gcn", 2, {"normalisation": "symmetric", "loop_weight": 10.0}),
        ("gcn", 2, {"normalisation": "row", "loop_weight": 0.3}),
        ("h2gcn", 1, {}),
        ("h2gcn", 2, {}),
        ("h2gcn", 2, {"self_in_two_hop": True}),
    ],
)
def test_with_all_neighbours_own_rows_are_those_of_the_whole_graph(backbone, layers, options, sparse) -> None:  # type: ignore[no-untyped-def]
    graph = make_graph(sparse=sparse)
    spec = BackboneSpec(inputs=6, outputs=3, hidden=5, layers=layers, **options)
    network = build_backbone(backbone, spec, Seeds(0).generator("initialisation")).eval()
    whole = network(GraphTensors(graph))
    sampler = NeighbourSampler(graph.adjacency, [None] * layers, two_hop=backbone == "h2gcn")
    scales = Scales(graph)
    for own in np.array_split(np.random.default_rng(1).permutation(NODES), 6):
        part = GraphPart(graph, scales, sampler.sample(own, Seeds(0).generator("s")))
        torch.testing.assert_close(network(part)[: own.size], whole[own], rtol=1e-5, atol=1e-6)


def test_gradients_of_all_parts_add_up_to_that_of_the_whole_graph() -> None:
    graph = make_graph()
    spec = BackboneSpec(inputs=6, outputs=3, hidden=5, layers=3, dropout=0.0)
    network = build_backbone("gcn", spec, Seeds(0).generator("initialisation")).eval()
    network(GraphTensors(graph)).square().sum().backward()
    expected = [parameter.grad.clone() for parameter in network.parameters()]
    network.zero_grad()
    sampler, scales = NeighbourSampler(graph.adjacency, [None] * 3), Scales(graph)
    for own in np.array_split(np.arange(NODES), 4):
        part = GraphPart(graph, scales, sampler.sample(own, Seeds(0).generator("s")))
        network(part)[: own.size].square().sum().backward()
    for parameter, gradient in zip(network.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", PROPAGATIONS)
def test_sampled_propagation_is_right_on_average(kind: str) -> None:
    graph, draws = make_graph(), 500
    generator, scales = Seeds(0).generator("sampling"), Scales(graph)
    sampler = NeighbourSampler(graph.adjacency, [2], two_hop=kind.startswith("two-hop"))
    values = torch.from_numpy(np.random.default_rng(2).normal(size=(NODES, 2)).astype(np.float32))
    exact = propagation_matrix(graph.adjacency, kind) @ values.numpy()
    own = np.arange(NODES)
    found = []
    for _ in range(draws):
        sampled = sampler.sample(own, generator)
        found.append((GraphPart(graph, scales, sampled).propagation(kind) @ values[sampled.nodes])[:NODES].numpy())
    mean, error = np.mean(found, axis=0, dtype=np.float64), np.std(found, axis=0, dtype=np.float64) / np.sqrt(draws)
    assert (error > 1e-3).any()  # something is left to chance
    assert (np.abs(mean - exact) <= 5 * error + 1e-5).all()


def test_known_first_products_take_the_place_of_the_outermost_hop() -> None:
    graph = make_graph()
    spec = BackboneSpec(inputs=6, outputs=3, hidden=5, layers=2)
    network = build_backbone("gcn", spec, Seeds(0).generator("initialisation")).eval()
    tensors = GraphTensors(graph)
    first = tensors.propagation("symmetric") @ tensors.features
    own = np.array([8, 3, 39])
    sampled = NeighbourSampler(graph.adjacency, [None]).sample(own, Seeds(0).generator("s"))
    part = GraphPart(graph, Scales(graph), sampled, first=first[torch.from_numpy(sampled.nodes)])
    torch.testing.assert_close(network(part)[:3], network(tensors)[own], rtol=1e-5, atol=1e-6)


def test_more_propagations_than_hops_are_refused() -> None:
    graph = make_graph()
    sampled = NeighbourSampler(graph.adjacency, [1]).sample(np.array([0, 1]), Seeds(0).generator("s"))
    part = GraphPart(graph, Scales(graph), sampled)
    product = part.propagation("row") @ torch.ones(part.node_count, 1)
    weights, counts = graph.adjacency.sum(axis=1)[:2], np.diff(graph.adjacency.indptr)[:2]
    drawn = graph.adjacency.toarray()[[0, 1], sampled.nodes[sampled.one_hop.columns]]  # one neighbour stands for all
    np.testing.assert_allclose(product.squeeze(1), (1 + counts * drawn) / (1 + weights), rtol=1e-5)
    with pytest.raises(ValueError, match="cannot propagate 2 rows"):
        part.propagation("row") @ product
    with pytest.raises(ValueError, match="without two-hop sets"):
        part.propagation("two-hop")
