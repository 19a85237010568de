from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn.metrics import log_loss

from lnp.engine.fit import fit
from lnp.engine.selection import select_last
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import full_batch
from lnp.methods.gcn import Plain, PlainConfig
from lnp.seeds import Seeds

BACKBONES = ["gcn", "h2gcn", "mlp"]


def build(task, **options: object) -> tuple[Plain, object]:
    batch = full_batch(task.graph, task.observed, task.split.train)
    config = PlainConfig(**{"hidden": 8, "epochs": 15, "fine_tune_epochs": 5, **options})
    return Plain(config, batch, Seeds(0).generator("initialisation")), batch


@pytest.mark.parametrize("backbone", BACKBONES)
def test_the_loss_is_cross_entropy_on_the_noisy_nodes_alone(toy_task, backbone: str) -> None:
    method, batch = build(toy_task, backbone=backbone)
    value = method.train().loss(batch, Seeds(0).randomness())["noisy_ce"]
    method, _ = build(toy_task, backbone=backbone)
    logits = method.train().classifier(batch.graph, Seeds(0).randomness().dropout).detach()
    # T_N by hand: training nodes that carry a label nobody checked.
    nodes = [i for i in toy_task.split.train if toy_task.observed.given[i] >= 0 and not toy_task.observed.trusted[i]]
    labels = toy_task.observed.given[nodes]
    assert value.item() == pytest.approx(F.cross_entropy(logits[nodes], torch.from_numpy(labels)).item(), rel=1e-6)
    reference = log_loss(labels, logits[nodes].double().softmax(dim=1).numpy(), labels=[0, 1, 2])
    assert value.item() == pytest.approx(reference, rel=1e-5)


@pytest.mark.parametrize("backbone", BACKBONES)
def test_labels_outside_both_sets_cannot_matter(toy_task, backbone: str) -> None:
    outside = np.setdiff1d(np.arange(60), np.r_[toy_task.split.train, toy_task.observed.trusted_nodes])
    assert outside.size > 10
    given = toy_task.observed.given.copy()
    given[outside] = (given[outside] + 1) % 3
    changed = toy_task._replace(observed=ObservedLabels(given, toy_task.observed.trusted, class_count=3))
    results = []
    for task in (toy_task, changed):
        method, batch = build(task, backbone=backbone)
        results.append((method, fit(method, batch, select_last(), Seeds(0).randomness())))
    (first, one), (second, other) = results
    assert all(torch.equal(value, second.state_dict()[name]) for name, value in first.state_dict().items())
    assert torch.equal(one.probabilities, other.probabilities)


def test_labels_inside_do_matter(toy_task) -> None:
    for nodes in (toy_task.split.train, toy_task.observed.trusted_nodes):
        given = toy_task.observed.given.copy()
        given[nodes] = (given[nodes] + 1) % 3
        changed = toy_task._replace(observed=ObservedLabels(given, toy_task.observed.trusted, class_count=3))
        results = []
        for task in (toy_task, changed):
            method, batch = build(task)
            results.append(fit(method, batch, select_last(), Seeds(0).randomness()).probabilities)
        assert not torch.equal(*results)


def test_prediction_is_the_softmax_of_the_network(toy_task) -> None:
    method, batch = build(toy_task)
    with torch.no_grad():
        logits = method.eval().classifier(batch.graph).double().numpy()
        probabilities = method.predict(batch).numpy()
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)


def test_it_learns_more_than_chance_from_clean_labels(toy_task) -> None:
    given = np.where(np.isin(np.arange(60), toy_task.split.train), toy_task.truth.labels, -1)
    clean = toy_task._replace(observed=ObservedLabels(given, class_count=3))
    method, batch = build(clean, epochs=60, learning_rate=0.05)
    result = fit(method, batch, select_last(), Seeds(0).randomness())
    predicted = result.probabilities.argmax(dim=1).numpy()
    train, test = toy_task.split.train, toy_task.split.test
    assert (predicted[train] == toy_task.truth.labels[train]).mean() > 0.95
    assert (predicted[test] == toy_task.truth.labels[test]).mean() > 0.6
    losses = [record.loss for record in result.history]
    assert losses[-1] < 0.3 * losses[0]


def test_stages_carry_the_configuration(toy_task) -> None:
    method, batch = build(toy_task, learning_rate=0.03, weight_decay=0.2, fine_tune_learning_rate=0.004)
    train, tune = method.stages(batch)
    assert (train.name, train.epochs, train.optimisers["main"].learning_rate) == ("train", 15, 0.03)
    assert (tune.name, tune.epochs, tune.optimisers["main"].learning_rate) == ("fine-tuning", 5, 0.004)
    assert train.optimisers["main"].weight_decay == tune.optimisers["main"].weight_decay == 0.2
    assert not train.keeps_start
