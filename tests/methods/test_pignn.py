from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from lnp.engine.fit import fit
from lnp.engine.selection import Selection, select_last
from lnp.errors import ConfigError
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.losses.cross_entropy import cross_entropy
from lnp.losses.pairwise import ConnectedPairs, pairwise_loss
from lnp.methods import pignn
from lnp.methods.batch import Batch, full_batch
from lnp.methods.pignn import PIGNN, PIGNNConfig
from lnp.seeds import Seeds

TRAIN = np.r_[np.arange(20), 35]


def planted_batch(*, outside: int = -1, edges: bool = True) -> Batch:
    """Three blocks with telling features; node 35 is isolated and in T_N; nodes 30 to 34 may carry unused labels."""
    generator = np.random.default_rng(3)
    truth = np.arange(36) % 3
    pairs = [(i, j) for i in range(35) for j in range(i) if truth[i] == truth[j] and generator.random() < 0.4]
    features = np.eye(3)[truth] + 0.3 * generator.standard_normal((36, 3))
    graph = Graph.from_edges(np.array(pairs if edges else []).T, features, class_count=3)
    given = np.full(36, -1)
    given[TRAIN] = truth[TRAIN]
    given[:5] = (truth[:5] + 1) % 3
    given[24:30] = truth[24:30]
    given[30:35] = outside
    trusted = np.zeros(36, bool)
    trusted[24:30] = True
    return full_batch(graph, ObservedLabels(given, trusted, class_count=3), TRAIN)


def make(batch: Batch, **options: object) -> PIGNN:
    defaults = {"hidden": 8, "epochs": 12, "confidence_start": 4, "fine_tune_epochs": 4}
    config = PIGNNConfig(**{**defaults, **options})  # type: ignore[arg-type]
    return PIGNN(config, batch, Seeds(1).generator("initialisation"))


def test_terms_are_those_of_the_equations_before_and_after_the_start_of_confidence() -> None:
    batch = planted_batch()
    method = make(batch, dropout=0.0, pair_weight=2.5, confidence_start=4)
    z, other = method.classifier.eval()(batch.graph), method.pair_network.eval()(batch.graph)
    pairs = ConnectedPairs(batch.graph.graph.adjacency)
    ce = cross_entropy(z[TRAIN], batch.given[TRAIN]).mean()
    for epoch, judge in ((0, None), (3, None), (4, other), (9, other)):
        method.epoch.fill_(epoch)
        terms = method.train().loss(batch, Seeds(1).randomness())
        torch.testing.assert_close(terms["noisy_ce"], ce)
        torch.testing.assert_close(terms["pairs"], 2.5 * pairwise_loss(z, pairs, judge=judge))
        torch.testing.assert_close(terms["pair_network"], pairwise_loss(other, pairs))


def test_neither_loss_reaches_the_other_network() -> None:
    batch = planted_batch()
    method = make(batch, confidence_start=0)
    terms = method.loss(batch, Seeds(1).randomness())
    (terms["pairs"] + terms["noisy_ce"]).backward(retain_graph=True)
    assert all(p.grad is None for p in method.pair_network.parameters())
    assert all(p.grad is not None for p in method.classifier.parameters())
    method.zero_grad(set_to_none=True)
    terms["pair_network"].backward()
    assert all(p.grad is None for p in method.classifier.parameters())


def test_epochs_are_counted_up_to_the_end_of_training_only() -> None:
    batch = planted_batch()
    method = make(batch, epochs=6)
    fit(method, batch, select_last(), Seeds(1).randomness())
    assert int(method.epoch) == 6


def test_sampled_pairs_agree_with_all_pairs_on_average() -> None:
    batch = planted_batch()
    exact, sampled = (make(batch, dropout=0.0, pairs=pairs, confidence_start=0) for pairs in ("exact", "sampled"))
    randomness = Seeds(1).randomness()
    expected = exact.loss(batch, randomness)
    drawn = [sampled.loss(batch, randomness) for _ in range(300)]
    for name in ("pairs", "pair_network"):
        values = torch.stack([terms[name] for terms in drawn])
        error = values.std() / len(drawn) ** 0.5
        assert error > 0
        assert abs(values.mean() - expected[name]) < 4 * error


def test_auto_is_exact_for_small_graphs_and_sampled_for_large_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = planted_batch()

    def term(pairs: str) -> float:
        return make(batch, dropout=0.0, pairs=pairs).loss(batch, Seeds(1).randomness())["pairs"].item()

    assert term("exact") != term("sampled")
    assert term("auto") == term("exact")
    monkeypatch.setattr(pignn, "EXACT_NODES", 35)
    assert term("auto") == term("sampled")


def test_pair_network_learns_who_is_connected() -> None:
    batch = planted_batch()
    method = make(batch, epochs=60, dropout=0.0, fine_tune_epochs=0)
    pairs = ConnectedPairs(batch.graph.graph.adjacency)
    before = pairwise_loss(method.pair_network.eval()(batch.graph), pairs)
    fit(method, batch, select_last(), Seeds(1).randomness())
    after = pairwise_loss(method.pair_network.eval()(batch.graph), pairs)
    assert after < 0.8 * before


def test_without_edges_it_is_the_plain_classifier() -> None:
    batch = planted_batch(edges=False)
    method = make(batch, confidence_start=0)
    terms = method.loss(batch, Seeds(1).randomness())
    assert terms["pairs"].item() == 0
    result = fit(method, batch, select_last(), Seeds(1).randomness())
    assert torch.isfinite(result.probabilities).all()


def test_pairs_follow_the_graph_of_the_batch() -> None:
    batch = planted_batch()
    method = make(batch, dropout=0.0)
    before = method.loss(batch, Seeds(1).randomness())["pairs"]
    order = np.random.default_rng(0).permutation(36)
    given = batch.given.numpy()[order]
    trusted = np.isin(order, batch.trusted.numpy())
    graph = batch.graph.graph.permuted(order)
    train = np.flatnonzero(np.isin(order, TRAIN))
    permuted = full_batch(graph, ObservedLabels(given, trusted, class_count=3), train)
    torch.testing.assert_close(method.loss(permuted, Seeds(1).randomness())["pairs"], before)


@pytest.mark.parametrize("pairs", ["exact", "sampled"])
def test_labels_outside_training_and_trusted_nodes_change_nothing(pairs: str) -> None:
    states = []
    for outside in (-1, 0, 2):
        batch = planted_batch(outside=outside)
        method = make(batch, pairs=pairs)
        fit(method, batch, select_last(), Seeds(1).randomness())
        states.append(method.state_dict())
    for name, value in states[0].items():
        assert torch.equal(value, states[1][name]), name
        assert torch.equal(value, states[2][name]), name


def test_resumed_run_is_bit_equal(goes_on_alike: Callable[..., None]) -> None:
    batch = planted_batch()
    selection = Selection("val-clean", np.arange(24, 36), np.arange(24, 36) % 3)
    goes_on_alike(lambda: make(batch, pairs="sampled"), batch, selection, 7, checkpoint_every=3)


@pytest.mark.parametrize("options", [{"pairs": "all"}, {"pair_weight": -1.0}, {"confidence_start": -1}])
def test_options_out_of_range(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        PIGNNConfig(**options)  # type: ignore[arg-type]
