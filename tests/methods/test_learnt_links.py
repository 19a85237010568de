"""What NRGNN and RTGNN share."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.errors import ConfigError
from lnp.methods.batch import Batch, full_batch
from lnp.methods.learnt_links import LearnsLinks, LearntLinksConfig, listed_pairs
from lnp.methods.nrgnn import NRGNN, NRGNNConfig
from lnp.methods.rtgnn import RTGNN, RTGNNConfig
from lnp.nn.weighted_graph import Pairs
from lnp.seeds import Seeds


@pytest.fixture
def batch(toy_task) -> Batch:  # type: ignore[no-untyped-def]
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)


def build(batch: Batch, **options: float) -> LearnsLinks:
    return NRGNN(NRGNNConfig(hidden=8, edge_hidden=8, **options), batch, Seeds(0).generator("initialisation"))


def dense(batch: Batch) -> np.ndarray:
    return batch.graph.graph.adjacency.toarray()


def test_listed_pairs_are_those_of_the_table_without_edges_and_without_nobody(batch: Batch) -> None:
    adjacency = dense(batch)
    neighbour = int(adjacency[0].argmax())
    stranger = int(np.flatnonzero((adjacency[0] == 0) & (np.arange(len(adjacency)) > 0))[0])
    table = torch.full((batch.node_count, 3), -1, dtype=torch.int32)
    table[0] = torch.tensor([neighbour, stranger, -1])
    pairs = listed_pairs(table, batch)
    assert len(pairs) == 1
    vectors = torch.zeros(batch.node_count, 1)
    vectors[0], vectors[stranger] = 2.0, 3.0
    assert pairs.dots(vectors).tolist() == [6.0]  # of all nodes only these two have one


def test_a_graph_without_further_links_is_s(batch: Batch) -> None:
    nobody = Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), batch.node_count, batch.graph.device)
    method = build(batch, loop_weight=3.0)
    graph = method.with_links(batch, method.weigh(nobody, torch.ones(batch.node_count, 2)))
    looped = dense(batch) + 3 * np.eye(batch.node_count)
    root = 1 / np.sqrt(looped.sum(axis=1))
    expected = root[:, None] * looped * root
    np.testing.assert_allclose((graph @ torch.eye(batch.node_count)).numpy(), expected, atol=1e-6)


def test_weights_below_the_threshold_are_no_links(batch: Batch) -> None:
    adjacency = dense(batch)
    stranger = int(np.flatnonzero((adjacency[0] == 0) & (np.arange(len(adjacency)) > 0))[0])
    pair = Pairs(np.array([0]), np.array([stranger]), batch.node_count, batch.graph.device)
    method = build(batch, link_threshold=0.5)
    plain = method.with_links(batch) @ torch.eye(batch.node_count)
    for product, linked in ((0.4, False), (0.6, True)):
        vectors = torch.full((batch.node_count, 1), product**0.5)
        weighted = method.with_links(batch, method.weigh(pair, vectors)) @ torch.eye(batch.node_count)
        assert bool(weighted[0, stranger] > 0) is linked
        assert torch.equal(weighted, plain) is not linked


def test_the_edge_term_is_the_weighted_loss_of_edges_and_of_so_many_non_edges_per_node(batch: Batch) -> None:
    method, vectors = build(batch, edge_term=0.7, negatives=5), torch.randn(batch.node_count, 4)
    n, linked = batch.node_count, torch.from_numpy(np.triu(dense(batch), 1)).bool()
    dots, apart = vectors @ vectors.T, torch.ones(n, n).triu(1).bool() & ~linked
    sums = (dots[linked] - 1).square().sum() + 5 / n * dots[apart].square().sum()
    expected = 0.7 * sums * n / (linked.sum() + 5 / n * apart.sum())
    assert method.edge_terms(batch, vectors)["edges"].item() == pytest.approx(expected.item(), rel=1e-5)
    assert build(batch, edge_term=0).edge_terms(batch, vectors) == {}


def test_what_belongs_to_a_graph_is_built_anew_for_another(batch: Batch, toy_task) -> None:  # type: ignore[no-untyped-def]
    method = build(batch)
    before = method.with_links(batch) @ torch.eye(batch.node_count)
    graph = toy_task.graph
    fewer = type(graph).from_edges(np.stack(graph.edges)[:, 1:], graph.features, class_count=graph.class_count)
    other = full_batch(fewer, toy_task.observed, toy_task.split.train)
    after = method.with_links(other) @ torch.eye(batch.node_count)
    changed = (before != after).any(dim=1).nonzero().squeeze(1).tolist()
    touched = {int(end) for end in np.stack(graph.edges)[:, 0]}
    assert touched <= set(changed)
    assert len(changed) < batch.node_count


@pytest.mark.parametrize(("config", "name"), [(NRGNNConfig, "NRGNN"), (RTGNNConfig, "RTGNN")])
def test_what_has_no_place_is_refused_by_name(config: type[LearntLinksConfig], name: str) -> None:
    with pytest.raises(ConfigError, match=f"`backbone` to be gcn, which {name} is made for, but got 'mlp'"):
        config(backbone="mlp")
    with pytest.raises(ConfigError, match=rf"`similar_weight` to be 0 \({name} learns its links\), but got 2"):
        config(similar_weight=2)
    with pytest.raises(ConfigError, match=r"`edge_term` .*-0\.5"):
        config(edge_term=-0.5)
    with pytest.raises(ConfigError, match="`negatives` to be at least 0, but got -1"):
        config(negatives=-1)
    with pytest.raises(ConfigError, match="`edge_hidden` to be at least 1, but got 0"):
        config(edge_hidden=0)


def test_only_rtgnn_has_vectors_of_length_one(batch: Batch) -> None:
    rtgnn = RTGNN(RTGNNConfig(hidden=8, edge_hidden=8), batch, Seeds(0).generator("initialisation")).eval()
    lengths = rtgnn.edge_predictor(batch.graph).norm(dim=1)
    torch.testing.assert_close(lengths, torch.ones_like(lengths))
    assert not torch.allclose(build(batch).eval().edge_predictor(batch.graph).norm(dim=1), lengths)
