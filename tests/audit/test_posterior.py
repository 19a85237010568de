"""Bayes' rule against an enumeration of worlds."""

from __future__ import annotations

import numpy as np
import pytest

from lnp.audit.posterior import label_posterior, log_likelihood, quality_of


@pytest.fixture
def world() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(3)
    return generator.dirichlet(np.ones(4), 20), generator.integers(0, 4, 20), generator.dirichlet(np.ones(4), 4)


def test_posterior_is_what_counting_joint_probabilities_gives(world) -> None:
    probabilities, given, transition = world
    found = label_posterior(probabilities, given, transition)
    for i in range(20):
        joint = {(k, j): probabilities[i, k] * transition[k, j] for k in range(4) for j in range(4)}
        assert sum(joint.values()) == pytest.approx(1)
        seen = {k: joint[(k, given[i])] for k in range(4)}
        expected = [seen[k] / sum(seen.values()) for k in range(4)]
        np.testing.assert_allclose(found[i], expected, rtol=1e-12)
        assert quality_of(found, given)[i] == pytest.approx(expected[given[i]])


def test_log_likelihood_is_that_of_the_given_labels(world) -> None:
    probabilities, given, transition = world
    expected = sum(np.log((probabilities[i] @ transition)[given[i]]) for i in range(20))
    assert log_likelihood(probabilities, given, transition) == pytest.approx(expected)


def test_a_channel_without_noise_believes_every_label_and_one_without_information_none(world) -> None:
    probabilities, given, _ = world
    np.testing.assert_allclose(quality_of(label_posterior(probabilities, given, np.eye(4)), given), 1)
    nothing = label_posterior(probabilities, given, np.full((4, 4), 0.25))
    np.testing.assert_allclose(nothing, probabilities)


def test_frequencies_of_drawn_labels_agree() -> None:
    generator = np.random.default_rng(0)
    probabilities, transition = np.array([0.6, 0.4]), np.array([[0.7, 0.3], [0.2, 0.8]])
    true = generator.choice(2, 200_000, p=probabilities)
    given = (generator.random(true.size) < transition[true, 1]).astype(int)
    share = (true[given == 1] == 1).mean()
    assert label_posterior(probabilities[None], np.array([1]), transition)[0, 1] == pytest.approx(share, abs=0.005)
