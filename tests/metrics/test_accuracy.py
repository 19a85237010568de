from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as reference

from lnp.errors import LabelError
from lnp.metrics.accuracy import accuracy, confusion_matrix, macro_f1

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=60)


@settings(max_examples=40, deadline=None)
@given(PAIRS)
def test_equals_scikit_learn(pairs):
    true, predicted = np.array(pairs).T
    assert accuracy(true, predicted) == pytest.approx(reference.accuracy_score(true, predicted), abs=1e-12)
    assert macro_f1(true, predicted, 6) == pytest.approx(
        reference.f1_score(true, predicted, average="macro", zero_division=0), abs=1e-12
    )
    np.testing.assert_array_equal(
        confusion_matrix(true, predicted, 6), reference.confusion_matrix(true, predicted, labels=range(6))
    )


@settings(max_examples=40, deadline=None)
@given(PAIRS)
def test_unknown_labels_do_not_count(pairs):
    true, predicted = np.array(pairs).T
    more, guesses = np.r_[true, [-1, -1]], np.r_[predicted, [0, 5]]
    assert accuracy(more, guesses) == accuracy(true, predicted)
    assert macro_f1(more, guesses, 6) == macro_f1(true, predicted, 6)
    np.testing.assert_array_equal(confusion_matrix(more, guesses, 6), confusion_matrix(true, predicted, 6))


def test_always_the_large_class_looks_good_only_to_accuracy():
    true, predicted = np.repeat([0, 1], [90, 10]), np.zeros(100, int)
    assert accuracy(true, predicted) == 0.9
    assert macro_f1(true, predicted, 2) == pytest.approx((180 / 190 + 0) / 2)


def test_bad_input_is_refused():
    with pytest.raises(LabelError, match=r"one prediction for each label, but got \(2,\) for \(3,\)"):
        accuracy(np.zeros(3, int), np.zeros(2, int))
    with pytest.raises(LabelError, match="at least one node with a known label"):
        accuracy(np.array([-1]), np.array([0]))
    with pytest.raises(LabelError, match="every prediction to be a class, but got -1"):
        accuracy(np.array([0]), np.array([-1]))
    with pytest.raises(LabelError, match="Expected classes 0 to 2, but got 3"):
        confusion_matrix(np.array([0]), np.array([3]), 3)
