"""The first channel: undoing a channel, and choosing the story that trusted nodes support."""

from __future__ import annotations

import numpy as np

from lnp.audit.first_channel import PRESUMED_RATE, deconvolve, stories, trusted_evidence
from lnp.audit.transition import uniform_transition

FLIP = 0.35 * np.eye(3) + 0.65 * np.eye(3)[[1, 2, 0]]


def test_what_a_channel_did_is_undone() -> None:
    probabilities = np.random.default_rng(0).dirichlet(np.full(3, 0.5), 10)
    np.testing.assert_allclose(deconvolve(probabilities @ FLIP, FLIP, steps=5000), probabilities, atol=2e-3)


def test_no_point_of_the_simplex_comes_closer() -> None:
    noisy = np.array([[0.02, 0.03, 0.95]])  # outside of what the channel can make
    found = deconvolve(noisy, FLIP, steps=2000)
    grid = np.array([(a, b, 1 - a - b) for a in np.linspace(0, 1, 101) for b in np.linspace(0, 1 - a, 101)])
    fits = (noisy * np.log(np.maximum(grid @ FLIP, 1e-12))).sum(axis=1)
    assert (noisy * np.log(found @ FLIP)).sum() >= fits.max() - 1e-6


def test_trusted_nodes_choose_the_story() -> None:
    generator = np.random.default_rng(1)
    labels = np.repeat(np.arange(3), 8)
    probabilities = 0.85 * np.eye(3)[labels] + 0.15 * generator.dirichlet(np.ones(3), labels.size)
    uniform = uniform_transition(PRESUMED_RATE, 3)
    for channel, other in ((FLIP, uniform), (uniform, FLIP)):
        noisy = probabilities @ channel
        assert trusted_evidence(noisy, labels, channel) > trusted_evidence(noisy, labels, other) + 2


def test_renamed_classes_explain_labels_as_well_but_not_trusted_nodes() -> None:
    labels, renaming = np.repeat(np.arange(3), 5), [1, 2, 0]
    probabilities = 0.9 * np.eye(3)[labels] + 0.1 / 3
    noisy, renamed = probabilities @ FLIP, FLIP[renaming]
    np.testing.assert_allclose(probabilities[:, renaming] @ renamed, noisy)
    assert trusted_evidence(noisy, labels, FLIP) > trusted_evidence(noisy, labels, renamed) + 10


def test_three_stories() -> None:
    first, between, last = stories(FLIP)
    np.testing.assert_allclose(first, uniform_transition(PRESUMED_RATE, 3))
    np.testing.assert_allclose(last, FLIP)
    np.testing.assert_allclose(2 * between, first + last)
