"""Against the model that it states, summed over draws, and against what it must do at the ends."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit

from lnp.audit.calibration import quality_calibration_error
from lnp.audit.recalibration import SHIFT, STRETCH, recalibrate, recalibrated_quality


def test_it_is_the_mean_over_the_model_that_it_states() -> None:
    """Importance sampling: a and b from their prior, each draw weighed by how likely it makes what was found."""
    checked, right = np.array([0.9, 0.8, 0.95, 0.6, 0.99]), np.array([True, False, False, True, False])
    asked = np.array([0.05, 0.5, 0.97])
    generator = np.random.default_rng(0)
    a = generator.normal(0, SHIFT, 400_000)[:, None]
    b = np.exp(generator.normal(0, STRETCH, 400_000))[:, None]
    likelihood = np.prod(np.where(right, 1, -1) * (expit(a + b * logit(checked)) - ~right), axis=1)
    as_it_is = np.prod(np.where(right, checked, 1 - checked))
    moved = (likelihood[:, None] * expit(a + b * logit(asked))).mean(axis=0)
    expected = (as_it_is * asked + moved) / (as_it_is + likelihood.mean())
    np.testing.assert_allclose(recalibrated_quality(asked, checked, right), expected, atol=0.005)


def test_without_checks_nothing_changes() -> None:
    quality = np.array([0.0, 0.3, 1.0])
    np.testing.assert_array_equal(recalibrated_quality(quality, np.zeros(0), np.zeros(0, bool)), quality)


def test_many_checks_settle_it() -> None:
    """Labels whose quality is far too high: σ(a + b logit q) is the truth, and comes back."""
    generator = np.random.default_rng(1)
    checked = expit(generator.normal(4, 1, 4000))
    truth = expit(-2 + 0.6 * logit(checked))
    right = generator.random(4000) < truth
    assert quality_calibration_error(checked, right) > 0.3
    np.testing.assert_allclose(recalibrated_quality(checked, checked, right), truth, atol=0.03)


def test_a_quality_that_means_what_it_says_hardly_moves() -> None:
    generator = np.random.default_rng(2)
    quality = generator.random(2000)
    moves = []
    for _ in range(40):
        checked = generator.random(25)
        right = generator.random(25) < checked
        moves.append(np.abs(recalibrated_quality(quality, checked, right) - quality).mean())
    assert np.mean(moves) < 0.03


def test_the_order_stays_whoever_was_checked() -> None:
    generator = np.random.default_rng(3)
    quality = np.sort(generator.random(200))
    suspects = quality[:20]  # a review checks the most suspect
    found = recalibrated_quality(quality, suspects, np.zeros(20, bool))
    assert (np.diff(found) > 0).all()
    assert ((found > 0) & (found < 1)).all()
    assert found[-1] > 0.9  # that all suspects were wrong says little of those that are not


def test_qualities_of_zero_and_one_do_no_harm() -> None:
    found = recalibrated_quality(np.array([0.0, 1.0]), np.array([1.0, 0.0, 1.0]), np.array([False, True, True]))
    assert np.isfinite(found).all()
    assert found[0] < found[1] < 1


@pytest.mark.parametrize("classes", [2, 4])
def test_the_other_classes_share_the_rest_as_they_did(classes: int) -> None:
    generator = np.random.default_rng(4)
    posterior = generator.dirichlet(np.ones(classes), 30)
    given = generator.integers(classes, size=30)
    checked, right = np.full(10, 0.99), np.arange(10) < 4
    found = recalibrate(posterior, given, checked, right)
    rows = np.arange(30)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose(found[rows, given], recalibrated_quality(posterior[rows, given], checked, right))
    for row in rows:
        others = np.delete(np.arange(classes), given[row])
        expected = posterior[row, others] / posterior[row, others].sum()
        np.testing.assert_allclose(found[row, others] / found[row, others].sum(), expected)


def test_where_all_others_were_ruled_out_they_share_evenly() -> None:
    found = recalibrate(np.array([[1.0, 0.0, 0.0]]), np.array([0]), np.full(20, 0.999), np.zeros(20, bool))
    assert found[0, 0] < 0.3
    assert found[0, 1] == found[0, 2] == pytest.approx((1 - found[0, 0]) / 2)
