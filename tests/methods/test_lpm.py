from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from lnp.engine.fit import fit
from lnp.engine.selection import select_last, select_validation
from lnp.errors import ConfigError
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.losses.kl import kl_divergence_of_probabilities
from lnp.methods.batch import Batch, full_batch
from lnp.methods.lpm import LPM, PUBLISHED, LPMConfig, aggregator_inputs, mixed_targets
from lnp.nn.sparse import SparseMatrix
from lnp.seeds import Seeds


def build(batch: Batch, **options: object) -> LPM:
    config = LPMConfig(**{"hidden": 8, "epochs": 6, **options})
    return LPM(config, batch, Seeds(0).generator("initialisation"))


def batch_of(task) -> Batch:
    return full_batch(task.graph, task.observed, task.split.train)


def two_cliques() -> Batch:
    """Nodes 0 to 4 are class 1, 5 to 9 class 0, 10 is alone and class 0; T_C is node 3 and node 8."""
    pairs = [*combinations(range(5), 2), *combinations(range(5, 10), 2)]
    features = np.random.default_rng(0).normal(size=(11, 3))
    graph = Graph.from_edges(np.array(pairs).T, features, class_count=2)
    labels = np.array([1] * 5 + [0] * 6)
    observed = ObservedLabels(labels, np.isin(np.arange(11), [3, 8]), class_count=2)
    return full_batch(graph, observed, np.array([0, 1, 5, 6, 7, 10]))


def random_logits(batch: Batch, seed: int = 1) -> torch.Tensor:
    values = np.random.default_rng(seed).normal(size=(batch.node_count, batch.class_count))
    return torch.from_numpy(values.astype(np.float32))


def test_labels_stay_within_their_clique_and_reach_no_isolated_node() -> None:
    batch = two_cliques()
    spread, named = build(batch).spread_labels(batch, random_logits(batch))
    assert named.tolist() == [1] * 5 + [0] * 5 + [-1]
    assert spread[:5, 0].abs().max() == spread[5:10, 1].abs().max() == 0
    assert spread[10].tolist() == [0, 0]


def test_spreading_equals_a_dense_loop(toy_task) -> None:
    batch = batch_of(toy_task)
    method, logits = build(batch, steps=7), random_logits(batch)
    method.believed[batch.noisy[:5]] = True
    spread, _ = method.spread_labels(batch, logits)
    weights = np.zeros((60, 60))
    for i, j in toy_task.graph.edges.T:
        weights[i, j] = weights[j, i] = 1 / np.mean((logits[i] - logits[j]).double().numpy() ** 2)
    root = 1 / np.sqrt(np.where(weights.any(axis=1), weights.sum(axis=1), 1))
    start = np.where(method.believed.numpy()[:, None], np.eye(3)[batch.given.numpy()], 0)
    expected = start
    for _ in range(7):
        expected = root[:, None] * (weights @ (root[:, None] * expected))
        expected[method.believed.numpy()] = start[method.believed.numpy()]
    np.testing.assert_allclose(spread.numpy(), expected, atol=1e-4)


def test_the_division_does_not_depend_on_the_scale_of_the_logits(toy_task) -> None:
    batch = batch_of(toy_task)
    method, logits = build(batch), random_logits(batch)
    spread, named = method.spread_labels(batch, logits)
    for scale in (0.1, 50.0):
        again, same = method.spread_labels(batch, scale * logits)
        assert torch.equal(same, named)
        torch.testing.assert_close(again, spread, atol=1e-4, rtol=1e-3)


def test_only_believed_nodes_spread_their_label(toy_task) -> None:
    batch = batch_of(toy_task)
    method, logits = build(batch, grow=True), random_logits(batch)
    before, _ = method.spread_labels(batch, logits)
    method.believed[batch.noisy] = True
    assert not torch.equal(method.spread_labels(batch, logits)[0], before)
    method.believed[batch.noisy] = False  # nodes that leave M leave no trace
    assert torch.equal(method.spread_labels(batch, logits)[0], before)


