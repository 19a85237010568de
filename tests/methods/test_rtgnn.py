from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.engine.feed import predict
from lnp.engine.fit import fit
from lnp.engine.selection import select_validation
from lnp.errors import ConfigError
from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.base import Epoch
from lnp.methods.batch import full_batch
from lnp.methods.rtgnn import (
    RTGNN,
    RTGNNConfig,
    labelled_loss,
    neighbour_divergence,
    sort_labels,
    symmetric_divergence,
)
from lnp.nn.weighted_graph import Pairs, WeightedGraph, looped_adjacency
from lnp.seeds import Seeds

SMALL = {"hidden": 8, "edge_hidden": 8, "epochs": 12, "fine_tune_epochs": 4, "negatives": 5, "candidates": 6}


@pytest.fixture
def batch(toy_task):
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)


@pytest.fixture
def selection(toy_task):
    return select_validation(toy_task.truth.labels, toy_task.observed, toy_task.split, rule="val-clean")


@pytest.fixture
def logits():
    """Logits of two rather sure networks and given labels, 40 nodes in 4 classes."""
    generator = np.random.default_rng(0)
    shared = generator.normal(size=(40, 4)) * 3
    z1, z2 = (torch.tensor(shared + generator.normal(size=(40, 4)), dtype=torch.float32) for _ in range(2))
    return z1, z2, torch.tensor(generator.integers(0, 4, size=40))


def build(batch, **options):
    return RTGNN(RTGNNConfig(**SMALL | options), batch, Seeds(0).generator("initialisation"))


def run(batch, selection, **options):
    method = build(batch, **options)
    return fit(method, batch, selection, Seeds(0).randomness()).probabilities, method


def test_at_the_start_the_labelled_loss_is_plain_cross_entropy_of_both(batch, logits):
    z1, z2, given = logits
    expected = (cross_entropy(z1, given) + cross_entropy(z2, given)).mean()
    torch.testing.assert_close(labelled_loss(z1, z2, given, 0.0), expected)
    method = build(batch)
    method.find_candidates(batch, Seeds(0).randomness())
    assert "agreement" not in method.loss(batch, Seeds(0).randomness())
    method.end_epoch(batch, Epoch("train", 0, 12, torch.zeros(1), lambda p: 0.0, False))
    assert "agreement" in method.loss(batch, Seeds(0).randomness())


@pytest.mark.parametrize("progress", [0.0, 0.3, 0.7, 0.99])
def test_labels_are_sorted_into_three_parts_by_the_definition(logits, progress):
    z1, z2, given = logits
    clean, corrected, doubtful = (part.tolist() for part in sort_labels(z1, z2, given, progress))
    assert sorted(clean + corrected + doubtful) == list(range(40))
    p1, p2 = z1.double().softmax(1).numpy(), z2.double().softmax(1).numpy()
    loss = np.array([-np.log(p1[i, k]) - np.log(p2[i, k]) for i, k in enumerate(given.tolist())])
    share = max(1 - 0.5 * progress, np.mean(loss < loss.mean()))
    assert len(clean) == int(np.floor(share * 40 + 1e-9)) >= 20
    assert max(loss[clean]) <= min([*loss[corrected], *loss[doubtful], np.inf])
    for i in corrected + doubtful:
        agree = p1[i].argmax() == p2[i].argmax() != given[i].item()
        sure = p1[i].max() * p2[i].max() > 1 - (1 - 1 / 4) * progress
        assert (i in corrected) == bool(agree and sure)
    if progress == 0.7:
        assert corrected
        assert doubtful


def labelled_by_hand(z1, z2, given, progress):
    clean, corrected, doubtful = (part.tolist() for part in sort_labels(z1, z2, given, progress))
    p1, p2 = z1.softmax(1), z2.softmax(1)
    total = 0.0
    for i in range(given.numel()):
        losses = [-p[i].log() for p in (p1, p2)]
        if i in clean:
            total += sum(loss[given[i]].item() for loss in losses)
        elif i in corrected:
            k = p1[i].argmax()
            sure = (p1[i].max() * p2[i].max()).item() ** (0.5 - 0.5 * progress)
            total += sure * sum(loss[k].item() for loss in losses)
        else:
            assert i in doubtful
            total += 0.1 * sum(loss[given[i]].item() for loss in losses)
    return total / given.numel()


def test_labelled_loss_by_hand(logits):
    expected = labelled_by_hand(*logits, 0.7)
    assert labelled_loss(*logits, 0.7).item() == pytest.approx(expected, rel=1e-5)


def opinionated(batch, **options):
    """A method three quarters through, whose networks are not alike but often agree, some of them surely."""
    method = build(batch, dropout=0.0, agreement=0.3, link_threshold=0.2, **options)
    method.find_candidates(batch, Seeds(0).randomness())
    method.epochs_done.fill_(9)
    method.second.load_state_dict(method.first.state_dict())
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for network in (method.first, method.second):
            for parameter in network.parameters():
                parameter += 0.2 * torch.randn(parameter.shape, generator=generator)
            network.layers[1].weight *= 8
    return method


