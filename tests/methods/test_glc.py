from __future__ import annotations

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
from lnp.methods.glc import GLC, GLCConfig
from lnp.seeds import Seeds


@pytest.fixture
def batch(toy_task):
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)


def build(batch, **options):
    return GLC(GLCConfig(**{"hidden": 8} | options), batch, Seeds(0).generator("initialisation"))


def test_identity_gives_cross_entropy_on_both_sets(batch):
    method = build(batch, trusted_weight=1.0)
    method.eval()
    both = torch.cat([batch.noisy, batch.trusted])
    expected = cross_entropy(method.phases.classifier(batch.graph)[both], batch.given[both]).mean()
    terms = method.loss(batch, Seeds(0).randomness())
    torch.testing.assert_close(terms["trusted_ce"] + terms["forward_ce"], expected)


def test_weight_counts_a_trusted_node_more(batch):
    once, tenfold = build(batch, trusted_weight=1.0), build(batch, trusted_weight=10.0)
    once.eval(), tenfold.eval()
    first, second = (method.loss(batch, Seeds(0).randomness()) for method in (once, tenfold))
    torch.testing.assert_close(second["trusted_ce"], 10 * first["trusted_ce"])
    torch.testing.assert_close(second["forward_ce"], first["forward_ce"])


def test_equals_forward_with_anchors_for_one_trusted_node_per_class(toy_task):
    observed = toy_task.observed
    given, mask = observed.given.copy(), np.zeros_like(observed.trusted)
    for k in range(3):
        mask[observed.trusted_nodes[given[observed.trusted_nodes] == k][0]] = True
    given[observed.trusted & ~mask] = -1
    batch = full_batch(toy_task.graph, ObservedLabels(given, mask, class_count=3), toy_task.split.train)
    sizes = {"hidden": 8, "epochs": 10, "estimate_epochs": 10, "weight_decay": 0.0}
    gold = build(batch, **sizes, trusted_weight=0.0)
    config = ForwardConfig(**sizes, estimator="anchors", fine_tune_epochs=0)
    anchored = Forward(config, batch, Seeds(0).generator("initialisation"))
    results = [fit(m, batch, select_last(), Seeds(0).randomness()) for m in (gold, anchored)]
    assert torch.equal(gold.phases.transition, anchored.phases.transition)
    # The means differ by the constant |T_N| / (|T_N| + |T_C|), to which Adam is blind but for its epsilon.
    torch.testing.assert_close(results[0].probabilities, results[1].probabilities, atol=1e-4, rtol=0)


def test_noise_that_makes_the_wrong_class_the_majority_is_undone():
    noise = np.array([[0.2, 0.8, 0.0], [0.0, 0.2, 0.8], [0.8, 0.0, 0.2]])
    classes = np.repeat(np.arange(3), 32)
    given = np.concatenate(
        [np.r_[np.repeat(np.arange(3), np.rint(30 * row).astype(int)), [k, k]] for k, row in enumerate(noise)]
    )
    trusted = np.tile(np.arange(32) >= 30, 3)
    graph = Graph.from_edges(np.zeros((2, 0), int), np.eye(3, dtype=np.float32)[classes], class_count=3)
    batch = full_batch(graph, ObservedLabels(given, trusted, class_count=3), np.flatnonzero(~trusted))
    options = {"layers": 1, "dropout": 0.0, "weight_decay": 0.0, "learning_rate": 0.1}
    method = build(batch, **options, epochs=300, estimate_epochs=300, trusted_weight=0.0)
    p = fit(method, batch, select_last(), Seeds(0).randomness()).probabilities
    torch.testing.assert_close(method.phases.transition, torch.from_numpy(noise).float(), atol=0.01, rtol=0)
    torch.testing.assert_close(p, torch.eye(3)[torch.from_numpy(classes)], atol=0.05, rtol=0)


def test_smoothing_counts_as_so_many_nodes_shared_by_all_classes(batch):
    method = build(batch, smoothing=1.5, estimate_epochs=20, epochs=0)
    fit(method, batch, select_last(), Seeds(0).randomness())
    p = method.eval().phases.noisy_classifier(batch.graph).softmax(dim=1).detach().double().numpy()
    for k, row in enumerate(method.phases.transition.numpy()):
        members = batch.trusted[batch.trusted_labels == k].numpy()
        np.testing.assert_allclose(row, (1.5 / 3 + p[members].sum(axis=0)) / (1.5 + members.size), rtol=1e-5)


def test_there_is_no_fine_tuning(batch):
    assert [stage.name for stage in build(batch).stages(batch)] == ["estimate", "train"]
    assert GLC.needs_trusted
