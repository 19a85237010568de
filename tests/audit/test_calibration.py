"""The calibration error against a loop, and of the posterior where everything is known."""

from __future__ import annotations

import numpy as np
import pytest

from lnp.audit.calibration import quality_calibration_error
from lnp.audit.posterior import label_posterior, quality_of
from lnp.errors import ConfigError, LabelError


def test_against_a_loop_over_bins() -> None:
    generator = np.random.default_rng(0)
    quality, right = generator.random(300), generator.random(300) < 0.6
    total = 0.0
    for low in range(7):
        inside = [(q, r) for q, r in zip(quality, right, strict=True) if low / 7 <= q < (low + 1) / 7]
        if inside:
            total += abs(np.mean([q for q, _ in inside]) - np.mean([r for _, r in inside])) * len(inside) / 300
    assert quality_calibration_error(quality, right, bins=7) == pytest.approx(total)


def test_certainty_that_is_wrong_costs_everything() -> None:
    assert quality_calibration_error(np.array([0.0, 1.0]), np.array([True, False])) == 1.0
    assert quality_calibration_error(np.array([1.0, 0.0]), np.array([True, False])) == 0.0


def test_the_posterior_is_calibrated_under_the_channel_that_drew_the_labels() -> None:
    generator = np.random.default_rng(1)
    transition = np.array([[0.5, 0.4, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
    probabilities = generator.dirichlet(np.full(3, 0.6), 40_000)
    true = (probabilities.cumsum(axis=1) < generator.random((40_000, 1))).sum(axis=1)
    given = (transition[true].cumsum(axis=1) < generator.random((40_000, 1))).sum(axis=1).clip(max=2)
    quality = quality_of(label_posterior(probabilities, given, transition), given)
    assert quality_calibration_error(quality, given == true) < 0.01
    naive = probabilities[np.arange(given.size), given]
    assert quality_calibration_error(naive, given == true) > 0.05


@pytest.mark.parametrize(
    ("quality", "right", "bins", "error"),
    [
        (np.array([0.5]), np.array([True]), 0, ConfigError),
        (np.array([0.5, 0.1]), np.array([True]), 10, LabelError),
        (np.zeros(0), np.zeros(0, bool), 10, LabelError),
        (np.array([1.5]), np.array([True]), 10, LabelError),
        (np.array([np.nan]), np.array([True]), 10, LabelError),
    ],
)
def test_what_cannot_be_measured(quality, right, bins, error) -> None:
    with pytest.raises(error, match="Expected"):
        quality_calibration_error(quality, right, bins=bins)
