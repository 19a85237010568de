"""The scorer as a whole, on a graph where it can be judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import lnp.audit.cross_fit as module
from lnp.audit.calibration import quality_calibration_error
from lnp.audit.cross_fit import audit_network, cross_fit, network_count
from lnp.audit.network import ChannelNetworkConfig
from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import Batch, full_batch
from lnp.methods.registry import make_config
from lnp.metrics.detection import noise_detection
from lnp.noise.corrupt import corrupt
from lnp.noise.transition import flip_matrix
from lnp.seeds import Seeds

CONFIG = ChannelNetworkConfig(hidden=16, epochs=60)


def flipped(rate: float, *, trusted: int = 4) -> tuple[Batch, np.ndarray]:
    """400 nodes in three classes, labels moved on by one class at the rate; the truth of the noisy nodes."""
    seeds = Seeds(3)
    data = synthetic(SyntheticConfig(nodes=400, classes=3, features=8, signal=2.5), seeds.generator("graph"))
    truth = data.truth.labels
    given = corrupt(truth, flip_matrix(3, rate, [1, 2, 0]), seeds.generator("noise")).labels.copy()
    known = np.concatenate([np.flatnonzero(truth == k)[:trusted] for k in range(3)]).astype(int)
    given[known] = truth[known]
    mask = np.zeros(400, bool)
    mask[known] = True
    observed = ObservedLabels(given, mask, class_count=3)
    return full_batch(data.graph, observed, observed.noisy_nodes), truth[observed.noisy_nodes]


def test_it_finds_wrong_labels_even_where_they_are_the_majority() -> None:
    batch, truth = flipped(0.6)
    scores = cross_fit(batch, CONFIG, Seeds(0))
    given = batch.noisy_labels.numpy()
    found = noise_detection(scores.quality, given != truth)
    assert found.auroc is not None
    assert found.auroc > 0.95
    assert (scores.posterior.argmax(axis=1) == truth).mean() > 0.9
    assert quality_calibration_error(scores.quality, given == truth) < 0.1
    np.testing.assert_allclose(scores.transition, flip_matrix(3, 0.6, [1, 2, 0]), atol=0.15)
    np.testing.assert_allclose(scores.posterior.sum(axis=1), 1)
    np.testing.assert_allclose(scores.quality, scores.posterior[np.arange(given.size), given])


def test_same_seed_same_scores_and_a_label_of_no_set_plays_no_part() -> None:
    batch, _ = flipped(0.3)
    quick = replace(CONFIG, epochs=3)
    hidden = batch.given.clone()
    unused = torch.ones(400, dtype=torch.bool)
    unused[batch.noisy] = unused[batch.trusted] = False
    few = replace(batch, noisy=batch.noisy[:100])
    unused[batch.noisy[100:]] = True
    hidden[unused] = (hidden[unused] + 1) % 3
    done: list[int] = []
    first = cross_fit(few, quick, Seeds(0), lambda: done.append(1))
    assert len(done) == network_count(batch.node_count) == 38
    assert network_count(10**6) == 36  # nobody looks for similar nodes there
    again = cross_fit(replace(few, given=hidden), quick, Seeds(0))
    np.testing.assert_array_equal(first.quality, again.quality)


def test_labels_wrong_at_random_leave_the_rows_equal() -> None:
    batch, truth = flipped(0.0)
    given = batch.given.clone()
    generator = np.random.default_rng(0)
    moved = batch.noisy[torch.from_numpy(generator.random(batch.noisy.numel()) < 0.4)]
    given[moved] = torch.from_numpy(generator.integers(3, size=moved.numel()))
    scores = cross_fit(replace(batch, given=given), CONFIG, Seeds(0))
    assert np.ptp(np.diag(scores.transition)) < 1e-9
    right = given[batch.noisy].numpy() == truth
    found = noise_detection(scores.quality, ~right)
    assert found.auroc is not None
    assert found.auroc > 0.95
    assert quality_calibration_error(scores.quality, right) < 0.1


def test_without_trusted_nodes_it_still_works() -> None:
    batch, truth = flipped(0.2, trusted=0)
    done: list[int] = []
    scores = cross_fit(batch, replace(CONFIG, epochs=30), Seeds(0), lambda: done.append(1))
    assert len(done) == network_count(batch.node_count)
    found = noise_detection(scores.quality, batch.noisy_labels.numpy() != truth)
    assert found.auroc is not None
    assert found.auroc > 0.8


def test_many_labels_are_sampled_to_fit_the_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    batch, truth = flipped(0.3)
    monkeypatch.setattr(module, "SAMPLE", 150)
    scores = cross_fit(batch, replace(CONFIG, epochs=30), Seeds(0))
    assert scores.quality.size == truth.size
    found = noise_detection(scores.quality, batch.noisy_labels.numpy() != truth)
    assert found.auroc is not None
    assert found.auroc > 0.9


def test_networks_have_the_shape_of_the_model() -> None:
    config = audit_network(make_config("lnp-v2", {"backbone": "h2gcn", "hidden": 24, "layers": 3}))
    assert (config.backbone, config.hidden, config.layers) == ("h2gcn", 24, 3)
