from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from lnp.engine.fit import fit
from lnp.engine.selection import select_last
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.losses.cross_entropy import cross_entropy
from lnp.methods.batch import full_batch
from lnp.methods.forward import Forward, ForwardConfig
from lnp.methods.gcn import Plain, PlainConfig
from lnp.seeds import Seeds

NOISE = np.array([[0.7, 0.3, 0.0], [0.1, 0.6, 0.3], [0.2, 0.0, 0.8]])
TRAINING = {"layers": 1, "dropout": 0.0, "weight_decay": 0.0, "learning_rate": 0.1, "epochs": 300}


@pytest.fixture
def separable():
    """Thirty nodes per class whose features tell the class, given labels in the very proportions of NOISE, no edges.

    Ten more nodes per class have no label.
    """
    classes = np.repeat(np.arange(3), 40)
    given = np.concatenate([np.r_[np.repeat(np.arange(3), np.rint(30 * row).astype(int)), [-1] * 10] for row in NOISE])
    graph = Graph.from_edges(np.zeros((2, 0), int), np.eye(3, dtype=np.float32)[classes], class_count=3)
    batch = full_batch(graph, ObservedLabels(given, class_count=3), np.arange(120))
    return batch, torch.from_numpy(classes)


def probabilities(method, batch):
    return fit(method, batch, select_last(), Seeds(0).randomness()).probabilities


def test_exact_c_recovers_clean_posteriors_where_the_base_model_learns_the_noise(separable):
    batch, classes = separable
    config = ForwardConfig(estimator="exact", transition=json.dumps(NOISE.tolist()), **TRAINING)
    corrected = probabilities(Forward(config, batch, Seeds(0).generator("initialisation")), batch)
    torch.testing.assert_close(corrected, torch.eye(3)[classes], atol=0.03, rtol=0)
    plain = probabilities(Plain(PlainConfig(**TRAINING), batch, Seeds(0).generator("initialisation")), batch)
    torch.testing.assert_close(plain, torch.from_numpy(NOISE).float()[classes], atol=0.01, rtol=0)


def test_c_is_estimated_where_every_class_has_pure_nodes(separable):
    batch, classes = separable
    config = ForwardConfig(estimate_epochs=300, **TRAINING)
    method = Forward(config, batch, Seeds(0).generator("initialisation"))
    corrected = probabilities(method, batch)
    torch.testing.assert_close(method.phases.transition, torch.from_numpy(NOISE).float(), atol=0.01, rtol=0)
    torch.testing.assert_close(corrected, torch.eye(3)[classes], atol=0.05, rtol=0)


def test_identity_gives_the_base_models_loss(toy_task):
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    method = Forward(ForwardConfig(hidden=8), batch, Seeds(0).generator("initialisation"))
    method.eval()
    logits = method.phases.classifier(batch.graph)[batch.noisy]
    expected = cross_entropy(logits, batch.noisy_labels).mean()
    torch.testing.assert_close(method.loss(batch, Seeds(0).randomness())["forward_ce"], expected)


def test_fine_tuning_leaves_c_aside(toy_task):
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    method = Forward(ForwardConfig(hidden=8), batch, Seeds(0).generator("initialisation"))
    method.eval()
    method.phases.transition.copy_(torch.full((3, 3), 1 / 3))
    stage = method.stages(batch)[-1]
    logits = method.phases.classifier(batch.graph)[batch.trusted]
    term = stage.updates[0].loss(batch, Seeds(0).randomness())["trusted_ce"]
    torch.testing.assert_close(term, cross_entropy(logits, batch.trusted_labels).mean())
    moved = {id(p) for p in stage.optimisers["main"].parameters}
    assert moved == {id(p) for p in method.phases.classifier.parameters()}