def test_ends_of_the_mixture() -> None:
    generator = np.random.default_rng(0)
    logits, spread = (torch.from_numpy(generator.normal(size=(20, 4))) for _ in range(2))
    labels = torch.from_numpy(generator.integers(0, 4, 20))
    predicted = logits.softmax(dim=1)
    given = mixed_targets(torch.ones(20, 1), labels, spread)
    torch.testing.assert_close(  # λ = 1: cross entropy, for the entropy of a one-hot row is 0
        kl_divergence_of_probabilities(given, predicted), F.cross_entropy(logits, labels, reduction="none")
    )
    other = mixed_targets(torch.zeros(20, 1), labels, spread)  # λ = 0: the divergence from Z
    expected = F.kl_div(predicted.log(), spread.softmax(dim=1), reduction="none").sum(dim=1)
    torch.testing.assert_close(kl_divergence_of_probabilities(other, predicted), expected)
    inputs = aggregator_inputs(logits, labels, spread)
    torch.testing.assert_close(inputs[:, 0], -predicted[torch.arange(20), labels].log())
    torch.testing.assert_close(
        inputs[:, 1], F.kl_div(spread.log_softmax(dim=1), predicted, reduction="none").sum(dim=1)
    )


def five_nodes() -> Batch:
    """A path 0 - 1 - 2 - 3 - 4 in double precision, T_C its ends, two wrong labels out of three in between."""
    features = np.random.default_rng(3).normal(size=(5, 3))
    graph = Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 4]], features, class_count=2)
    observed = ObservedLabels([0, 1, 0, 0, 1], [True, False, False, False, True], class_count=2)
    batch = full_batch(graph, observed, np.array([1, 2, 3]))
    tensors = batch.graph
    tensors.features = torch.from_numpy(features)
    symmetric = tensors.propagation("symmetric")
    wide = torch.sparse_csr_tensor(
        symmetric._forward.crow_indices(),
        symmetric._forward.col_indices(),
        symmetric._forward.values().double(),
        size=(5, 5),
        check_invariants=True,
    )
    tensors._propagations["symmetric"] = SparseMatrix(wide, wide)
    return batch


@pytest.mark.parametrize("through_inputs", [False, True])
@pytest.mark.parametrize("grow", [False, True])
def test_meta_gradient_equals_finite_differences(through_inputs: bool, grow: bool) -> None:
    batch, streams = five_nodes(), Seeds(0).randomness()
    options = {"dropout": 0.0, "inner_learning_rate": 0.5, "aggregator_hidden": 4, "hidden": 6}
    method = build(batch, through_inputs=through_inputs, grow=grow, **options).double().train()
    method.agreeing_loss(batch, streams)
    division = method._division
    assert division is not None
    assert division.disagreeing.numel() >= 2

    def value() -> torch.Tensor:
        method._division = division
        return method.meta_loss(batch, streams)["meta_ce"]

    value().backward()
    assert all(parameter.grad is None for parameter in method.classifier.parameters())
    largest = 0.0
    for parameter in method.aggregator.parameters():
        exact = torch.zeros_like(parameter)
        flat, target = parameter.data.view(-1), exact.view(-1)
        for k in range(flat.numel()):
            ends = []
            for shift in (1e-5, -2e-5):
                flat[k] += shift
                ends.append(value().item())
            flat[k] += 1e-5
            target[k] = (ends[0] - ends[1]) / 2e-5
        torch.testing.assert_close(parameter.grad, exact, atol=1e-9, rtol=1e-5)
        largest = max(largest, exact.abs().max().item())
    assert largest > 1e-5


