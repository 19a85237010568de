from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.engine.feed import predict
from lnp.engine.fit import fit
from lnp.engine.selection import select_validation
from lnp.errors import ConfigError
from lnp.losses.cross_entropy import cross_entropy
from lnp.methods import nrgnn
from lnp.methods.base import Epoch
from lnp.methods.batch import full_batch
from lnp.methods.gcn import Plain, PlainConfig
from lnp.methods.nrgnn import NRGNN, NRGNNConfig
from lnp.seeds import Seeds

SMALL = {"hidden": 8, "edge_hidden": 8, "epochs": 12, "fine_tune_epochs": 4, "negatives": 5, "confidence": 0.4}


@pytest.fixture
def batch(toy_task):
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)


@pytest.fixture
def selection(toy_task):
    return select_validation(toy_task.truth.labels, toy_task.observed, toy_task.split, rule="val-clean")


def build(batch, **options):
    return NRGNN(NRGNNConfig(**SMALL | options), batch, Seeds(0).generator("initialisation"))


def run(batch, selection, **options):
    method = build(batch, **options)
    return fit(method, batch, selection, Seeds(0).randomness()).probabilities, method


def as_set(pairs):
    return set(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))


def end_epoch(method, batch, score, *, index=0, stage="train"):
    method.eval()
    with torch.no_grad():
        method.end_epoch(batch, Epoch(stage, index, 10, torch.zeros(1), lambda p: score, False))


def test_without_links_and_extra_losses_the_classifier_is_a_plain_gcn(batch, selection):
    options = {"hidden": 8, "epochs": 12, "fine_tune_epochs": 4, "dropout": 0.0}
    plain = Plain(PlainConfig(**options), batch, Seeds(0).generator("initialisation"))
    expected = fit(plain, batch, selection, Seeds(0).randomness()).probabilities
    nothing = {"edge_term": 0.0, "pseudo_term": 0.0, "candidates": 0, "confidence": 1.0}
    found, _ = run(batch, selection, **options, **nothing)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("count", [-1, 0, 3, 1000])
def test_candidates_are_links_to_labelled_nodes_no_edges_and_no_self_pairs(batch, count):
    method = build(batch, candidates=count)
    method.find_candidates(batch, Seeds(0).randomness())
    pairs = as_set(method.candidate_pairs(batch))
    adjacency, labelled = batch.graph.graph.adjacency.toarray(), set(batch.noisy.tolist())
    assert all(i < j and adjacency[i, j] == 0 and {i, j} & labelled for i, j in pairs)
    n = batch.node_count
    everything = {(i, j) for i in range(n) for j in range(i + 1, n) if {i, j} & labelled and not adjacency[i, j]}
    if count == -1:
        assert pairs == everything
    elif count == 0:
        assert not pairs
    else:
        assert pairs < everything  # nodes without a common direction are no candidates, however many are asked for
    assert len(pairs) <= n * count or count == -1


def test_candidates_are_the_most_similar_labelled_nodes(batch):
    method = build(batch, candidates=2)
    method.find_candidates(batch, Seeds(0).randomness())
    X = batch.graph.graph.features
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for node in range(batch.node_count):
        others = [j for j in batch.noisy.tolist() if j != node]
        best = sorted(others, key=lambda j: -float(unit[node] @ unit[j]))[:2]
        assert [j for j in method.candidates[node].tolist() if j >= 0] == [j for j in best if unit[node] @ unit[j] > 0]


def mined(batch, **options):
    """A method with candidates and pseudo labels on half of the nodes outside T_N."""
    method = build(batch, **options)
    method.find_candidates(batch, Seeds(0).randomness())
    method.eval()
    method.mined.fill_(1 / 3)
    method.mined[batch.outside_noisy[::2]] = torch.tensor([0.8, 0.1, 0.1])
    with torch.no_grad():
        method._choose_pseudo_links(method.edge_predictor(batch.graph))
    return method


