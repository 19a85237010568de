from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lnp.errors import ConfigError, LabelError
from lnp.noise import instance
from lnp.noise.instance import SHARPNESS, SPREAD, draw_flip_probabilities, instance_noise

C = 5


def make(n=6000, d=8, seed=0, c=C):
    generator = np.random.default_rng(seed)
    features = generator.standard_normal((n, d)).astype(np.float32)
    return generator.integers(c, size=n), features


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.8, 0.97])
def test_flip_probabilities_follow_the_truncated_normal_whose_mean_is_the_rate(p):
    half = min(p, 1 - p)
    law = stats.truncnorm(-half / SPREAD, half / SPREAD, loc=p, scale=SPREAD)
    assert law.mean() == pytest.approx(p, abs=1e-12)
    drawn = draw_flip_probabilities(5000, p, np.random.default_rng(0))
    assert stats.kstest(drawn, law.cdf).pvalue > 1e-3
    assert drawn.min() >= 0
    assert drawn.max() <= 1


@settings(max_examples=40, deadline=None)
@given(st.floats(0, 1), st.integers(0, 20))
def test_flip_probabilities_are_probabilities(p, seed):
    drawn = draw_flip_probabilities(50, p, np.random.default_rng(seed))
    assert ((drawn >= 0) & (drawn <= 1)).all()


@pytest.mark.parametrize("p", [0.05, 0.4, 0.8])
def test_realised_rate_is_within_its_binomial_bound(p):
    # A flip whose probability is drawn with mean p is a flip with probability p.
    true, features = make()
    result = instance_noise(true, features, p, C, np.random.default_rng(1))
    low, high = stats.binom.interval(1 - 1e-9, true.size, p)
    assert low <= result.realised_rate * true.size <= high
    assert result.realised_rate == (result.labels != true).mean()
    assert result.matrix is None


def test_rate_zero_changes_nothing_and_rate_one_changes_all():
    true, features = make(500)
    for c in (2, C):
        labels = true % c
        assert (instance_noise(labels, features, 0.0, c, np.random.default_rng(1)).labels == labels).all()
        assert (instance_noise(labels, features, 1.0, c, np.random.default_rng(1)).labels != labels).all()


def test_equals_a_literal_loop_over_nodes():
    true, features = make(120, 4)
    true[::7] = -1
    generator = np.random.default_rng(3)
    known = np.flatnonzero(true != -1)
    flip = draw_flip_probabilities(known.size, 0.6, generator)
    uniforms = generator.random(known.size)
    projections = [generator.standard_normal((4, C)) for _ in range(C)]
    x = features.astype(np.float64)
    x = (x - x.mean(axis=0)) / np.sqrt(((x - x.mean(axis=0)) ** 2).sum(axis=1).mean())
    expected = true.copy()
    for position, i in enumerate(known):
        k = true[i]
        weights = np.exp(SHARPNESS * x[i] @ projections[k])
        weights[k] = 0
        row = flip[position] * weights / weights.sum()
        row[k] = 1 - flip[position]
        j, total = 0, row[0]
        while uniforms[position] >= total:
            j += 1
            total += row[j]
        expected[i] = j
    assert instance_noise(true, features, 0.6, C, np.random.default_rng(3)).labels.tolist() == expected.tolist()


def test_dense_and_sparse_features_give_the_same_labels():
    true, features = make(800)
    features = np.where(features > 0.8, features, 0).astype(np.float32)
    dense = instance_noise(true, features, 0.5, C, np.random.default_rng(4)).labels
    sparse = instance_noise(true, sp.csr_array(features), 0.5, C, np.random.default_rng(4)).labels
    assert (dense == sparse).all()


def test_shift_and_scale_of_the_features_do_not_matter():
    true, features = make(800)
    plain = instance_noise(true, features, 0.5, C, np.random.default_rng(4)).labels
    moved = instance_noise(true, 40 * features + 3, 0.5, C, np.random.default_rng(4)).labels
    assert (plain == moved).all()


def test_nodes_that_look_alike_are_taken_for_the_same_class():
    # Two looks within one true class: given the wrong label, the look predicts which one it is.
    n = 4000
    look = np.arange(n) % 2
    features = np.eye(2, dtype=np.float32)[look]
    result = instance_noise(np.zeros(n, int), features, 0.5, C, np.random.default_rng(0))
    wrong = result.labels != 0
    table = np.array([np.bincount(result.labels[wrong & (look == k)], minlength=C)[1:] for k in range(2)])
    assert stats.chi2_contingency(table).pvalue < 1e-12


def test_without_sharpness_the_features_do_not_matter(monkeypatch):
    monkeypatch.setattr(instance, "SHARPNESS", 0.0)
    true, features = make()
    result = instance_noise(true, features, 0.6, C, np.random.default_rng(0))
    for k in range(C):
        counts = np.bincount(result.labels[true == k], minlength=C)
        expected = np.full(C, 0.15)
        expected[k] = 0.4
        assert stats.chisquare(counts, expected * counts.sum()).pvalue > 1e-4


def test_equal_features_are_no_error():
    result = instance_noise(np.arange(500) % C, np.ones((500, 3), np.float32), 0.5, C, np.random.default_rng(0))
    assert 0.35 < result.realised_rate < 0.65


def test_unknown_labels_stay():
    true, features = make(300)
    true[::3] = -1
    result = instance_noise(true, features, 0.9, C, np.random.default_rng(0))
    assert ((result.labels == -1) == (true == -1)).all()


def test_seeds_reproduce_and_differ():
    true, features = make(300)
    first, again, other = (instance_noise(true, features, 0.5, C, np.random.default_rng(s)).labels for s in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).any()


def test_bad_input_is_refused():
    true, features = make(10)
    generator = np.random.default_rng(0)
    with pytest.raises(ConfigError, match=r"Expected `rate` to be in \[0, 1\], but got 1.2"):
        instance_noise(true, features, 1.2, C, generator)
    with pytest.raises(LabelError, match="Expected one label for each of the 9 nodes, but got 10"):
        instance_noise(true, features[:9], 0.2, C, generator)
    with pytest.raises(ConfigError, match="at least 2, but got 1"):
        instance_noise(np.zeros(10, int), features, 0.2, 1, generator)
