from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from lnp.engine.fit import FitOptions, fit
from lnp.engine.selection import Selection, select_last
from lnp.errors import ConfigError
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.batch import Batch, full_batch
from lnp.methods.unionnet import UnionNET, UnionNETConfig, class_distributions, prior_divergence, union_losses
from lnp.seeds import Seeds

TRAIN = np.r_[np.arange(20), 35]


def planted_batch(*, outside: int = -1) -> Batch:
    """Three blocks with telling features; node 35 is isolated and in T_N; nodes 30 to 34 may carry unused labels."""
    generator = np.random.default_rng(3)
    truth = np.arange(36) % 3
    edges = [(i, j) for i in range(35) for j in range(i) if truth[i] == truth[j] and generator.random() < 0.4]
    features = np.eye(3)[truth] + 0.3 * generator.standard_normal((36, 3))
    graph = Graph.from_edges(np.array(edges).T, features, class_count=3)
    given = np.full(36, -1)
    given[TRAIN] = truth[TRAIN]
    given[:5] = (truth[:5] + 1) % 3
    given[24:30] = truth[24:30]
    given[30:35] = outside
    trusted = np.zeros(36, bool)
    trusted[24:30] = True
    return full_batch(graph, ObservedLabels(given, trusted, class_count=3), TRAIN)


def make(batch: Batch, **options: object) -> UnionNET:
    defaults = {"hidden": 8, "epochs": 12, "warm_up": 4, "fine_tune_epochs": 4, "support_size": 4}
    config = UnionNETConfig(**{**defaults, **options})  # type: ignore[arg-type]
    return UnionNET(config, batch, Seeds(1).generator("initialisation"))


def aggregated(batch: Batch, **options: object) -> UnionNET:
    """With P of the initial network, in training mode."""
    method = make(batch, warm_up=0, dropout=0.0, **options)
    begin = method.stages(batch)[0].begin
    assert begin is not None
    method.eval()
    begin(batch, Seeds(1).randomness())
    return method.train()


def test_support_sets_hold_connected_training_nodes_other_than_oneself() -> None:
    batch = planted_batch()
    support = make(batch).support.numpy()
    assert np.isin(support[TRAIN], TRAIN).all()
    assert (support[TRAIN[:-1]] != TRAIN[:-1, None]).all()
    assert (support[TRAIN[:-1]] % 3 == TRAIN[:-1, None] % 3).all()  # walks cannot leave a block
    assert (support[35] == 35).all()  # nobody to meet: itself


