from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lnp.audit.table import AuditTable
from lnp.web.moved import BINS, MOST, compare
from lnp.web.suspects import Suspects

MakeTable = Callable[..., AuditTable]
MakeSuspects = Callable[..., Suspects]


def test_the_movement_is_that_of_a_loop(table: MakeTable, suspects: MakeSuspects) -> None:
    generator, n = np.random.default_rng(5), 200
    given = generator.integers(0, 3, n)
    other = np.where(generator.random(n) < 0.1, (given + 1) % 3, given)
    first, second = generator.random(n), generator.random(n)
    proposed = generator.integers(0, 3, (2, n))
    seen = generator.permutation(n)[:180]  # the second audit lacks some
    old = suspects(table(np.arange(n), given, first, proposed[0]), n)
    new = suspects(table(seen, other[seen], second[seen], proposed[1][seen]), n, version=2)
    checked = generator.random(n) < 0.2
    movement = compare(old, new, checked)

    kept = [k for k in range(n) if k in set(seen.tolist()) and given[k] == other[k] and not checked[k]]
    assert movement.compared == len(kept)
    counts = np.zeros((2, BINS), int)
    for k in kept:
        counts[0, int(first[k] * BINS)] += 1
        counts[1, int(second[k] * BINS)] += 1
    np.testing.assert_array_equal(movement.before, counts[0])
    np.testing.assert_array_equal(movement.after, counts[1])
    assert movement.suspect_before == sum(first[k] < 0.5 for k in kept)
    assert movement.suspect_after == sum(second[k] < 0.5 for k in kept)
    assert movement.other_proposal == sum(proposed[0][k] != proposed[1][k] for k in kept)
    rising = sorted(kept, key=lambda k: second[k] - first[k])
    assert [move.node for move in movement.fallen] == rising[:MOST]
    assert [move.node for move in movement.risen] == rising[::-1][:MOST]
    move = movement.risen[0]
    assert (move.before, move.after) == (first[move.node], second[move.node])
    assert (move.proposed_before, move.proposed_after) == tuple(proposed[:, move.node])


def test_what_stayed_neither_rose_nor_fell(table: MakeTable, suspects: MakeSuspects) -> None:
    same = suspects(table([0, 1, 2], [0, 0, 0], [0.1, 0.2, 0.3], [1, 1, 1]), 3)
    movement = compare(same, same, np.zeros(3, bool))
    assert (movement.fallen, movement.risen, movement.other_proposal) == ([], [], 0)
    hardly = suspects(table([0, 1, 2], [0, 0, 0], [0.1004, 0.2, 0.29], [1, 1, 1]), 3)
    movement = compare(same, hardly, np.zeros(3, bool))
    assert ([move.node for move in movement.fallen], movement.risen) == ([2], [])