@pytest.mark.parametrize("grow", [False, True])
def test_the_inner_step_is_gradient_descent_on_the_mixed_targets(grow: bool) -> None:
    batch, streams = five_nodes(), Seeds(0).randomness()
    method = build(batch, dropout=0.0, inner_learning_rate=0.5, hidden=6, grow=grow).double().train()
    method.agreeing_loss(batch, streams)
    assert method._division is not None
    spread, nodes, _ = method._division
    value = method.meta_loss(batch, streams)["meta_ce"].item()

    # The same by hand, in place and without any copy.
    labels = batch.given[nodes]
    logits = method.classifier(batch.graph, streams.dropout)[nodes]
    shares = method.aggregator(aggregator_inputs(logits, labels, spread[nodes])).detach()
    target = shares * F.one_hot(labels, 2) + (1 - shares) * spread[nodes].softmax(dim=1)
    loss = -(target * logits.log_softmax(dim=1)).sum(dim=1).mean()  # the entropy of the target has no gradient
    method.classifier.zero_grad()
    loss.backward()
    with torch.no_grad():
        for parameter in method.classifier.parameters():
            parameter -= 0.5 * parameter.grad
    moved = method.classifier(batch.graph, streams.dropout)
    believed = [0, 4, *({1, 2, 3} - set(nodes.tolist()))] if grow else [0, 4]
    assert len(believed) == 2 + grow
    assert value == pytest.approx(F.cross_entropy(moved[believed], batch.given[believed]).item(), rel=1e-10)


@pytest.mark.parametrize("grow", [False, True])
def test_with_right_labels_everybody_agrees_and_the_aggregator_is_not_used(grow: bool) -> None:
    batch = two_cliques()
    reached = Batch(batch.graph, batch.given, batch.noisy[:-1], batch.trusted, 2)  # without the isolated node
    method = build(reached, grow=grow)
    before = {name: value.clone() for name, value in method.aggregator.state_dict().items()}
    history = fit(method, reached, select_last(), Seeds(0).randomness()).history
    assert all(record.terms.keys() == {"agreeing_ce"} for record in history)
    assert all(torch.equal(value, before[name]) for name, value in method.aggregator.state_dict().items())
    expected = torch.cat([batch.trusted, reached.noisy]) if grow else batch.trusted
    assert method.believed.nonzero().squeeze(1).tolist() == sorted(expected.tolist())


def test_a_node_that_no_label_reaches_is_left_to_the_aggregator() -> None:
    batch = two_cliques()
    method = build(batch)
    terms = method.train().agreeing_loss(batch, Seeds(0).randomness())
    assert method._division is not None
    assert method._division.disagreeing.tolist() == [10]  # although its given label is class 0
    assert set(terms) == {"agreeing_ce"}
    assert torch.isfinite(fit(method, batch, select_last(), Seeds(0).randomness()).probabilities).all()


def test_a_step_without_nodes_is_left_out() -> None:
    batch = two_cliques()
    given = batch.given.clone()
    given[batch.noisy] = 1 - given[batch.noisy]
    wrong = Batch(batch.graph, given, batch.noisy, batch.trusted, 2)
    method = build(wrong, learn_trusted=False)
    assert method.train().agreeing_loss(wrong, Seeds(0).randomness()) == {}
    assert build(wrong).train().agreeing_loss(wrong, Seeds(0).randomness()).keys() == {"agreeing_ce"}
    history = fit(method, wrong, select_last(), Seeds(0).randomness()).history
    assert all(record.terms.keys() == {"meta_ce", "mixed_kl"} for record in history)


@pytest.mark.parametrize("divergence", ["target-first", "prediction-first"])
def test_an_epoch_is_three_steps_each_with_its_own_gradient(toy_task, divergence: str) -> None:
    batch = batch_of(toy_task)
    options = {"epochs": 2, "divergence": divergence, "grow": True}
    method, by_hand = build(batch, **options), build(batch, **options)
    fit(method, batch, select_last(), Seeds(0).randomness())

    streams, config = Seeds(0).randomness(), by_hand.config
    rates = {"classifier": (config.learning_rate, config.weight_decay), "aggregator": (1e-3, 1e-4)}
    adams = {
        name: torch.optim.Adam(getattr(by_hand, name).parameters(), lr=rate, weight_decay=decay)
        for name, (rate, decay) in rates.items()
    }
    by_hand.train()
    for _ in range(2):
        for loss, name in (("agreeing_loss", "classifier"), ("meta_loss", "aggregator"), ("mixed_loss", "classifier")):
            (value,) = getattr(by_hand, loss)(batch, streams).values()
            by_hand.zero_grad()
            value.backward()
            adams[name].step()
    for name, value in by_hand.state_dict().items():
        torch.testing.assert_close(method.state_dict()[name], value, atol=1e-6, rtol=1e-4)


