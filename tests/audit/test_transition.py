"""The channel: it climbs, it finds what was drawn, and its prior's strength follows the labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln

from lnp.audit.posterior import label_posterior, log_likelihood
from lnp.audit.transition import (
    STRENGTHS,
    choose_strength,
    estimate_transition,
    expected_counts,
    fit_rate,
    fit_transition,
    uniform_transition,
)


def draw(transition: np.ndarray, count: int, seed: int = 0, sharpness: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """Nodes whose class is drawn from π, with labels from the channel: the model of the estimate, exactly."""
    generator = np.random.default_rng(seed)
    c = len(transition)
    probabilities = generator.dirichlet(np.full(c, sharpness), count)
    true = (probabilities.cumsum(axis=1) < generator.random((count, 1))).sum(axis=1).clip(max=c - 1)
    given = (transition[true].cumsum(axis=1) < generator.random((count, 1))).sum(axis=1).clip(max=c - 1)
    return probabilities, given


FLIP = 0.4 * np.eye(4) + 0.6 * np.eye(4)[[1, 2, 3, 0]]


def test_expected_counts_are_sums_of_posteriors() -> None:
    probabilities, given = draw(FLIP, 50)
    posterior = label_posterior(probabilities, given, uniform_transition(0.3, 4))
    expected = np.array([[posterior[given == j, i].sum() for j in range(4)] for i in range(4)])
    np.testing.assert_allclose(expected_counts(probabilities, given, uniform_transition(0.3, 4)), expected)


@pytest.mark.parametrize("prior", [0.0, 5.0])
def test_likelihood_times_prior_never_falls(prior: float) -> None:
    probabilities, given = draw(FLIP, 200)
    counts = prior * uniform_transition(0.4, 4) + 1e-9
    start = np.random.default_rng(1).dirichlet(np.ones(4), 4)
    values = []
    for steps in range(30):
        transition = fit_transition(probabilities, given, counts, start=start, steps=steps)
        values.append(log_likelihood(probabilities, given, transition) + (counts * np.log(transition)).sum())
    assert (np.diff(values) >= -1e-9).all()
    assert values[-1] > values[0] + 1


def test_the_maximum_is_the_same_from_everywhere() -> None:
    probabilities, given = draw(FLIP, 400)
    generator = np.random.default_rng(5)
    prior = np.full((4, 4), 0.1)
    ends = [
        fit_transition(probabilities, given, prior, start=generator.dirichlet(np.ones(4), 4), steps=3000)
        for _ in range(3)
    ]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-3)
    np.testing.assert_allclose(ends[0], ends[2], atol=1e-3)


def test_it_finds_the_channel_even_where_most_labels_are_wrong() -> None:
    probabilities, given = draw(FLIP, 20_000)
    start = fit_transition(probabilities, given, np.full((4, 4), 0.025))
    np.testing.assert_allclose(estimate_transition(probabilities, given, start), FLIP, atol=0.05)


def test_the_rate_is_the_most_likely_one() -> None:
    probabilities, given = draw(uniform_transition(0.35, 4), 5000)
    rates = np.linspace(0.01, 0.99, 99)
    likelihoods = [log_likelihood(probabilities, given, uniform_transition(rate, 4)) for rate in rates]
    found = fit_rate(probabilities, given)
    assert found == pytest.approx(rates[int(np.argmax(likelihoods))], abs=0.011)
    assert found == pytest.approx(0.35, abs=0.05)


def test_strength_has_the_largest_evidence() -> None:
    counts = np.array([[30.0, 5, 5], [4, 28, 2], [6, 3, 31]])
    centre = uniform_transition(0.3, 3)

    def evidence(strength: float) -> float:
        total = 0.0
        for row, mean in zip(counts, centre, strict=True):
            total += gammaln(strength) - gammaln(strength + row.sum())
            total += sum(gammaln(strength * m + n) - gammaln(strength * m) for m, n in zip(mean, row, strict=True))
        return total

    assert choose_strength(counts, centre) == STRENGTHS[int(np.argmax([evidence(a) for a in STRENGTHS]))]


def test_random_mistakes_bind_the_channel_and_regular_ones_free_it() -> None:
    for channel, bound in ((uniform_transition(0.4, 4), True), (FLIP, False)):
        probabilities, given = draw(channel, 1500)
        counts = expected_counts(probabilities, given, channel)
        strength = choose_strength(counts, uniform_transition(fit_rate(probabilities, given), 4))
        assert (strength > 100) is bound


def test_checked_labels_count_as_what_they_were() -> None:
    nobody = np.zeros((0, 4)), np.zeros(0, np.int64)
    checks = np.array([[6, 2, 0, 0], [0, 8, 0, 0], [0, 0, 3, 5], [1, 1, 0, 6]])
    assert fit_rate(*nobody, checks=checks) == pytest.approx(9 / 32 * 4 / 3, abs=1e-4)  # 9 of 32 were wrong
    probabilities, given = draw(FLIP, 1500)
    known = np.zeros((4, 4), np.int64)
    np.add.at(known, (probabilities.argmax(axis=1), given), 1)
    alone = fit_transition(probabilities, given, 0.025 + known)
    start = fit_transition(probabilities, given, np.full((4, 4), 0.025))
    both = estimate_transition(probabilities, given, start, checks=known)
    np.testing.assert_allclose(both, alone, atol=0.02)  # 1,500 exact labels leave nothing to the prior
    assert np.abs(estimate_transition(probabilities, given, start) - both).max() > 0.02
