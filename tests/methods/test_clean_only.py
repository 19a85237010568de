from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.engine.fit import fit
from lnp.engine.selection import select_last
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import full_batch
from lnp.methods.clean_only import CleanOnly, CleanOnlyConfig
from lnp.seeds import Seeds


def build(batch, **options):
    return CleanOnly(CleanOnlyConfig(hidden=8, **options), batch, Seeds(0).generator("initialisation"))


def test_loss_is_the_mean_over_the_trusted_nodes(toy_task):
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    method = build(batch)
    method.eval()
    log_p = method.classifier(batch.graph).log_softmax(dim=1).detach().numpy()
    expected = np.mean([-log_p[i, batch.given[i]] for i in batch.trusted.tolist()])
    terms = method.loss(batch, Seeds(0).randomness())
    assert terms.keys() == {"trusted_ce"}
    assert terms["trusted_ce"].item() == pytest.approx(expected, rel=1e-5)


def test_noisy_labels_are_never_read(toy_task):
    observed = toy_task.observed
    other = np.where(observed.trusted | (observed.given < 0), observed.given, (observed.given + 1) % 3)
    results = []
    for labels in (observed, ObservedLabels(other, observed.trusted, class_count=3)):
        batch = full_batch(toy_task.graph, labels, toy_task.split.train)
        results.append(fit(build(batch, epochs=10), batch, select_last(), Seeds(0).randomness()).probabilities)
    assert torch.equal(*results)


def test_it_fits_the_trusted_nodes(toy_task):
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    p = fit(build(batch, dropout=0.0), batch, select_last(), Seeds(0).randomness()).probabilities
    assert torch.equal(p[batch.trusted].argmax(dim=1), batch.trusted_labels)