def test_mixed_loss_by_hand(toy_task) -> None:
    for divergence in ("target-first", "prediction-first"):
        batch, streams = batch_of(toy_task), Seeds(0).randomness()
        method = build(batch, divergence=divergence, dropout=0.0).train()
        method.agreeing_loss(batch, streams)
        method.meta_loss(batch, streams)
        assert method._division is not None
        spread, nodes, inputs = method._division
        value = method.mixed_loss(batch, streams)["mixed_kl"].item()
        p = method.classifier(batch.graph, streams.dropout)[nodes].softmax(dim=1).detach()
        share = method.aggregator(inputs).detach()
        y = share * F.one_hot(batch.given[nodes], 3) + (1 - share) * spread[nodes].softmax(dim=1)
        first, second = (y, p) if divergence == "target-first" else (p, y)
        assert value == pytest.approx((first * (first / second).log()).sum(dim=1).mean().item(), rel=1e-4)


def test_training_follows_a_permutation_of_the_nodes(toy_task) -> None:
    order = np.random.default_rng(4).permutation(60)
    place = np.argsort(order)
    moved = full_batch(
        toy_task.graph.permuted(order),
        ObservedLabels(toy_task.observed.given[order], toy_task.observed.trusted[order], class_count=3),
        np.sort(place[toy_task.split.train]),
    )
    results = []
    for batch in (batch_of(toy_task), moved):
        method = build(batch, dropout=0.0, grow=True)
        results.append(fit(method, batch, select_last(), Seeds(0).randomness()).probabilities)
    torch.testing.assert_close(results[1], results[0][torch.from_numpy(order)], atol=1e-4, rtol=1e-3)


def test_labels_outside_both_sets_change_nothing(toy_task) -> None:
    given = toy_task.observed.given.copy()
    outside = np.setdiff1d(np.arange(60), np.r_[toy_task.split.train, toy_task.observed.trusted_nodes])
    given[outside] = (given[outside] + 1) % 3
    changed = toy_task._replace(observed=ObservedLabels(given, toy_task.observed.trusted, class_count=3))
    states = []
    for task in (toy_task, changed):
        method = build(batch_of(task))
        fit(method, batch_of(task), select_last(), Seeds(0).randomness())
        states.append(method.state_dict())
    assert all(torch.equal(value, states[1][name]) for name, value in states[0].items())


def test_a_resumed_run_ends_with_the_same_bits(toy_task, goes_on_alike) -> None:
    batch = batch_of(toy_task)
    selection = select_validation(toy_task.truth.labels, toy_task.observed, toy_task.split, rule="val-clean")
    goes_on_alike(lambda: build(batch, grow=True), batch, selection, 4)


@pytest.mark.parametrize("backbone", ["gcn", "h2gcn", "mlp"])
def test_every_backbone_keeps_its_statistics_in_the_meta_step(toy_task, backbone: str) -> None:
    batch, streams = batch_of(toy_task), Seeds(0).randomness()
    method = build(batch, backbone=backbone, **{k: v for k, v in PUBLISHED.items() if k != "hidden"}).train()
    method.agreeing_loss(batch, streams)
    before = {name: value.clone() for name, value in method.state_dict().items()}
    method.meta_loss(batch, streams)["meta_ce"].backward()
    assert all(torch.equal(value, before[name]) for name, value in method.state_dict().items())
    gradients = [parameter.grad.abs().max().item() for parameter in method.aggregator.parameters()]
    assert max(gradients) > 0
    assert torch.isfinite(fit(method, batch, select_last(), streams).probabilities).all()


@pytest.mark.parametrize(
    "options", [{"divergence": "both"}, {"steps": 0}, {"inner_learning_rate": -1.0}, {"aggregator_hidden": 0}]
)
def test_options_out_of_range(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        LPMConfig(**options)
