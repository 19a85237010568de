"""Sharpness, doubt and channel, fitted to labels whose making is known."""

from __future__ import annotations

import numpy as np
import pytest

from lnp.audit.calibration import quality_calibration_error
from lnp.audit.channel_fit import ANEW, DOUBTS, believed, fit_channel, fit_doubts, fit_sharpness, weights_of
from lnp.audit.posterior import label_posterior, quality_of
from lnp.audit.transition import uniform_transition


def draw(channel: np.ndarray, count: int, *, sharpness: float = 1.0, doubt: float = 0.0, seed: int = 0):
    """Log-probabilities, true classes and labels of nodes for which w = ``sharpness`` and e = ``doubt`` are right."""
    generator = np.random.default_rng(seed)
    c = len(channel)
    logs = 2 * generator.standard_normal((count, c)) / sharpness
    logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    chances = believed(logs, sharpness, doubt)
    true = (chances.cumsum(axis=1) < generator.random((count, 1))).sum(axis=1).clip(max=c - 1)
    given = (channel[true].cumsum(axis=1) < generator.random((count, 1))).sum(axis=1).clip(max=c - 1)
    return logs, true, given


def test_believed_is_a_tempered_softmax_mixed_with_chance() -> None:
    logs = np.log([[0.5, 0.3, 0.2]])
    squares = np.array([0.25, 0.09, 0.04])
    np.testing.assert_allclose(believed(logs, 2.0, 0.3), [0.7 * squares / squares.sum() + 0.1])


@pytest.mark.parametrize("sharpness", [0.5, 2.5])
def test_sharpness_is_found_behind_the_noise(sharpness: float) -> None:
    channel = uniform_transition(0.4, 4)
    logs, _, given = draw(channel, 8000, sharpness=sharpness)
    assert fit_sharpness(logs, given, channel) == pytest.approx(sharpness, rel=0.12)


def test_channel_and_sharpness_are_found_together() -> None:
    channel = 0.4 * np.eye(4) + 0.6 * np.eye(4)[[1, 2, 3, 0]]
    logs, true, given = draw(channel, 6000, sharpness=2.0)
    found = fit_channel(logs, given)
    np.testing.assert_allclose(found.transition, channel, atol=0.06)
    assert found.sharpness == pytest.approx(2.0, rel=0.15)
    quality = quality_of(label_posterior(believed(logs, found.sharpness), given, found.transition), given)
    assert quality_calibration_error(quality, given == true) < 0.03


def test_equal_rows_find_the_rate_and_nothing_else() -> None:
    logs, _, given = draw(uniform_transition(0.45, 4), 6000, sharpness=2.0)
    found = fit_channel(logs, given, equal_rows=True)
    rate = 1 - (4 * found.transition[0, 0] - 1) / 3
    assert rate == pytest.approx(0.45, abs=0.04)
    np.testing.assert_allclose(found.transition, uniform_transition(rate, 4))
    for fit in fit_doubts(logs, given, None, None, equal_rows=True):
        assert np.ptp(np.diag(fit.transition)) < 1e-12
    flip = 0.4 * np.eye(4) + 0.6 * np.eye(4)[[1, 2, 3, 0]]
    logs, _, given = draw(flip, 3000)
    assert fit_channel(logs, given).score > fit_channel(logs, given, equal_rows=True).score + 100 * ANEW


def test_unseen_trusted_nodes_tell_doubt_from_noise() -> None:
    """Uniform noise on the labels and a network wrong at random look alike; trusted nodes say which it is."""
    shares = []
    for doubt, rate in ((0.0, 0.5), (0.45, 0.0909)):  # the same product (1 - e)(1 - r)
        logs, _, given = draw(uniform_transition(rate, 3), 1500, sharpness=1.0, doubt=doubt)
        trusted_logs, trusted, _ = draw(np.eye(3), 200, doubt=doubt, seed=1)
        fits = fit_doubts(logs, given, trusted_logs, trusted)
        weights = weights_of(np.array([fit.score for fit in fits]))
        shares.append(float(weights @ np.array(DOUBTS)))
        right = float(weights @ np.array([np.diag(fit.transition).mean() for fit in fits]))
        assert right == pytest.approx(1 - rate * 2 / 3, abs=0.08)
    assert shares[0] < 0.12
    assert shares[1] > 0.3


def test_every_doubt_has_a_fit_and_none_is_needed_to_start() -> None:
    logs, _, given = draw(uniform_transition(0.3, 3), 150)
    fits = fit_doubts(logs, given, None, None)
    assert tuple(fit.doubt for fit in fits) == DOUBTS
    for fit in fits:
        np.testing.assert_allclose(fit.transition.sum(axis=1), 1)


def test_weights() -> None:
    np.testing.assert_allclose(weights_of(np.array([-1000.0, -1000.0 + np.log(4)])), [0.2, 0.8])


def test_checks_make_up_for_suspects_that_were_taken_out() -> None:
    """Whoever checks the most suspect labels leaves too few wrong ones behind; with what they were, T is as before."""
    channel = 0.6 * np.eye(3) + 0.4 * np.eye(3)[[1, 2, 0]]
    logs, true, given = draw(channel, 6000, sharpness=2.0)
    quality = quality_of(label_posterior(believed(logs, 2.0), given, channel), given)
    checked, rest = np.split(np.argsort(quality), [1500])
    checks = np.zeros((3, 3), np.int64)
    np.add.at(checks, (true[checked], given[checked]), 1)
    found = fit_channel(logs[rest], given[rest], checks=checks)
    np.testing.assert_allclose(found.transition, channel, atol=0.05)
    assert np.diag(fit_channel(logs[rest], given[rest]).transition).mean() > 0.75  # three quarters right, it would seem


def test_checks_say_how_many_labels_are_wrong_where_nothing_else_does() -> None:
    """A network that guesses: only checked labels know the rate."""
    generator = np.random.default_rng(0)
    logs = np.log(generator.dirichlet(np.full(3, 50.0), 600))
    given = generator.integers(3, size=600)
    for right in (20, 30):
        checks = np.diag([right // 10 * 3, right // 10 * 3, right // 10 * 4])
        checks[0, 1] = 40 - right
        fits = fit_doubts(logs, given, logs[:0], given[:0], checks=checks, equal_rows=True)
        weights = weights_of(np.array([fit.score for fit in fits]))
        kept = float(weights @ np.array([np.diag(fit.transition).mean() for fit in fits]))
        assert kept == pytest.approx(right / 40, abs=0.12)
