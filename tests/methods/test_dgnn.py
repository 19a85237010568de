from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from lnp.engine.fit import fit
from lnp.engine.selection import select_last
from lnp.errors import ConfigError
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.losses.correction import forward_correction
from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.batch import full_batch
from lnp.methods.dgnn import DGNN, DGNNConfig
from lnp.seeds import Seeds

NOISE = [[0.7, 0.3, 0.0], [0.1, 0.6, 0.3], [0.2, 0.0, 0.8]]


@pytest.fixture
def batch(toy_task):
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)


def build(batch, **options):
    return DGNN(DGNNConfig(**options), batch, Seeds(0).generator("initialisation"))


def test_identity_gives_the_base_models_loss(batch):
    method = build(batch, hidden=8)
    method.eval()
    expected = cross_entropy(method.phases.classifier(batch.graph)[batch.noisy], batch.noisy_labels).mean()
    torch.testing.assert_close(method.loss(batch, Seeds(0).randomness())["backward_ce"], expected)


def test_loss_is_the_mean_over_nodes_of_the_corrected_loss(batch):
    method = build(batch, hidden=8, estimator="exact", transition=json.dumps(NOISE))
    method.eval()
    losses = -method.phases.classifier(batch.graph).log_softmax(dim=1).detach().double().numpy()
    inverse = np.linalg.inv(np.array(NOISE))
    nodes, labels = batch.noisy.tolist(), batch.noisy_labels.tolist()
    expected = np.mean([inverse[label] @ losses[node] for node, label in zip(nodes, labels, strict=True)])
    assert method.loss(batch, Seeds(0).randomness())["backward_ce"].item() == pytest.approx(expected, rel=1e-5)


def test_probabilities_are_clipped_where_the_options_say(batch):
    method = build(batch, hidden=8, clip=0.1, estimator="exact", transition=json.dumps(NOISE))
    with torch.no_grad():
        method.phases.classifier.layers[1].weight *= 20
    method.eval()
    p = method.phases.classifier(batch.graph).softmax(dim=1).detach().double().numpy()
    losses, inverse = -np.log(p.clip(0.1, 0.9)), np.linalg.inv(np.array(NOISE))
    nodes, labels = batch.noisy.tolist(), batch.noisy_labels.tolist()
    expected = np.mean([inverse[label] @ losses[node] for node, label in zip(nodes, labels, strict=True)])
    assert method.loss(batch, Seeds(0).randomness())["backward_ce"].item() == pytest.approx(expected, rel=1e-5)


def test_compound_adds_the_forward_loss(batch):
    method = build(batch, hidden=8, correction="compound", estimator="exact", transition=json.dumps(NOISE))
    method.phases.transition.copy_(torch.tensor(NOISE))
    method.eval()
    terms = method.loss(batch, Seeds(0).randomness())
    logits = method.phases.classifier(batch.graph)[batch.noisy]
    expected = forward_correction(logits, batch.noisy_labels, torch.tensor(NOISE)).mean()
    torch.testing.assert_close(terms["forward_ce"], expected)
    assert set(terms) == {"backward_ce", "forward_ce"}


def test_exact_c_recovers_the_true_classes():
    classes = np.repeat(np.arange(3), 30)
    given = np.concatenate([np.repeat(np.arange(3), np.rint(30 * np.array(row)).astype(int)) for row in NOISE])
    graph = Graph.from_edges(np.zeros((2, 0), int), np.eye(3, dtype=np.float32)[classes], class_count=3)
    batch = full_batch(graph, ObservedLabels(given, class_count=3), np.arange(90))
    method = build(
        batch,
        estimator="exact",
        transition=json.dumps(NOISE),
        layers=1,
        dropout=0.0,
        weight_decay=0.0,
        learning_rate=0.1,
        epochs=300,
    )
    p = fit(method, batch, select_last(), Seeds(0).randomness()).probabilities
    torch.testing.assert_close(p, torch.eye(3)[torch.from_numpy(classes)], atol=0.03, rtol=0)


def test_inverse_belongs_to_the_estimate(batch):
    method = build(batch, hidden=8, epochs=1, estimate_epochs=10, max_condition=1e9)
    fit(method, batch, select_last(), Seeds(0).randomness())
    assert not torch.equal(method.phases.transition, torch.eye(3))
    torch.testing.assert_close(method.inverse @ method.phases.transition, torch.eye(3), atol=1e-3, rtol=0)


@pytest.mark.parametrize("remedy", ["shrink", "pseudo-inverse"])
def test_a_singular_matrix_is_tamed(batch, remedy):
    pair = json.dumps([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    method = build(
        batch, hidden=8, epochs=5, estimator="exact", transition=pair, ill_conditioned=remedy, max_condition=50.0
    )
    assert torch.linalg.matrix_norm(method.inverse, ord=2) <= 50.001
    assert fit(method, batch, select_last(), Seeds(0).randomness()).probabilities.isfinite().all()


def test_options_are_checked():
    with pytest.raises(ConfigError, match="Expected `correction` to be one of backward, compound, but got 'forward'"):
        DGNNConfig(correction="forward")
    with pytest.raises(ConfigError, match="Expected `clip` to be in"):
        DGNNConfig(clip=0.5)
