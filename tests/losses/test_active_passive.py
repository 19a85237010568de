from __future__ import annotations

import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F

from lnp.losses.active_passive import (
    mean_absolute_error,
    normalised_cross_entropy,
    normalised_focal,
    reverse_cross_entropy,
)

CLASSES = 6
RCE = -math.log(1e-4)
SUMS = {
    "nce": (normalised_cross_entropy, 1.0),
    "nfl": (partial(normalised_focal, gamma=0.5), 1.0),
    "nfl-detached": (partial(normalised_focal, gamma=0.5, detach_focal=True), 1.0),
    "mae": (mean_absolute_error, CLASSES - 1.0),
    "rce": (reverse_cross_entropy, RCE * (CLASSES - 1)),
}


@pytest.fixture
def logits():
    return 3 * torch.randn(30, CLASSES, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.fixture
def labels():
    return torch.randint(0, CLASSES, (30,), generator=torch.Generator().manual_seed(1))


def every_label(loss, logits):
    return torch.stack([loss(logits, torch.full((len(logits),), j)) for j in range(CLASSES)], dim=1)


@pytest.mark.parametrize("name", SUMS)
def test_sum_over_labels_is_constant(name, logits):
    loss, expected = SUMS[name]
    sums = every_label(loss, logits).sum(dim=1)
    torch.testing.assert_close(sums, torch.full_like(sums, expected))


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("rate", [0.2, 0.6])
def test_uniform_noise_scales_the_loss_and_adds_a_constant(name, rate, logits, labels):
    loss, total = SUMS[name]
    table = every_label(loss, logits)
    clean = table.gather(1, labels.unsqueeze(1)).squeeze(1)
    noise = torch.full((CLASSES, CLASSES), rate / (CLASSES - 1), dtype=torch.float64).fill_diagonal_(1 - rate)
    expected = (noise[labels] * table).sum(dim=1)  # over the label a node might be given
    scale = 1 - rate * CLASSES / (CLASSES - 1)
    torch.testing.assert_close(expected, total * rate / (CLASSES - 1) + scale * clean)


def test_definitions(logits, labels):
    p = logits.softmax(dim=1)
    of_label = p.gather(1, labels.unsqueeze(1)).squeeze(1)
    torch.testing.assert_close(normalised_cross_entropy(logits, labels), of_label.log() / p.log().sum(dim=1))
    focal = (1 - p) ** 0.5 * p.log()
    torch.testing.assert_close(
        normalised_focal(logits, labels, gamma=0.5),
        focal.gather(1, labels.unsqueeze(1)).squeeze(1) / focal.sum(dim=1),
    )
    one_hot = F.one_hot(labels, CLASSES).double()
    torch.testing.assert_close(mean_absolute_error(logits, labels), (p - one_hot).abs().sum(dim=1) / 2)
    torch.testing.assert_close(reverse_cross_entropy(logits, labels), -(p * one_hot.clamp(min=1e-4).log()).sum(dim=1))


def test_focal_power_of_zero_is_normalised_cross_entropy(logits, labels):
    torch.testing.assert_close(normalised_focal(logits, labels, gamma=0.0), normalised_cross_entropy(logits, labels))


def test_reverse_cross_entropy_is_a_multiple_of_absolute_error(logits, labels):
    ratio = reverse_cross_entropy(logits, labels) / mean_absolute_error(logits, labels)
    torch.testing.assert_close(ratio, torch.full_like(ratio, 9.210340371976182))


def test_detached_focal_gradient_is_that_of_a_weighted_normalised_cross_entropy(logits, labels):
    factors = (1 - logits.softmax(dim=1)) ** 0.5

    def gradient(loss):
        leaf = logits.clone().requires_grad_()
        loss(leaf).sum().backward()
        return leaf.grad

    def weighted(z):
        weighted_log = factors * z.log_softmax(dim=1)
        return weighted_log.gather(1, labels.unsqueeze(1)).squeeze(1) / weighted_log.sum(dim=1)

    detached = gradient(lambda z: normalised_focal(z, labels, gamma=0.5, detach_focal=True))
    torch.testing.assert_close(detached, gradient(weighted))
    whole = gradient(lambda z: normalised_focal(z, labels, gamma=0.5))
    assert (whole - detached).abs().max() > 1e-3


@pytest.mark.parametrize("name", SUMS)
def test_extreme_logits_stay_finite(name):
    logits = torch.tensor([[500.0, 0.0], [-500.0, 0.0]], requires_grad=True)
    losses = SUMS[name][0](logits, torch.tensor([0, 0]))
    losses.sum().backward()
    assert losses.isfinite().all()
    assert logits.grad.isfinite().all()
    assert losses[0] < losses[1]