def test_support_sets_come_from_the_generator() -> None:
    batch = planted_batch()
    config = UnionNETConfig(hidden=8, walks=2, walk_length=2)
    first, again, other = (UnionNET(config, batch, Seeds(s).generator("initialisation")).support for s in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_class_distributions_against_a_loop() -> None:
    generator = np.random.default_rng(0)
    h, labels = generator.standard_normal((9, 4)), generator.integers(0, 3, 9)
    nodes, support = np.array([1, 5, 8]), generator.integers(0, 9, (3, 5))
    result = class_distributions(*(torch.from_numpy(a) for a in (h, nodes, support, labels[support])), 3)
    for row, (i, members) in enumerate(zip(nodes, support, strict=True)):
        weights = np.array([np.exp(h[i] @ h[j]) for j in members])
        expected = [weights[labels[members] == k].sum() / weights.sum() for k in range(3)]
        np.testing.assert_allclose(result[row], expected, rtol=1e-6)
    torch.testing.assert_close(result.sum(dim=1), torch.ones(3, dtype=torch.float64))


def test_agreeing_support_gives_one_hot_and_three_equal_losses() -> None:
    logits, labels = torch.randn(6, 3, generator=torch.Generator().manual_seed(0)), torch.tensor([0, 1, 2, 0, 1, 2])
    support = torch.tensor([[3, 0], [4, 1], [5, 2]] * 2)
    nodes = torch.arange(6)
    distribution = class_distributions(logits, nodes, support, labels[support], 3)
    torch.testing.assert_close(distribution, torch.eye(3)[labels])
    plain = cross_entropy(logits, labels)
    for loss in union_losses(logits, labels, distribution):
        torch.testing.assert_close(loss, plain)


def test_losses_on_hand_made_numbers() -> None:
    distribution = torch.tensor([[0.2, 0.7, 0.1]])
    reweighted, corrected = union_losses(torch.zeros(1, 3), torch.tensor([0]), distribution)
    assert reweighted.item() == pytest.approx(0.2 * np.log(3))
    assert corrected.item() == pytest.approx(0.7 * np.log(3))
    uneven = torch.tensor([[1.0, 0.0, 0.0]])
    assert union_losses(uneven, torch.tensor([0]), distribution)[1].item() == pytest.approx(0.7 * np.log(np.e + 2))


def test_reweighting_alone_with_full_trust_is_plain_cross_entropy() -> None:
    batch = planted_batch()
    method = aggregated(batch, reweighting=1.0, prior_weight=0.0)
    method.distribution.fill_(1.0)
    terms = method.loss(batch, Seeds(1).randomness())
    plain = cross_entropy(method.classifier.eval()(batch.graph)[TRAIN], batch.given[TRAIN]).mean()
    torch.testing.assert_close(sum(terms.values()), plain)


def test_prior_is_zero_only_for_the_class_shares() -> None:
    shares = torch.tensor([0.5, 0.3, 0.2])
    rows = torch.stack([shares + 0.1 * torch.tensor([1.0, -1, 0]), shares - 0.1 * torch.tensor([1.0, -1, 0])])
    assert prior_divergence(rows, shares).item() == pytest.approx(0, abs=1e-7)
    expected = sum(p * np.log(p / q) for p, q in zip((0.5, 0.3, 0.2), (0.6, 0.2, 0.2), strict=True))
    assert prior_divergence(rows[:1], shares).item() == pytest.approx(expected, rel=1e-5)
    absent = torch.tensor([0.5, 0.5, 0.0])
    assert prior_divergence(rows[:1], absent).item() == pytest.approx(0.5 * np.log(0.25 / 0.12), rel=1e-5)


def test_loss_is_plain_in_the_warm_up_and_united_afterwards() -> None:
    batch = planted_batch()
    method = make(batch, epochs=6, warm_up=4, fine_tune_epochs=0)
    history = fit(method, batch, select_last(), Seeds(1).randomness()).history
    names = [set(record.terms) for record in history]
    assert names == [{"noisy_ce"}] * 4 + [{"reweighted_ce", "corrected_ce", "prior"}] * 2


def test_distribution_is_that_of_the_present_embeddings_without_gradient_or_dropout() -> None:
    batch = planted_batch()
    method = make(batch, epochs=6, fine_tune_epochs=0)
    fit(method, batch, select_last(), Seeds(1).randomness())
    with torch.no_grad():
        h = method.eval().classifier.embed(batch.graph)
    support = method.support[TRAIN]
    expected = class_distributions(h, torch.from_numpy(TRAIN), support, batch.given[support], 3)
    torch.testing.assert_close(method.distribution[TRAIN], expected)
    torch.testing.assert_close(method.distribution[35], torch.eye(3)[batch.given[35]])
    assert not method.distribution.requires_grad
    outside = np.setdiff1d(np.arange(36), TRAIN)
    assert method.distribution[outside].abs().max() == 0


def test_terms_carry_their_weights() -> None:
    batch = planted_batch()
    heavy = aggregated(batch, reweighting=0.8, prior_weight=3.0).loss(batch, Seeds(1).randomness())
    light = aggregated(batch, reweighting=0.2, prior_weight=1.0).loss(batch, Seeds(1).randomness())
    torch.testing.assert_close(heavy["reweighted_ce"], 4 * light["reweighted_ce"])
    torch.testing.assert_close(heavy["corrected_ce"], light["corrected_ce"] / 4)
    torch.testing.assert_close(heavy["prior"], 3 * light["prior"])


def test_prior_compares_the_training_nodes_alone() -> None:
    batch = planted_batch()
    method = aggregated(batch, prior_weight=2.0)
    with torch.no_grad():
        method.classifier.layers[1].weight *= 5  # so that nodes differ
    p = method.eval().classifier(batch.graph).softmax(dim=1).detach().double().numpy()
    shares = np.bincount(batch.given[TRAIN], minlength=3) / TRAIN.size
    expected = 2 * np.sum(shares * np.log(shares / p[TRAIN].mean(axis=0)))
    assert method.loss(batch, Seeds(1).randomness())["prior"].item() == pytest.approx(expected, rel=1e-5)


def test_planted_wrong_labels_are_outvoted() -> None:
    batch = planted_batch()
    method = make(batch, epochs=30, warm_up=10, support_size=8, fine_tune_epochs=0)
    fit(method, batch, select_last(), Seeds(1).randomness())
    proposed = method.distribution[:5].argmax(dim=1)
    assert proposed.tolist() == [0, 1, 2, 0, 1]  # the truth, where other labels were given


def test_labels_outside_training_and_trusted_nodes_change_nothing() -> None:
    states = []
    for outside in (-1, 0, 2):
        batch = planted_batch(outside=outside)
        method = make(batch)
        fit(method, batch, select_last(), Seeds(1).randomness())
        states.append(method.state_dict())
    for name, value in states[0].items():
        assert torch.equal(value, states[1][name]), name
        assert torch.equal(value, states[2][name]), name


@pytest.mark.parametrize("warm_up", [0, 7])
def test_resumed_run_is_bit_equal(tmp_path: Path, warm_up: int) -> None:
    batch = planted_batch()
    selection = Selection("val-clean", np.arange(24, 36), np.arange(24, 36) % 3)
    whole = make(batch, warm_up=warm_up)
    fit(whole, batch, selection, Seeds(1).randomness())

    class KilledError(Exception):
        pass

    def kill(record: object, count: int) -> None:
        if record.epoch == 7:  # type: ignore[attr-defined]
            raise KilledError

    options = {"checkpoint": tmp_path / "checkpoint.safetensors", "checkpoint_every": 3}
    with pytest.raises(KilledError):
        fit(
            make(batch, warm_up=warm_up),
            batch,
            selection,
            Seeds(1).randomness(),
            FitOptions(on_epoch=kill, **options),  # type: ignore[arg-type]
        )
    rest = make(batch, warm_up=warm_up)
    rest.support.fill_(0)  # to be found in the checkpoint
    fit(rest, batch, selection, Seeds(99).randomness(), FitOptions(**options))  # type: ignore[arg-type]
    for name, value in whole.state_dict().items():
        assert torch.equal(value, rest.state_dict()[name]), name


def test_without_noisy_nodes_only_trusted_ones_teach() -> None:
    batch = planted_batch()
    empty = Batch(batch.graph, batch.given, batch.noisy[:0], batch.trusted, 3)
    method = make(empty, warm_up=0)
    result = fit(method, empty, select_last(), Seeds(1).randomness())
    assert [record.terms.keys() for record in result.history][-1] == {"trusted_ce"}
    assert torch.isfinite(result.probabilities).all()


@pytest.mark.parametrize(
    "options", [{"reweighting": 1.2}, {"prior_weight": -1.0}, {"support_size": 0}, {"walk_length": 0}, {"layers": 1}]
)
def test_options_out_of_range(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        UnionNETConfig(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("backbone", ["gcn", "mlp"])
def test_one_layer_without_a_hidden_one_says_what_to_do(backbone: str) -> None:
    with pytest.raises(ConfigError, match=rf"at least 2 with the backbone {backbone}.*the backbone sign or h2gcn"):
        UnionNETConfig(backbone=backbone, layers=1)


def test_sign_has_a_hidden_layer_whatever_the_number_of_hops() -> None:
    batch = planted_batch()
    method = aggregated(batch, backbone="sign", layers=1)
    weights, bias = (value.detach().double().numpy() for value in method.classifier.weights), method.classifier.bias
    graph = batch.graph.graph
    a = graph.adjacency.toarray() + np.eye(36)
    degree = a.sum(axis=1)
    S = a / degree[:, None] if method.config.normalisation == "row" else a / np.sqrt(np.outer(degree, degree))
    hops = [graph.features, S @ graph.features]
    products = np.hstack([hop @ weight for hop, weight in zip(hops, weights, strict=True)])
    hidden = np.maximum(products + bias.detach().numpy(), 0)
    for node in (0, 7, 19):
        support = method.support[node].numpy()
        attention = np.exp(hidden[support] @ hidden[node])
        expected = np.bincount(batch.given[support].numpy(), attention / attention.sum(), minlength=3)
        np.testing.assert_allclose(method.distribution[node].numpy(), expected, atol=1e-5)
    result = fit(make(batch, backbone="sign", layers=1), batch, select_last(), Seeds(0).randomness())
    assert torch.isfinite(result.probabilities).all()
