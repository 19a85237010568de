from __future__ import annotations

import math

import pytest
import torch

from lnp.engine.fit import fit
from lnp.engine.selection import select_last
from lnp.errors import ConfigError
from lnp.methods.apl import APL, APLConfig
from lnp.methods.batch import full_batch
from lnp.seeds import Seeds


@pytest.fixture
def batch(toy_task):
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)


def terms(batch, **options):
    method = APL(APLConfig(hidden=8, **options), batch, Seeds(0).generator("initialisation"))
    method.eval()
    p = method.classifier(batch.graph).softmax(dim=1)[batch.noisy].detach()
    return method.loss(batch, Seeds(0).randomness()), p, p[torch.arange(len(p)), batch.noisy_labels]


def test_terms_are_weighted_means_over_the_noisy_nodes(batch):
    losses, p, of_label = terms(batch, active_weight=2.0, passive_weight=0.3)
    torch.testing.assert_close(losses["active"].detach(), 2 * (of_label.log() / p.log().sum(dim=1)).mean())
    torch.testing.assert_close(losses["passive"].detach(), -0.3 * math.log(1e-4) * (1 - of_label).mean())


def test_focal_and_absolute_variants(batch):
    losses, p, of_label = terms(batch, active="nfl", passive="mae", gamma=2.0, active_weight=1.0, passive_weight=1.0)
    focal = (1 - p) ** 2 * p.log()
    own = (1 - of_label) ** 2 * of_label.log()
    torch.testing.assert_close(losses["active"].detach(), (own / focal.sum(dim=1)).mean())
    torch.testing.assert_close(losses["passive"].detach(), (1 - of_label).mean())


def test_reverse_cross_entropy_is_absolute_error_with_another_weight(batch):
    results = []
    for passive, weight in (("rce", 0.5), ("mae", -0.5 * math.log(1e-4))):
        config = APLConfig(hidden=8, epochs=20, fine_tune_epochs=0, passive=passive, passive_weight=weight)
        method = APL(config, batch, Seeds(0).generator("initialisation"))
        results.append(fit(method, batch, select_last(), Seeds(0).randomness()).probabilities)
    torch.testing.assert_close(results[0], results[1], atol=1e-4, rtol=0)


def test_detached_focal_factors_change_the_gradient_and_not_the_value(batch):
    gradients, values = [], []
    for detach in (False, True):
        config = APLConfig(hidden=8, active="nfl", passive_weight=0.0, detach_focal=detach)
        method = APL(config, batch, Seeds(0).generator("initialisation"))
        method.eval()
        term = method.loss(batch, Seeds(0).randomness())["active"]
        term.backward()
        values.append(term.item())
        gradients.append(method.classifier.layers[-1].weight.grad)
    assert values[0] == values[1]
    assert (gradients[0] - gradients[1]).abs().max() > 1e-4


def test_options_are_checked():
    with pytest.raises(ConfigError, match="Expected `active` to be one of nce, nfl, but got 'ce'"):
        APLConfig(active="ce")
    with pytest.raises(ConfigError, match="Expected `passive` to be one of mae, rce, but got 'nce'"):
        APLConfig(passive="nce")
