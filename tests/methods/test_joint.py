from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.engine.fit import fit
from lnp.engine.selection import select_last
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import full_batch
from lnp.methods.gcn import Plain, PlainConfig
from lnp.methods.joint import Joint, JointConfig
from lnp.seeds import Seeds


@pytest.fixture
def batch(toy_task):
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)


def build(batch, **options):
    return Joint(JointConfig(hidden=8, epochs=10, **options), batch, Seeds(0).generator("initialisation"))


def test_terms_are_the_means_of_each_set(batch):
    method = build(batch, trusted_weight=2.5)
    method.eval()
    log_p = method.classifier(batch.graph).log_softmax(dim=1).detach().numpy()
    terms = method.loss(batch, Seeds(0).randomness())
    noisy = np.mean([-log_p[i, batch.given[i]] for i in batch.noisy.tolist()])
    trusted = np.mean([-log_p[i, batch.given[i]] for i in batch.trusted.tolist()])
    assert terms["noisy_ce"].item() == pytest.approx(noisy, rel=1e-5)
    assert terms["trusted_ce"].item() == pytest.approx(2.5 * trusted, rel=1e-5)


@pytest.mark.parametrize("nobody_trusted", [False, True])
def test_without_weight_or_trusted_nodes_it_is_the_base_model(nobody_trusted, toy_task, batch):
    if nobody_trusted:
        given = np.where(toy_task.observed.trusted, -1, toy_task.observed.given)
        batch = full_batch(toy_task.graph, ObservedLabels(given, class_count=3), toy_task.split.train)
    joint = build(batch, trusted_weight=1.0 if nobody_trusted else 0.0)
    config = PlainConfig(hidden=8, epochs=10, fine_tune_epochs=0, normalisation="row")
    plain = Plain(config, batch, Seeds(0).generator("initialisation"))
    results = [fit(method, batch, select_last(), Seeds(0).randomness()).probabilities for method in (joint, plain)]
    torch.testing.assert_close(results[0], results[1], atol=1e-6, rtol=0)
