from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from lnp.errors import ConfigError, LabelError
from lnp.metrics.calibration import brier_score, expected_calibration_error


def draw(n=500, c=4, seed=0):
    generator = np.random.default_rng(seed)
    return generator.dirichlet(np.full(c, 0.5), size=n), generator.integers(c, size=n)


@pytest.mark.parametrize("bins", [1, 4, 15])
@pytest.mark.parametrize("seed", range(3))
def test_calibration_error_equals_a_literal_loop(bins, seed):
    probabilities, true = draw(seed=seed)
    expected = 0.0
    for b in range(bins):
        inside = [i for i, row in enumerate(probabilities) if b / bins < row.max() <= (b + 1) / bins]
        if inside:
            right = sum(probabilities[i].argmax() == true[i] for i in inside) / len(inside)
            confidence = sum(probabilities[i].max() for i in inside) / len(inside)
            expected += len(inside) / len(true) * abs(right - confidence)
    assert expected_calibration_error(probabilities, true, bins=bins) == pytest.approx(expected, abs=1e-12)


def test_calibration_error_closed_forms():
    # Confidence 0.8 everywhere and four of five right: calibrated. All right: 0.2 off. All wrong: 0.8 off.
    probabilities = np.tile([0.8, 0.2], (10, 1))
    for right, gap in [(8, 0.0), (10, 0.2), (0, 0.8)]:
        true = np.repeat([0, 1], [right, 10 - right])
        assert expected_calibration_error(probabilities, true) == pytest.approx(gap, abs=1e-12)


def test_gaps_of_different_bins_do_not_cancel():
    probabilities = np.array([[0.9, 0.1], [0.6, 0.4]])
    true = np.array([1, 0])  # overconfident by 0.9, underconfident by 0.4
    assert expected_calibration_error(probabilities, true) == pytest.approx((0.9 + 0.4) / 2)
    assert expected_calibration_error(probabilities, true, bins=1) == pytest.approx((0.9 - 0.4) / 2)


def test_a_confidence_on_an_edge_belongs_to_the_lower_bin():
    probabilities, true = np.array([[0.5, 0.5], [0.6, 0.4]]), np.array([1, 0])
    assert expected_calibration_error(probabilities, true, bins=2) == pytest.approx((0.5 + 0.4) / 2)


def test_rounding_above_one_is_harmless():
    probabilities = np.array([[1.0000001, 0.0]], np.float32)
    assert expected_calibration_error(probabilities, np.array([0])) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_brier_equals_a_literal_loop_and_scikit_learn(seed):
    probabilities, true = draw(seed=seed)
    expected = np.mean(
        [sum((p - (k == y)) ** 2 for k, p in enumerate(row)) for row, y in zip(probabilities, true, strict=True)]
    )
    assert brier_score(probabilities, true) == pytest.approx(expected, abs=1e-12)
    ours = brier_score(probabilities[:, :2] / probabilities[:, :2].sum(axis=1, keepdims=True), true % 2)
    share = probabilities[:, 1] / probabilities[:, :2].sum(axis=1)
    assert ours == pytest.approx(2 * brier_score_loss(true % 2, share), abs=1e-12)


@pytest.mark.parametrize("c", [2, 5, 7])
def test_brier_closed_forms(c):
    true = np.arange(3 * c) % c
    assert brier_score(np.full((3 * c, c), 1 / c), true) == pytest.approx((c - 1) / c)
    assert brier_score(np.eye(c)[true], true) == 0
    assert brier_score(np.eye(c)[(true + 1) % c], true) == 2


def test_input_is_left_alone():
    probabilities, true = draw()
    before = probabilities.copy()
    brier_score(probabilities, true)
    np.testing.assert_array_equal(probabilities, before)


def test_bad_input_is_refused():
    probabilities, true = draw(5)
    with pytest.raises(LabelError, match=r"but got \(5, 4\) for \(4,\)"):
        brier_score(probabilities, true[:4])
    with pytest.raises(LabelError, match="Expected classes 0 to 3, but got -1 to"):
        expected_calibration_error(probabilities, np.array([-1, 0, 1, 2, 3]))
    with pytest.raises(ConfigError, match="Expected `bins` to be at least 1, but got 0"):
        expected_calibration_error(probabilities, true, bins=0)
