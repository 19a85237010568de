"""What to begin with is what the channel model says before it trains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lnp.audit.first_channel import learn_first_channel, steps
from lnp.audit.network import ChannelNetworkConfig
from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import Batch, full_batch
from lnp.noise.corrupt import corrupt
from lnp.noise.transition import flip_matrix, uniform_mix_matrix
from lnp.seeds import Seeds

CONFIG = ChannelNetworkConfig(hidden=16)


def corrupted(noise: np.ndarray) -> Batch:
    """500 nodes in three classes, labels gone wrong by the matrix, five trusted nodes in each class."""
    seeds = Seeds(5)
    data = synthetic(SyntheticConfig(nodes=500, classes=3, features=8, signal=2.5), seeds.generator("graph"))
    truth = data.truth.labels
    given = corrupt(truth, noise, seeds.generator("noise")).labels.copy()
    mask = np.zeros(500, bool)
    mask[np.concatenate([np.flatnonzero(truth == k)[:5] for k in range(3)])] = True
    given[mask] = truth[mask]
    observed = ObservedLabels(given, mask, class_count=3)
    return full_batch(data.graph, observed, observed.noisy_nodes)


@pytest.mark.parametrize(("noise", "least", "most"), [
    (flip_matrix(3, 0.4, [1, 2, 0]), 0.15, 0.5),
    (uniform_mix_matrix(3, 0.5), -0.05, 0.03),
])  # fmt: skip
def test_the_channel_is_found_and_what_its_rows_gain(noise: np.ndarray, least: float, most: float) -> None:
    done: list[int] = []
    batch = corrupted(noise)
    found = learn_first_channel(batch, CONFIG, Seeds(0), lambda: done.append(1))
    assert least < found.gain < most
    np.testing.assert_allclose(found.transition, noise, atol=0.2)
    assert len(done) == steps(batch.node_count)


def test_same_seed_same_answer() -> None:
    batch = corrupted(flip_matrix(3, 0.4, [1, 2, 0]))
    first, again = (learn_first_channel(batch, replace(CONFIG, hidden=4), Seeds(1)) for _ in range(2))
    np.testing.assert_array_equal(first.transition, again.transition)
    assert (first.variant, first.gain) == (again.variant, again.gain)
