"""Whether labels mean what they say: against asking node by node, and on graphs where the answer is known."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import Batch, full_batch
from lnp.methods.lnp.label_odds import label_odds, names_ratio
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
    """The definition, one node at a time with dense matrices, and every renaming of classes and labels tried.

    Who learnt T_C is asked about these nodes of it, or about all.
    """
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
    teachers = odds(batch.noisy, trusted) / odds(batch.trusted, trusted if asked is None else asked)
    seen = [(judge(node, batch.trusted), int(batch.given[node])) for node in batch.noisy.tolist()]
    return min(teachers * by_renaming(seen, batch.class_count) ** 3, 1.0)


def by_renaming(seen: list[tuple[int, int]], class_count: int, enough: float = 10) -> float:
    """B, with every renaming of classes and of labels tried."""
    golden, classes = (math.sqrt(5) - 1) / 2, range(class_count)
    halves = [[pair for i, pair in enumerate(seen) if (i * golden % 1 < 0.5) == first] for first in (True, False)]

    def beyond_chance(half: list[tuple[int, int]], judged: int, given: int) -> float:
        taken = sum(k == judged for k, _ in half)
        named = sum(j == given for _, j in half)
        return half.count((judged, given)) - taken * named / len(half)

    def best(half: list[tuple[int, int]], other: list[tuple[int, int]], *, by_class: bool) -> float:
        """What the best renaming of one half has in common with the judge on the other."""

        def value(on: list[tuple[int, int]], names: tuple[int, ...]) -> float:
            pairs = enumerate(names) if by_class else ((to, one) for one, to in enumerate(names))
            return sum(beyond_chance(on, judged, given) for judged, given in pairs)

        return value(other, max(product(classes, repeat=class_count), key=lambda names: value(half, names)))

    as_they_are = sum(beyond_chance(half, k, k) for half in halves for k in classes)
    chance = math.sqrt(
        sum(sum(k == c for k, _ in half) * sum(j == c for _, j in half) / len(half) for half in halves for c in classes)
    )
    one, other = halves
    renamed = min(best(one, other, by_class=way) + best(other, one, by_class=way) for way in (True, False))
    return max(as_they_are + 3 * chance, 0) / (renamed + 3 * chance) if renamed > enough * chance else 1.0


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
def test_labels_whose_errors_cancel_out_mean_what_they_say(right: float) -> None:
    """Wrong labels of all classes: no other name fits a class better than its own."""
    assert np.mean([label_odds(pairs(right, nodes=2400, seed=seed)) for seed in range(8)]) > 0.97


@pytest.mark.parametrize(("right", "low", "high"), [(0.2, 0, 0.01), (0.35, 0, 0.05), (0.7, 0.75, 1), (0.9, 0.85, 1)])
def test_labels_that_are_mostly_one_wrong_class_mean_another(right: float, low: float, high: float) -> None:
    found = [label_odds(pairs(right, flipped=True, nodes=2400, seed=seed)) for seed in range(8)]
    assert low <= np.mean(found) <= high


def test_names_fit_as_right_labels_to_those_of_the_wrong_name_with_a_perfect_judge() -> None:
    """Of classes of one size a share r keeps its label, the others get the next: B is r − 1/c : 1 − r − 1/c."""
    rng = Seeds(0).generator("belief")
    judged = rng.integers(0, CLASSES, 400_000)
    given = np.where(rng.random(judged.size) < 0.4, judged, (judged + 1) % CLASSES)
    chance = 3 / math.sqrt(CLASSES * judged.size)
    expected = (0.4 - 1 / CLASSES + chance) / (0.6 - 1 / CLASSES + chance)
    assert names_ratio(judged, given, CLASSES) == pytest.approx(expected, abs=0.02)


def test_a_judge_that_takes_a_large_class_for_a_small_one_does_not_speak_against_the_labels() -> None:
    """Nine in ten nodes are of class 0; a third of them are taken for class 1, whose own nodes are fewer than these."""
    rng = Seeds(1).generator("belief")
    truth = (rng.random(5000) < 0.1).astype(np.int64)
    judged = np.where((truth == 0) & (rng.random(5000) < 1 / 3), 1, truth)
    third = rng.random(5000) < 0.2  # of both classes, always recognised
    judged[third], truth[third] = 2, 2
    assert names_ratio(judged, truth, 3) > 0.95


def test_where_the_graph_tells_nothing_little_is_held_against_the_labels() -> None:
    """Both judges guess, and alike for the two nodes of a pair: the mean over draws is that of chance on both sides."""
    found = [label_odds(pairs(0.5, spread=1000.0, seed=seed)) for seed in range(20)]
    assert np.mean(found) > 0.6


def test_a_judge_that_guesses_is_not_compared() -> None:
    rng = Seeds(2).generator("belief")
    assert all(names_ratio(*rng.integers(0, CLASSES, (2, 2000)), CLASSES) == 1.0 for _ in range(50))


@pytest.mark.parametrize("enough", [0, 3, 10])
def test_how_much_must_be_in_common_to_be_compared(enough: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Judges that know ever more of 300 labels, seven in ten of which say the next class: the definition throughout."""
    monkeypatch.setattr("lnp.methods.lnp.label_odds.ENOUGH", enough)
    rng = Seeds(3).generator("belief")
    truth = rng.integers(0, 3, 300)
    given = np.where(rng.random(300) < 0.3, truth, (truth + 1) % 3)
    found = set()
    for known in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        judged = np.where(rng.random(300) < known, truth, rng.integers(0, 3, 300))
        seen = list(zip(judged.tolist(), given.tolist(), strict=True))
        found.add(ratio := names_ratio(judged, given, 3))
        assert ratio == pytest.approx(by_renaming(seen, 3, enough), abs=1e-9)
    assert 1.0 in found or enough == 0
    assert min(found) < 0.4


@pytest.mark.parametrize("period", [2, 3, 4])
def test_the_order_of_the_nodes_does_not_matter(period: int) -> None:
    """Halves of every other node would have other classes each where classes take turns."""
    judged = np.arange(6000) % period
    assert names_ratio(judged, judged, period) == 1.0
    assert names_ratio(judged, (judged + 1) % period, period) < 0.1


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
    assert names_ratio(np.array([0]), np.array([1]), CLASSES) == 1.0


def test_a_class_with_one_trusted_node_is_no_miss_of_the_judge() -> None:
    """Left out of its own class the node leaves nothing to be recognised by: who learnt T_C is not asked about it."""
    batch = pairs(0.2, flipped=True, nodes=160, spread=4.0)
    labels = batch.given[batch.trusted]
    others = batch.trusted[labels < 3]
    alone = replace(batch, trusted=torch.cat([others, batch.trusted[labels == 3][:1]]))
    assert label_odds(alone) == pytest.approx(by_asking(alone, others.tolist()), abs=1e-9)
    assert label_odds(alone) != pytest.approx(by_asking(alone), abs=1e-4)


def test_stored_hops_give_the_same_answer() -> None:
    batch = pairs(0.3, flipped=True, spread=4.0)
    graph = batch.graph.graph
    features = torch.as_tensor(np.asarray(graph.features))
    hops = [features, *(torch.as_tensor(one) for one in build_hops(graph, "row", 2, torch.device("cpu")))]
    stored = replace(batch, graph=HopRows(torch.stack(hops), "row"))
    assert label_odds(stored) == pytest.approx(label_odds(batch), abs=1e-6)
    assert label_odds(stored) < 0.8
