"""Which labels are the better teachers: against asking node by node, and on graphs where the answer is known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import Batch, full_batch
from lnp.methods.lnp.label_odds import label_odds
from lnp.nn.hops import HopRows, build_hops
from lnp.seeds import Seeds

CLASSES = 4


def pairs(
    right: float, *, flipped: bool = False, spread: float = 2.0, nodes: int = 1200, per_class: int = 6, seed: int = 0
) -> Batch:
    """Pairs of nodes of one class, features around the class (the wider spread, the less they tell), given labels.

    A share of the given labels is right; the others are the next class, or any class at random.
    """
    rng = Seeds(seed).generator("belief")
    truth = np.arange(nodes) % CLASSES
    features = rng.normal(size=(nodes, 8)).astype(np.float32) * np.float32(spread)
    features[np.arange(nodes), truth] += 3
    grid = np.arange(nodes).reshape(-1, 2 * CLASSES)
    first, second = grid[:, :CLASSES].ravel(), grid[:, CLASSES:].ravel()
    wrong = (truth + 1) % CLASSES if flipped else rng.integers(0, CLASSES, nodes)
    given = np.where(rng.random(nodes) < right, truth, wrong)
    trusted = np.isin(np.arange(nodes), first[: CLASSES * per_class])  # no two of them a pair
    graph = Graph.from_edges(np.stack([first, second]), features, class_count=CLASSES)
    observed = ObservedLabels(np.where(trusted, truth, given), trusted, class_count=CLASSES)
    return full_batch(graph, observed, np.arange(nodes))


def by_asking(batch: Batch, asked: list[int] | None = None) -> float:
    """The definition, one node at a time with dense matrices; who learnt T_C is asked about these of it, or all."""
    adjacency = batch.graph.graph.adjacency.toarray() + np.eye(batch.node_count)
    smooth = adjacency / adjacency.sum(axis=1, keepdims=True)
    features = batch.graph.graph.features
    rows = smooth @ smooth @ (features.toarray() if sp.issparse(features) else features)
    rows = rows - rows[batch.noisy.numpy()].mean(axis=0)
    rows = np.stack([row / max(np.linalg.norm(row), 1e-12) for row in rows])

    def judge(node: int, learnt: torch.Tensor) -> int:
        best, answer = -math.inf, -1
        for one in range(batch.class_count):
            members = [i for i in learnt.tolist() if batch.given[i] == one and i != node]
            if members:
                mean = rows[members].sum(axis=0)
                cosine = float(rows[node] @ mean / max(np.linalg.norm(mean), 1e-12))
                best, answer = (cosine, one) if cosine > best else (best, answer)
        return answer

    def odds(learnt: torch.Tensor, nodes: list[int]) -> float:
        hits = sum(judge(node, learnt) == int(batch.given[node]) for node in nodes)
        return (hits + 1) / (len(nodes) - hits + 1)

    trusted = batch.trusted.tolist()
    return min(odds(batch.noisy, trusted) / odds(batch.trusted, trusted if asked is None else asked), 1.0)


@pytest.mark.parametrize("right", [0.1, 0.4, 0.9])
@pytest.mark.parametrize("flipped", [True, False])
@pytest.mark.parametrize("spread", [2.0, 6.0])
def test_equals_the_definition_asked_out(right: float, flipped: bool, spread: float) -> None:
    batch = pairs(right, flipped=flipped, spread=spread, nodes=160)
    assert label_odds(batch) == pytest.approx(by_asking(batch), abs=1e-9)


def test_equals_the_definition_on_sparse_features(batch) -> None:  # type: ignore[no-untyped-def]
    features = sp.csr_array(np.maximum(np.asarray(batch.graph.graph.features), 0))
    sparse = replace(batch, graph=type(batch.graph)(batch.graph.graph.with_features(features)))
    assert label_odds(sparse) == pytest.approx(by_asking(sparse), abs=1e-9)


@pytest.mark.parametrize("right", [0.4, 0.7, 1.0])
def test_labels_whose_errors_cancel_out_are_the_better_teachers(right: float) -> None:
    """Wrong labels of all classes: a class mean over hundreds of them is as good as one over six trusted nodes."""
    assert np.mean([label_odds(pairs(right, nodes=2400, seed=seed)) for seed in range(8)]) > 0.85


@pytest.mark.parametrize(("right", "low", "high"), [(0.2, 0, 0.1), (0.35, 0, 0.25), (0.7, 0.75, 1), (0.9, 0.85, 1)])
def test_labels_that_are_mostly_one_wrong_class_teach_it(right: float, low: float, high: float) -> None:
    found = [label_odds(pairs(right, flipped=True, nodes=2400, seed=seed)) for seed in range(8)]
    assert low <= np.mean(found) <= high


def test_where_the_graph_tells_nothing_nothing_is_held_against_the_labels() -> None:
    """Both judges guess: the mean over draws is far from the 0.03 that the same labels have where features tell."""
    found = [label_odds(pairs(0.1, flipped=True, spread=1000.0, seed=seed)) for seed in range(20)]
    assert np.mean(found) > 0.6


def test_only_some_nodes_of_a_large_set_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = pairs(0.45, flipped=True, nodes=4800, per_class=100)
    monkeypatch.setattr("lnp.methods.lnp.label_odds.MOST", 4400)
    whole = label_odds(batch)
    monkeypatch.setattr("lnp.methods.lnp.label_odds.MOST", 401)  # no multiple of the number of classes
    monkeypatch.setattr("lnp.methods.lnp.label_odds.EACH", 100)
    some = label_odds(batch)
    assert some != whole
    assert some == pytest.approx(whole, abs=0.25)
    monkeypatch.setattr("lnp.methods.lnp.label_odds.EACH", 1100)  # 4,400 noisy nodes of four classes: all of them
    assert label_odds(batch) == whole


def test_without_labels_there_is_nothing_to_doubt() -> None:
    batch = pairs(0.1, flipped=True)
    assert label_odds(replace(batch, noisy=batch.noisy[:0])) == 1.0
    assert label_odds(replace(batch, trusted=batch.trusted[:0])) == 1.0


def test_a_class_with_one_trusted_node_is_no_miss_of_the_judge() -> None:
    """Left out of its own class the node leaves nothing to be recognised by: who learnt T_C is not asked about it."""
    batch = pairs(0.2, flipped=True, nodes=160, spread=4.0)
    labels = batch.given[batch.trusted]
    others = batch.trusted[labels < 3]
    alone = replace(batch, trusted=torch.cat([others, batch.trusted[labels == 3][:1]]))
    assert label_odds(alone) == pytest.approx(by_asking(alone, others.tolist()), abs=1e-9)
    assert label_odds(alone) != pytest.approx(by_asking(alone), abs=1e-3)
    one_each = replace(batch, trusted=torch.stack([batch.trusted[labels == k][0] for k in range(CLASSES)]))
    assert label_odds(one_each) == pytest.approx(
        by_asking(one_each, []), abs=1e-9
    )  # as if it were right every other time


def test_stored_hops_give_the_same_answer() -> None:
    batch = pairs(0.3, flipped=True, spread=4.0)
    graph = batch.graph.graph
    features = torch.as_tensor(np.asarray(graph.features))
    hops = [features, *(torch.as_tensor(one) for one in build_hops(graph, "row", 2, torch.device("cpu")))]
    stored = replace(batch, graph=HopRows(torch.stack(hops), "row"))
    assert label_odds(stored) == pytest.approx(label_odds(batch), abs=1e-6)
    assert label_odds(stored) < 0.5
