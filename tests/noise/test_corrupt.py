from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lnp.errors import ConfigError, LabelError
from lnp.noise.corrupt import corrupt, draw_classes, measure
from lnp.noise.transition import flip_matrix, pair_matrix, uniform_matrix, uniform_mix_matrix

N = 20_000
CERTAINTY = 1 - 1e-9


def true_labels(c, n=N, seed=0):
    return np.random.default_rng(seed).integers(c, size=n)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("c", [2, 5, 7])
@pytest.mark.parametrize("build", [uniform_matrix, uniform_mix_matrix, pair_matrix])
def test_realised_rate_is_within_its_binomial_bound(build, c, p):
    true = true_labels(c)
    result = corrupt(true, build(c, p), np.random.default_rng(1))
    expected = p * (1 - 1 / c) if build is uniform_mix_matrix else p
    low, high = stats.binom.interval(CERTAINTY, N, expected)
    assert low <= result.realised_rate * N <= high
    assert result.realised_rate == (result.labels != true).mean()


@pytest.mark.parametrize("seed", range(3))
def test_frequencies_of_every_row_fit_the_matrix(seed):
    c = 6
    matrix = np.random.default_rng(seed).dirichlet(np.ones(c), size=c)
    true = true_labels(c, seed=seed)
    result = corrupt(true, matrix, np.random.default_rng(10 + seed))
    for k in range(c):
        counts = np.bincount(result.labels[true == k], minlength=c)
        assert stats.chisquare(counts, matrix[k] * counts.sum()).pvalue > 1e-4
        np.testing.assert_allclose(result.realised_matrix[k], counts / counts.sum(), atol=1e-15)


def test_the_draw_is_the_inverse_cdf_of_a_literal_loop():
    c = 5
    generator = np.random.default_rng(0)
    matrix = generator.dirichlet(np.ones(c), size=c)
    true, uniforms = generator.integers(c, size=300), generator.random(300)
    expected = []
    for k, u in zip(true, uniforms, strict=True):
        j, total = 0, matrix[k, 0]
        while u >= total:
            j += 1
            total += matrix[k, j]
        expected.append(j)
    assert draw_classes(true, matrix, uniforms).tolist() == expected


def test_impossible_classes_are_never_drawn_at_the_ends_of_the_interval():
    matrix = np.array([[0.0, 1.0, 0.0], [0.1, 0.9, 0.0], [0.0, 0.3, 0.7]])
    ends = np.array([0.0, np.nextafter(1.0, 0.0)])
    drawn = [draw_classes(np.full(2, k), matrix, ends).tolist() for k in range(3)]
    assert drawn == [[1, 1], [0, 1], [1, 2]]


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 9), st.integers(0, 50))
def test_rate_zero_changes_nothing_and_rate_one_changes_all(c, seed):
    true = true_labels(c, 60, seed)
    generator = np.random.default_rng(seed)
    assert (corrupt(true, uniform_matrix(c, 0.0), generator).labels == true).all()
    assert (corrupt(true, uniform_matrix(c, 1.0), generator).labels != true).all()
    class_map = (np.arange(c) + 1 + seed % (c - 1)) % c
    assert (corrupt(true, flip_matrix(c, 1.0, class_map), generator).labels == class_map[true]).all()


def test_unknown_labels_stay_and_take_no_number():
    true = true_labels(4, 50)
    spread = np.full(100, -1)
    spread[::2] = true
    matrix = uniform_matrix(4, 0.5)
    alone = corrupt(true, matrix, np.random.default_rng(2))
    among = corrupt(spread, matrix, np.random.default_rng(2))
    assert (among.labels[1::2] == -1).all()
    assert (among.labels[::2] == alone.labels).all()
    assert among.realised_rate == alone.realised_rate
    np.testing.assert_array_equal(among.realised_matrix, alone.realised_matrix)


def test_seeds_reproduce_and_differ():
    true, matrix = true_labels(3, 200), uniform_matrix(3, 0.5)
    first, again, other = (corrupt(true, matrix, np.random.default_rng(s)).labels for s in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).any()


def test_input_is_left_alone():
    true = true_labels(3, 200)
    before = true.copy()
    corrupt(true, pair_matrix(3, 1.0), np.random.default_rng(0))
    assert (true == before).all()


def test_realised_matrix_by_hand():
    result = measure(np.array([0, 0, 0, 1, -1]), np.array([0, 2, 2, 1, -1]), 3)
    np.testing.assert_allclose(result.realised_matrix, [[1 / 3, 0, 2 / 3], [0, 1, 0], [0, 0, 0]])
    assert result.realised_rate == 0.5
    assert result.matrix is None


def test_no_labels_at_all():
    result = corrupt(np.full(4, -1), uniform_matrix(3, 0.5), np.random.default_rng(0))
    assert result.realised_rate == 0.0
    assert not result.realised_matrix.any()


def test_bad_input_is_refused():
    generator = np.random.default_rng(0)
    with pytest.raises(LabelError, match=r"classes 0 to 2 or -1 for unknown, but node 1 has 3"):
        corrupt([0, 3], np.eye(3), generator)
    with pytest.raises(ConfigError, match=r"Expected `matrix`, row 1 \(true class 0\) to sum to 1"):
        corrupt([0, 1], [[0.5, 0.4], [0, 1]], generator)
    with pytest.raises(ConfigError, match=r"Expected `matrix` to hold 2 rows of 2 numbers"):
        corrupt([0, 1], np.ones((2, 3)) / 3, generator)
