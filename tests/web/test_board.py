from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lnp.datasets.own_graph import OwnGraph
from lnp.graph.labels import UNKNOWN
from lnp.web.board import AGREED, CHANGED, SKIPPED, TO_DO, Board
from lnp.web.verdicts import VerdictStore


@pytest.fixture
def store(tmp_path: Path) -> VerdictStore:
    return VerdictStore(tmp_path / "v.sqlite")


def test_states_follow_what_was_said(own: OwnGraph, store: VerdictStore) -> None:
    names, given = own.class_names, own.labels.given
    board = Board(own, store)
    store.add("n7", "accept", "Ada", label=names[given[7]])
    store.add("n10", "choose", "Ada", label=names[(given[10] + 1) % 3])
    store.add("n11", "skip", "Ada")
    board.refresh()
    assert [board.states[k] for k in (7, 10, 11, 12)] == [AGREED, CHANGED, SKIPPED, TO_DO]
    assert board.labels[[7, 10, 11]].tolist() == [given[7], (given[10] + 1) % 3, UNKNOWN]
    assert board.decided().tolist() == [7, 10]
    progress = board.progress(np.arange(20))
    assert (progress.agreed, progress.changed, progress.skipped, progress.to_do) == (1, 1, 1, 17)
    assert (progress.done, progress.total) == (2, 20)


def test_the_last_verdict_counts_and_all_are_kept(own: OwnGraph, store: VerdictStore) -> None:
    board = Board(own, store)
    for reviewer, label in (("Ada", 0), ("Bob", 2), ("Ada", 1)):
        store.add("n7", "choose", reviewer, label=own.class_names[label])
    store.add("n7", "skip", "Cy")  # no opinion outweighs no label
    board.refresh()
    assert board.labels[7] == 1
    assert [verdict.reviewer for verdict, _ in board.history(7)] == ["Ada", "Bob", "Ada", "Cy"]
    third = board.history(7)[2][0].number
    before = board.before(7, third)
    assert before is not None
    assert (before.reviewer, before.label) == ("Bob", own.class_names[2])
    assert board.before(7, board.history(7)[0][0].number) is None


def test_undo_goes_back_to_what_counted_before(own: OwnGraph, store: VerdictStore) -> None:
    board = Board(own, store)
    store.add("n7", "choose", "Ada", label=own.class_names[0])
    store.add("n7", "choose", "Bob", label=own.class_names[2])
    store.undo("Bob")
    board.refresh()
    assert board.labels[7] == 0
    assert [taken_back for _, taken_back in board.history(7)] == [False, True]
    store.undo("Ada")
    board.refresh()
    assert (board.labels[7], board.states[7], board.standing(7)) == (UNKNOWN, TO_DO, None)


def test_replaying_at_once_and_bit_by_bit_is_the_same(own: OwnGraph, store: VerdictStore) -> None:
    generator = np.random.default_rng(1)
    slow = Board(own, store)
    for _ in range(300):
        reviewer, node = f"r{generator.integers(3)}", f"n{generator.integers(10)}"
        match generator.integers(4):
            case 0:
                store.undo(reviewer)
            case 1:
                store.add(node, "skip", reviewer)
            case _:
                store.add(node, "choose", reviewer, label=own.class_names[generator.integers(3)])
        slow.refresh()
    quick = Board(own, store)
    np.testing.assert_array_equal(slow.states, quick.states)
    np.testing.assert_array_equal(slow.labels, quick.labels)
    # And both are what the rows say, read the long way round.
    rows = store.since(0)
    undone = {row.undoes for row in rows}
    for node in range(10):
        said = [row for row in rows if row.node == f"n{node}" and row.kind != "undo" and row.number not in undone]
        labels = [row.label for row in said if row.label is not None]
        expected = own.class_names.index(labels[-1]) if labels else UNKNOWN
        assert quick.labels[node] == expected


def test_verdicts_about_another_graph_do_not_count(own: OwnGraph, store: VerdictStore) -> None:
    store.add("stranger", "accept", "Ada", label="red")
    store.add("n7", "accept", "Ada", label="purple")
    board = Board(own, store)
    assert board.strangers == 2
    assert not board.decided().size