@pytest.fixture
def dense(batch, dense_gcn):
    """The reinforced graph of a method and both networks' logits on it, link by link in double precision."""

    def outputs(method):
        adjacency = batch.graph.graph.adjacency.toarray().astype(np.float64)
        vectors = dense_gcn(method.edge_predictor.network, batch, adjacency).numpy()
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        weights = adjacency.copy()
        for i, partners in enumerate(method.candidates.tolist()):
            for j in partners:
                if j >= 0 and adjacency[i, j] == 0:
                    cosine = vectors[i] @ vectors[j]
                    weights[i, j] = weights[j, i] = cosine if cosine >= method.config.link_threshold else 0
        return weights, *(dense_gcn(network, batch, weights) for network in (method.first, method.second))

    return outputs


def test_every_term_by_hand(batch, dense):
    method = opinionated(batch, confidence=0.65, edge_term=0.0)
    terms = method.loss(batch, Seeds(0).randomness())
    weights, z1, z2 = dense(method)
    p1, p2 = z1.softmax(1).numpy(), z2.softmax(1).numpy()
    noisy = batch.noisy.tolist()

    def kl(p, q):
        return np.sum(p * np.log(p / q))

    def from_neighbours(p, i):
        return sum(weights[i, j] * kl(p[j], p[i]) for j in range(60)) / weights[i].sum()

    apart = [kl(p1[i], p2[i]) + kl(p2[i], p1[i]) for i in range(60)]
    agreed = [i for i in batch.outside_noisy.tolist() if p1[i].argmax() == p2[i].argmax()]
    sure = {i: p1[i].argmax() for i in agreed if p1[i].max() * p2[i].max() > 0.65 * 0.65}
    assert 3 < len(sure) < len(agreed)
    expected = {
        "noisy_ce": labelled_by_hand(z1[noisy], z2[noisy], batch.noisy_labels, 9 / 12),
        "agreement": 0.3 * np.mean([apart[i] for i in noisy]),
        "pseudo_ce": np.mean([-np.log(p1[i, k]) - np.log(p2[i, k]) + 0.3 * apart[i] for i, k in sure.items()]),
        "neighbours": 0.3 * np.mean([from_neighbours(p1, i) + from_neighbours(p2, i) for i in noisy]),
    }
    assert {name: term.item() for name, term in terms.items()} == pytest.approx(expected, rel=1e-5)


def test_fine_tuning_is_on_the_reinforced_graph(batch, dense):
    method = opinionated(batch)
    found = method.stages(batch)[1].updates[0].loss(batch, Seeds(0).randomness())["trusted_ce"]
    _, z1, z2 = dense(method)
    expected = sum(cross_entropy(z[batch.trusted], batch.trusted_labels).mean() for z in (z1, z2))
    assert found.item() == pytest.approx(expected.item(), rel=1e-5)


def test_equal_networks_do_not_diverge(logits):
    z1, z2, _ = logits
    assert symmetric_divergence(z1, z1).abs().max() == 0
    p1, p2 = z1.softmax(1), z2.softmax(1)
    expected = [(p1[i] * (p1[i] / p2[i]).log() + p2[i] * (p2[i] / p1[i]).log()).sum().item() for i in range(40)]
    np.testing.assert_allclose(symmetric_divergence(z1, z2).numpy(), expected, rtol=1e-3, atol=1e-5)


def neighbours(tiny_graph, weights):
    """The hand-made graph with links 0–3, 1–5 and 0–6 of the given weights."""
    pairs = Pairs(np.array([0, 1, 0]), np.array([3, 5, 6]), 7)
    return WeightedGraph(looped_adjacency(tiny_graph.adjacency), [pairs.weighted(torch.tensor(weights))])


def divergences(tiny_graph, weights, logits):
    full = tiny_graph.adjacency.toarray().astype(np.float64)
    for (i, j), w in zip([(0, 3), (1, 5), (0, 6)], weights, strict=True):
        full[i, j] = full[j, i] = w
    p = logits.double().softmax(1).numpy()
    kl = np.array([[np.sum(p[j] * np.log(p[j] / p[i])) for j in range(7)] for i in range(7)])
    return full * kl, full.sum(axis=1)


def test_neighbours_are_weighted_one_by_one(tiny_graph):
    logits = torch.tensor(np.random.default_rng(0).normal(size=(7, 3)), dtype=torch.float32)
    for weights in ([0.5, 0.7, 0.3], [1.0, 0.7, 0.3]):  # doubling w of 0–3 changes its share alone
        shares, total = divergences(tiny_graph, weights, logits)
        found = neighbour_divergence(neighbours(tiny_graph, weights), logits).numpy()
        np.testing.assert_allclose(found, shares.sum(axis=1) / total, atol=1e-5)
    before = neighbour_divergence(neighbours(tiny_graph, [0.5, 0.7, 0.3]), logits)
    after = neighbour_divergence(neighbours(tiny_graph, [1.0, 0.7, 0.3]), logits)
    assert ((before - after).abs() > 1e-4).tolist() == [True, False, False, True, False, False, False]


