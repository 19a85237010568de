from __future__ import annotations

import numpy as np
import pytest

from lnp.datasets.distinct_pairs import distinct_pairs
from lnp.errors import ConfigError


def uniform(n, seed=0):
    generator = np.random.default_rng(seed)

    def draw(count):
        return tuple(generator.integers(n, size=(2, count)))

    return draw


def pairs(draw, count, n, possible=None):
    possible = n * (n - 1) // 2 if possible is None else possible
    return distinct_pairs(draw, count, possible, n, knob="edges", advice="Take fewer.")


def test_pairs_are_sorted_different_and_never_of_a_node_with_itself():
    keys = pairs(uniform(20), 95, 20)  # half of all pairs, so that most rounds draw doubles
    low, high = np.divmod(keys, 20)
    assert keys.size == 95
    assert (np.diff(keys) > 0).all()
    assert (low < high).all()


def test_every_pair_is_equally_likely():
    counts = np.zeros((6, 6))
    for seed in range(3000):
        low, high = np.divmod(pairs(uniform(6, seed), 5, 6), 6)
        counts[low, high] += 1
    found = counts[np.triu_indices(6, 1)]
    np.testing.assert_allclose(found, 1000, atol=5 * np.sqrt(1000))
    assert counts.sum() == found.sum()


def test_keys_of_a_large_graph_do_not_overflow_32_bits():
    n = 3_000_000

    def draw(count):
        return np.full(count, n - 1, np.int32), np.arange(n - 1 - count, n - 1, dtype=np.int32)

    low, high = np.divmod(pairs(draw, 7, n), n)
    assert (high == n - 1).all()
    assert low.tolist() == list(range(n - 8, n - 1))


def test_nothing_is_drawn_where_nothing_is_wanted():
    assert pairs(uniform(3), 0, 3).size == 0


def test_more_than_half_of_all_pairs_is_refused():
    with pytest.raises(ConfigError, match=r"`edges` to leave room for 4 different edges among 6 pairs.* Take fewer\."):
        pairs(uniform(4), 4, 4)


def test_a_draw_that_repeats_itself_is_given_up():
    with pytest.raises(ConfigError, match="3 different edges"):
        pairs(lambda count: (np.zeros(count, int), np.ones(count, int)), 3, 4)