def test_top_links_are_the_exact_form_when_they_cover_everything(batch):
    exact, top = mined(batch, pseudo_links=-1), mined(batch, pseudo_links=100)
    pairs = as_set(exact.pseudo_pairs(batch))
    assert pairs == as_set(top.pseudo_pairs(batch))
    outside, pseudo = set(batch.outside_noisy.tolist()), set(batch.outside_noisy[::2].tolist())
    adjacency = batch.graph.graph.adjacency.toarray()
    assert pairs == {(i, j) for i in outside for j in outside if i < j and {i, j} & pseudo and not adjacency[i, j]}
    with torch.no_grad():
        torch.testing.assert_close(exact.predict(batch), top.predict(batch))
    losses = [method.loss(batch, Seeds(0).randomness()) for method in (exact, top)]
    for name, value in losses[0].items():
        torch.testing.assert_close(value, losses[1][name])


@pytest.mark.parametrize("looked_at", [2**14, 4])
def test_few_links_are_those_of_largest_weight(batch, monkeypatch, looked_at):
    """Of all pseudo-labelled nodes, or of as many as are looked at, evenly spread."""
    monkeypatch.setattr(nrgnn, "LOOKED_AT", looked_at)
    few = mined(batch, pseudo_links=2)
    with torch.no_grad():
        products = few.edge_predictor(batch.graph) @ few.edge_predictor(batch.graph).T
    pseudo = batch.outside_noisy[::2].tolist()
    pseudo = pseudo[:: -(-len(pseudo) // looked_at)]
    assert 1 < len(pseudo) <= looked_at
    for node in range(batch.node_count):
        best = sorted((a for a in pseudo if a != node), key=lambda a: -products[node, a].item())[:2]
        expected = best if node in batch.outside_noisy.tolist() else [-1, -1]
        assert few.pseudo_links[node].tolist() == expected


def test_pseudo_loss_by_hand(batch):
    method = mined(batch, pseudo_term=2.0)
    terms = method.loss(batch, Seeds(0).randomness())
    p = method.predict(batch)
    chosen = batch.outside_noisy[::2].tolist()
    assert method.pseudo_labelled().tolist() == chosen
    target = method.mined
    expected = np.mean([-sum(target[i, k] * p[i, k].log() for k in range(3)).item() for i in chosen])
    assert terms["pseudo_ce"].item() == pytest.approx(2 * expected, rel=1e-4)


def dense_graphs(method, batch):
    """A_P and A_G, link by link."""
    vectors = method.edge_predictor(batch.graph).detach().double().numpy()
    graphs, weights = [], batch.graph.graph.adjacency.toarray().astype(np.float64)
    for table in (method.candidates, method.pseudo_links):
        links = {(min(i, j), max(i, j)) for i, row in enumerate(table.tolist()) for j in row if j >= 0}
        for i, j in links:
            if weights[i, j] == 0 and (product := vectors[i] @ vectors[j]) >= method.config.link_threshold:
                weights[i, j] = weights[j, i] = product
        graphs.append(weights.copy())
    return graphs


def test_the_miner_learns_without_pseudo_links_and_the_classifier_with_them(batch, dense_gcn):
    method = mined(batch)
    terms = method.loss(batch, Seeds(0).randomness())
    without, added = dense_graphs(method, batch)
    expected = {"miner_ce": (method.miner, without), "noisy_ce": (method.classifier, added)}
    for name, (network, weights) in expected.items():
        losses = cross_entropy(dense_gcn(network, batch, weights)[batch.noisy], batch.noisy_labels)
        assert terms[name].item() == pytest.approx(losses.mean().item(), rel=1e-5)


def test_fine_tuning_is_on_the_graph_with_all_links(batch, dense_gcn):
    method = mined(batch)
    found = method.stages(batch)[1].updates[0].loss(batch, Seeds(0).randomness())["trusted_ce"]
    logits = dense_gcn(method.classifier, batch, dense_graphs(method, batch)[1])[batch.trusted]
    assert found.item() == pytest.approx(cross_entropy(logits, batch.trusted_labels).mean().item(), rel=1e-5)


def test_no_node_of_t_n_gets_a_pseudo_label_however_sure_the_miner_is(batch):
    method = build(batch)
    method.find_candidates(batch, Seeds(0).randomness())
    method.mined.copy_(torch.tensor([0.8, 0.1, 0.1]).expand(60, 3))
    assert method.pseudo_labelled().tolist() == sorted(set(range(60)) - set(batch.noisy.tolist()))


def test_classification_reaches_the_edge_predictor_only_when_asked(batch):
    for gradient in (True, False):
        method = mined(batch, edge_gradient=gradient, edge_term=0.0, link_threshold=0.0)
        sum(method.loss(batch, Seeds(0).randomness()).values()).backward()
        gradients = [p.grad for p in method.edge_predictor.parameters()]
        assert any(g is not None and g.abs().max() > 0 for g in gradients) == gradient


def test_no_pseudo_labels_leave_the_loss_finite(batch):
    method = build(batch, confidence=1.0)
    method.find_candidates(batch, Seeds(0).randomness())
    end_epoch(method, batch, 0.5)
    assert method.pseudo_labelled().numel() == 0
    terms = method.loss(batch, Seeds(0).randomness())
    assert "pseudo_ce" not in terms
    assert all(torch.isfinite(value) for value in terms.values())


def test_the_miner_is_remembered_only_when_its_score_strictly_rises(batch):
    method = build(batch)
    method.find_candidates(batch, Seeds(0).randomness())
    generator = torch.Generator().manual_seed(0)
    history = []
    for index, score in enumerate([0.5, 0.5, 0.4, 0.6, 0.6, 0.7]):
        with torch.no_grad():
            for parameter in method.miner.parameters():
                parameter.add_(torch.randn(parameter.shape, generator=generator))
        before = method.mined.clone()
        end_epoch(method, batch, score, index=index)
        history.append(not torch.equal(before, method.mined))
    assert history == [True, False, False, True, False, True]
    assert method.miner_score.item() == 0.7
    before = method.mined.clone()
    end_epoch(method, batch, 0.9, stage="fine-tuning")
    assert torch.equal(before, method.mined)


def test_without_a_score_the_miner_is_remembered_every_epoch(batch):
    method = build(batch, refresh_every=2)
    method.find_candidates(batch, Seeds(0).randomness())
    changed = []
    for index in range(4):
        with torch.no_grad():
            for parameter in method.miner.parameters():
                parameter.add_(0.1)
        before = method.mined.clone()
        end_epoch(method, batch, float("nan"), index=index)
        changed.append(not torch.equal(before, method.mined))
    assert changed == [True, False, True, False]


def test_fine_tuning_moves_the_classifier_alone(batch):
    method = build(batch)
    train, tune = method.stages(batch)
    method.find_candidates(batch, Seeds(0).randomness())
    end_epoch(method, batch, 0.5)
    moved = {id(p) for p in tune.optimisers["main"].parameters}
    assert moved == {id(p) for p in method.classifier.parameters()}
    method.train()
    sum(tune.updates[0].loss(batch, Seeds(0).randomness()).values()).backward()
    assert all(p.grad is None for part in (method.miner, method.edge_predictor) for p in part.parameters())
    assert len(list(train.optimisers["main"].parameters)) == len(list(method.parameters()))


def test_a_saved_state_is_complete(batch, selection):
    probabilities, method = run(batch, selection)
    assert len(method.pseudo_pairs(batch)) > 0
    copy = NRGNN(method.config, batch, Seeds(9).generator("initialisation"))
    predict(copy, batch)  # fills the caches with what is about to change
    copy.load_state_dict(method.state_dict())
    assert torch.equal(predict(copy, batch), probabilities)


def test_an_isolated_node_without_features_works(selection, lonely_batch):
    probabilities, method = run(lonely_batch, selection)
    torch.testing.assert_close(probabilities.sum(dim=1), torch.ones(60))
    assert (method.candidates[5] == -1).all()


@pytest.mark.parametrize("stop", [5, 14])
def test_resuming_gives_the_same_bits(batch, selection, goes_on_alike, stop):
    goes_on_alike(lambda: build(batch), batch, selection, stop)


def test_options_are_checked():
    with pytest.raises(ConfigError, match="Expected `backbone` to be gcn"):
        NRGNNConfig(backbone="mlp")
    with pytest.raises(ConfigError, match="`candidates` to be at least -1"):
        NRGNNConfig(candidates=-2)
