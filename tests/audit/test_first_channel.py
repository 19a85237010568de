"""What to begin with is what the channel model says before it trains."""

from __future__ import annotations

import numpy as np
import pytest

from lnp.audit.first_channel import STEPS, learn_first_channel
from lnp.audit.network import ChannelNetworkConfig
from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import full_batch
from lnp.noise.corrupt import corrupt
from lnp.noise.transition import flip_matrix
from lnp.seeds import Seeds


@pytest.fixture(scope="module")
def flipped():
    """500 nodes in three classes, 40 % of the labels moved on by one class."""
    seeds = Seeds(5)
    data = synthetic(SyntheticConfig(nodes=500, classes=3, features=8, signal=2.5), seeds.generator("graph"))
    truth = data.truth.labels
    given = corrupt(truth, flip_matrix(3, 0.4, [1, 2, 0]), seeds.generator("noise")).labels.copy()
    mask = np.zeros(500, bool)
    mask[np.concatenate([np.flatnonzero(truth == k)[:5] for k in range(3)])] = True
    given[mask] = truth[mask]
    observed = ObservedLabels(given, mask, class_count=3)
    return full_batch(data.graph, observed, observed.noisy_nodes)


def test_the_channel_of_flipped_labels_is_found(flipped) -> None:
    done: list[int] = []
    config = ChannelNetworkConfig(hidden=16, variant="smooth")
    found = learn_first_channel(flipped, config, Seeds(0), lambda: done.append(1))
    np.testing.assert_allclose(found, flip_matrix(3, 0.4, [1, 2, 0]), atol=0.15)
    assert len(done) == STEPS


def test_same_seed_same_channel(flipped) -> None:
    config = ChannelNetworkConfig(hidden=4)
    first, again = (learn_first_channel(flipped, config, Seeds(1)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