def test_neighbours_alike_do_not_diverge_and_nobody_has_no_say(tiny_graph):
    alike = torch.tensor([[0.3, -1.0, 2.0]]).repeat(7, 1)
    assert neighbour_divergence(neighbours(tiny_graph, [0.5, 0.7, 0.3]), alike).abs().max() < 1e-6
    logits = torch.tensor(np.random.default_rng(0).normal(size=(7, 3)), dtype=torch.float32)
    assert neighbour_divergence(neighbours(tiny_graph, [0.5, 0.7, 0.0]), logits)[6] == 0


def test_the_neighbours_themselves_get_no_gradient(tiny_graph):
    logits = torch.tensor(np.random.default_rng(0).normal(size=(7, 3)), dtype=torch.float32, requires_grad=True)
    neighbour_divergence(neighbours(tiny_graph, [0.5, 0.7, 0.3]), logits)[4].backward()
    assert (logits.grad.abs().sum(dim=1) > 0).tolist() == [False, False, False, False, True, False, False]


@pytest.mark.parametrize("count", [3, 100])
def test_candidates_join_labelled_and_unlabelled_nodes(batch, count):
    method = build(batch, candidates=count)
    method.find_candidates(batch, Seeds(0).randomness())
    pairs = method.candidate_pairs(batch)
    listed = list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    adjacency, labelled = batch.graph.graph.adjacency.toarray(), set(batch.noisy.tolist())
    assert len(set(listed)) == len(listed) > 0
    assert all(i < j and adjacency[i, j] == 0 and len({i, j} & labelled) == 1 for i, j in listed)
    assert batch.noisy[0].item() in {node for pair in listed for node in pair}


def test_pseudo_labels_are_what_both_are_sure_of(batch):
    method = build(batch)
    outside = batch.outside_noisy
    z1, z2 = torch.zeros(60, 3), torch.zeros(60, 3)
    z1[:, 0], z2[:, 0] = 9.0, 9.0
    z2[outside[0]] = torch.tensor([0.0, 9.0, 0.0])  # disagree
    z1[outside[1]] = torch.tensor([2.0, 0.0, 0.0])  # agree, unsure
    nodes, labels = method._pseudo_labels(batch, z1, z2)
    assert nodes.tolist() == outside[2:].tolist()
    assert set(labels.tolist()) == {0}


def test_prediction_is_the_mean_of_both(batch):
    method = build(batch)
    method.find_candidates(batch, Seeds(0).randomness())
    method.eval()
    graph = method.reinforced_graph(batch, method.edge_predictor(batch.graph))
    parts = [net(batch.graph, propagation=graph).softmax(1) for net in (method.first, method.second)]
    torch.testing.assert_close(method.predict(batch), torch.stack(parts).mean(dim=0))
    assert not torch.allclose(parts[0], parts[1], atol=1e-3)


def test_fine_tuning_moves_the_classifiers_alone(batch):
    method = build(batch)
    tune = method.stages(batch)[1]
    method.find_candidates(batch, Seeds(0).randomness())
    sum(tune.updates[0].loss(batch, Seeds(0).randomness()).values()).backward()
    assert all(p.grad is None for p in method.edge_predictor.parameters())
    moved = {id(p) for p in tune.optimisers["main"].parameters}
    assert moved == {id(p) for net in (method.first, method.second) for p in net.parameters()}


def test_a_saved_state_is_complete(batch, selection):
    probabilities, method = run(batch, selection)
    copy = RTGNN(method.config, batch, Seeds(9).generator("initialisation"))
    predict(copy, batch)
    copy.load_state_dict(method.state_dict())
    assert torch.equal(predict(copy, batch), probabilities)


def test_an_isolated_node_without_features_works(selection, lonely_batch):
    probabilities, method = run(lonely_batch, selection)
    torch.testing.assert_close(probabilities.sum(dim=1), torch.ones(60))
    assert 5 not in method.candidates
    assert (method.candidates[5] == -1).all()


@pytest.mark.parametrize("stop", [5, 14])
def test_resuming_gives_the_same_bits(batch, selection, goes_on_alike, stop):
    goes_on_alike(lambda: build(batch), batch, selection, stop)


def test_options_are_checked():
    with pytest.raises(ConfigError, match="Expected `backbone` to be gcn"):
        RTGNNConfig(backbone="h2gcn")
    with pytest.raises(ConfigError, match="Expected `confidence` to be in"):
        RTGNNConfig(confidence=1.5)
