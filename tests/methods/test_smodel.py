from __future__ import annotations

import pytest
import torch

from lnp.engine.fit import fit
from lnp.engine.selection import select_last
from lnp.losses.correction import forward_correction
from lnp.methods.batch import full_batch
from lnp.methods.smodel import SModel, SModelConfig
from lnp.seeds import Seeds

START = torch.full((3, 3), 0.05).fill_diagonal_(0.9)


@pytest.fixture
def batch(toy_task):
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)


def build(batch, **options):
    return SModel(SModelConfig(hidden=8, **options), batch, Seeds(0).generator("initialisation"))


def test_c_starts_at_the_uniform_matrix(batch):
    torch.testing.assert_close(build(batch).transition.detach(), START)


def test_loss_is_the_forward_loss_through_c(batch):
    method = build(batch)
    method.eval()
    logits = method.classifier(batch.graph)[batch.noisy]
    expected = forward_correction(logits, batch.noisy_labels, START).mean()
    torch.testing.assert_close(method.loss(batch, Seeds(0).randomness())["forward_ce"], expected)


def test_gradient_reaches_c(batch):
    method = build(batch).double()
    method.eval()
    logits = method.classifier.layers[-1].bias.detach() + torch.linspace(-2, 2, 3 * batch.node_count).reshape(-1, 3)
    method.classifier.forward = lambda graph, generator=None: logits.double()

    def value():
        return method.loss(batch, Seeds(0).randomness())["forward_ce"]

    value().backward()
    step = 1e-6
    for i, j in ((0, 0), (0, 2), (2, 1)):
        with torch.no_grad():
            method.offset[i, j] += step
            up = value().item()
            method.offset[i, j] -= 2 * step
            down = value().item()
            method.offset[i, j] += step
        assert method.offset.grad[i, j].item() == pytest.approx((up - down) / (2 * step), rel=1e-4, abs=1e-9)
    assert method.offset.grad.abs().max() > 1e-3


def test_c_is_learned_with_the_network_and_untouched_by_fine_tuning(batch):
    trained = build(batch, epochs=30, fine_tune_epochs=0)
    fit(trained, batch, select_last(), Seeds(0).randomness())
    assert (trained.transition - START).abs().max() > 0.01
    tuned = build(batch, epochs=30, fine_tune_epochs=10)
    fit(tuned, batch, select_last(), Seeds(0).randomness())
    assert torch.equal(trained.transition, tuned.transition)
    assert not torch.equal(trained.classifier.layers[0].weight, tuned.classifier.layers[0].weight)


def test_weight_decay_pulls_c_to_its_start_and_not_to_pure_noise(batch):
    method = build(batch, epochs=200, weight_decay=10.0, fine_tune_epochs=0)
    fit(method, batch, select_last(), Seeds(0).randomness())
    assert method.classifier.layers[0].weight.abs().max() < 0.05  # the network has decayed
    torch.testing.assert_close(method.transition.detach(), START, atol=0.02, rtol=0)
