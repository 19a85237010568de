"""Suspects of every proposed class in turn."""

from __future__ import annotations

import numpy as np

from lnp.audit.order import spread_order


def by_hand(quality: np.ndarray, proposed: np.ndarray) -> list[int]:
    """One class after the other gives its most suspect label, the suspicious ones of all classes first."""
    done: list[int] = []
    for doubtful in (True, False):
        queues = []
        for k in np.unique(proposed):
            members = sorted(np.flatnonzero(proposed == k), key=lambda i: quality[i])
            queues.append([(place, i) for place, i in enumerate(members) if (quality[i] < 0.5) == doubtful])
        waiting = [entry for queue in queues for entry in queue]
        done += [int(i) for place, i in sorted(waiting, key=lambda entry: (entry[0], quality[entry[1]]))]
    return done


def test_it_is_the_order_by_hand() -> None:
    generator = np.random.default_rng(0)
    for size in (1, 7, 60):
        quality, proposed = generator.random(size), generator.integers(4, size=size)
        found = spread_order(quality, proposed)
        assert found.tolist() == by_hand(quality, proposed)
        assert sorted(found.tolist()) == list(range(size))


def test_a_class_with_many_suspects_does_not_crowd_out_the_others() -> None:
    quality = np.r_[np.linspace(0.0, 0.1, 50), np.linspace(0.2, 0.4, 10), np.linspace(0.3, 0.45, 10)]
    proposed = np.repeat([2, 0, 1], [50, 10, 10])
    assert np.bincount(proposed[spread_order(quality, proposed)[:30]]).tolist() == [10, 10, 10]


def test_nothing_to_order() -> None:
    assert spread_order(np.zeros(0), np.zeros(0, np.int64)).size == 0
