from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lnp.errors import ConfigError, LabelError
from lnp.metrics.detection import noise_detection, precision_at_k

# A few distinct qualities, so that there are many ties.
CASES = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=30)


@settings(max_examples=40, deadline=None)
@given(CASES)
def test_auroc_counts_pairs_and_ap_sums_precision_over_recall_steps(case):
    quality = np.array([q for q, _ in case], float)
    wrong = np.array([w for _, w in case])
    found = noise_detection(quality, wrong)
    if wrong.all() or not wrong.any():
        assert found.ap is None
        assert found.auroc is None
        return
    pairs = [(bad < good) + 0.5 * (bad == good) for bad in quality[wrong] for good in quality[~wrong]]
    assert found.auroc == pytest.approx(np.mean(pairs), abs=1e-12)
    ap = 0.0
    for cut in np.unique(quality):
        step = (wrong & (quality == cut)).sum() / wrong.sum()
        ap += step * wrong[quality <= cut].mean()
    assert found.ap == pytest.approx(ap, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(CASES, st.integers(1, 40))
def test_precision_takes_ties_in_node_order(case, k):
    quality = np.array([q for q, _ in case], float)
    wrong = np.array([w for _, w in case])
    first = sorted(range(len(case)), key=lambda i: (quality[i], i))[:k]
    assert precision_at_k(quality, wrong, k) == pytest.approx(sum(wrong[i] for i in first) / len(first), abs=1e-12)
    assert noise_detection(quality, wrong).precision_at(k) == precision_at_k(quality, wrong, k)


def test_the_best_and_the_worst_list():
    wrong = np.array([True] * 3 + [False] * 7)
    quality = np.arange(10.0)
    best, worst = noise_detection(quality, wrong), noise_detection(-quality, wrong)
    assert (best.ap, best.auroc, best.precision_at(3)) == (1.0, 1.0, 1.0)
    assert (worst.auroc, worst.precision_at(3)) == (0.0, 0.0)
    assert worst.ap == pytest.approx((1 / 8 + 2 / 9 + 3 / 10) / 3)


def test_only_the_order_of_quality_matters():
    generator = np.random.default_rng(0)
    quality, wrong = generator.random(100), generator.random(100) < 0.3
    quality[quality < 0.02] = 0.0
    with np.errstate(divide="ignore"):
        logs = np.log(quality)
    assert np.isneginf(logs).any()
    plain, same = noise_detection(quality, wrong), noise_detection(logs, wrong)
    assert (same.ap, same.auroc) == (plain.ap, plain.auroc)
    assert (same.ranked == plain.ranked).all()


def test_without_wrong_or_right_labels_there_is_no_score_but_a_precision():
    quality = np.arange(4.0)
    none, everything = (noise_detection(quality, np.full(4, wrong)) for wrong in (False, True))
    assert (none.ap, none.auroc, none.precision_at(2)) == (None, None, 0.0)
    assert (everything.ap, everything.auroc, everything.precision_at(2)) == (None, None, 1.0)
    empty = noise_detection(np.zeros(0), np.zeros(0, bool))
    assert (empty.ap, empty.auroc, empty.precision_at(5)) == (None, None, None)


def test_bad_input_is_refused():
    with pytest.raises(LabelError, match=r"a mask with one entry for each `quality`, but got int64 \(2,\)"):
        noise_detection(np.zeros(2), np.zeros(2, int))
    with pytest.raises(LabelError, match="a number for every label, but entry 1 is not"):
        noise_detection(np.array([0.0, np.nan]), np.array([True, False]))
    with pytest.raises(ConfigError, match="Expected `k` to be at least 1, but got 0"):
        precision_at_k(np.zeros(2), np.array([True, False]), 0)
