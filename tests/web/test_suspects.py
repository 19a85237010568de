from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from lnp.audit.table import AuditTable
from lnp.errors import ConfigError
from lnp.web.board import AGREED, CHANGED, SKIPPED, TO_DO
from lnp.web.suspects import ORDERS, SHOWN, Filter, Suspects

MakeTable = Callable[..., AuditTable]
MakeSuspects = Callable[..., Suspects]


@pytest.fixture
def drawn(table: MakeTable, suspects: MakeSuspects) -> tuple[Suspects, np.ndarray]:
    generator = np.random.default_rng(3)
    nodes = generator.permutation(300)[:200]
    quality = generator.random(200).round(2)  # with ties
    made = table(nodes, generator.integers(0, 3, 200), quality, generator.integers(0, 3, 200))
    states = generator.choice([TO_DO, AGREED, CHANGED, SKIPPED], 300).astype(np.int8)
    return suspects(made, 300, trusted=nodes[:20]), states


@pytest.mark.parametrize("show", SHOWN)
@pytest.mark.parametrize(
    "fields", [{}, {"given": "1"}, {"proposed": "2"}, {"low": "0.2", "high": "0.6"}, {"given": "0", "high": "0.5"}]
)
def test_rows_are_those_a_loop_would_find(
    drawn: tuple[Suspects, np.ndarray], show: str, fields: dict[str, str]
) -> None:
    suspects, states = drawn
    chosen, table = Filter.parse({**fields, "show": show}, 3), suspects.table
    expected = []
    for row in range(200):
        node, quality = table.nodes[row], table.quality[row]
        fits = chosen.low <= quality <= chosen.high
        fits &= chosen.given is None or table.given[row] == chosen.given
        fits &= chosen.proposed is None or table.proposed[row] == chosen.proposed
        fits &= states[node] in SHOWN[show]
        fits &= not (show == "todo" and suspects.trusted[node])
        if fits:
            expected.append(row)
    found = suspects.rows(chosen, states)
    assert sorted(found.tolist()) == expected
    assert (np.diff(table.quality[found]) >= 0).all()


def test_every_proposed_class_comes_in_turn(drawn: tuple[Suspects, np.ndarray]) -> None:
    suspects, states = drawn
    table, rows = suspects.table, suspects.rows(Filter(show="all", order="spread"), states)
    doubtful = rows[table.quality[rows] < 0.5]
    first = [table.quality[(table.proposed == k) & (table.quality < 0.5)] for k in np.unique(table.proposed[doubtful])]
    assert np.allclose(np.sort(table.quality[doubtful[: len(first)]]), np.sort([each.min() for each in first]))


def test_the_surest_proposals_of_another_label_come_first(drawn: tuple[Suspects, np.ndarray]) -> None:
    suspects, states = drawn
    table, rows = suspects.table, suspects.rows(Filter(show="all", order="sure"), states)
    keys = [(bool(table.given[r] == table.proposed[r]), -table.confidence[r]) for r in rows]
    assert keys == sorted(keys)
    assert len(rows) == 200


def test_at_random_is_the_same_after_every_audit_and_does_not_look_at_quality(
    drawn: tuple[Suspects, np.ndarray],
) -> None:
    suspects, states = drawn
    chosen = Filter(show="all", order="random")
    nodes = suspects.table.nodes[suspects.rows(chosen, states)]
    assert sorted(nodes.tolist()) == sorted(suspects.table.nodes.tolist())
    table = suspects.table
    other = replace(suspects, table=replace(table, quality=1 - table.quality))
    np.testing.assert_array_equal(other.table.nodes[other.rows(chosen, states)], nodes)
    half = table.quality[suspects.rows(chosen, states)[:100]].mean()
    assert abs(half - table.quality.mean()) < 4 * table.quality.std() / 10  # a sample like any other


@pytest.mark.parametrize("order", ORDERS)
def test_next_walks_through_the_list_and_round_again(drawn: tuple[Suspects, np.ndarray], order: str) -> None:
    suspects, states = drawn
    chosen = Filter(order=order)
    listed = suspects.table.nodes[suspects.rows(chosen, states)].tolist()
    walked = [listed[0]]
    for _ in range(len(listed)):
        following = suspects.following(walked[-1], chosen, states)
        assert following is not None
        walked.append(following)
    assert walked == [*listed, listed[0]]


def test_next_leaves_nodes_that_others_look_at_for_last(drawn: tuple[Suspects, np.ndarray]) -> None:
    suspects, states = drawn
    a, b, c, *rest = suspects.table.nodes[suspects.rows(Filter(), states)].tolist()
    assert suspects.following(a, Filter(), states, busy={b}) == c
    assert suspects.following(a, Filter(), states, busy={b, c, *rest}) == b


def test_next_goes_on_from_a_node_that_has_left_the_list(drawn: tuple[Suspects, np.ndarray]) -> None:
    suspects, states = drawn
    a, b, c = suspects.table.nodes[suspects.rows(Filter(), states)][:3].tolist()
    states[b] = AGREED
    assert suspects.following(b, Filter(), states) == c
    assert suspects.preceding(c, Filter(), states) is not None
    states[:] = AGREED
    assert suspects.following(a, Filter(), states) is None


def test_back_finds_what_was_just_decided(drawn: tuple[Suspects, np.ndarray]) -> None:
    suspects, states = drawn
    nodes = suspects.table.nodes[suspects.rows(Filter(show="all"), states)].tolist()
    for before, after in itertools.pairwise(nodes):
        assert suspects.preceding(after, Filter(), states) == before
    assert suspects.preceding(nodes[0], Filter(), states) is None


@pytest.mark.parametrize(
    "fields",
    [{"given": "3"}, {"given": "x"}, {"proposed": "-1"}, {"low": "2"}, {"high": "nan"}, {"show": "x"}, {"order": "y"}],
)
def test_a_filter_that_makes_no_sense_is_refused(fields: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=next(iter(fields))):
        Filter.parse(fields, 3)


def test_fields_read_back_as_the_same_filter() -> None:
    chosen = Filter(given=1, proposed=0, low=0.25, high=0.75, show="done", order="sure")
    assert Filter.parse(chosen.fields(), 3) == chosen
    assert Filter.parse({"given": "", "low": " "}, 3) == Filter()


def test_a_hundred_thousand_rows_are_listed_at_once(table: MakeTable, suspects: MakeSuspects) -> None:
    generator, n = np.random.default_rng(0), 100_000
    quality = generator.random(n)
    large = suspects(table(np.arange(n), generator.integers(0, 3, n), quality, generator.integers(0, 3, n)), n)
    states = np.zeros(n, np.int8)
    large.rows(Filter(), states)
    started = time.perf_counter()
    node = large.following(int(large.rows(Filter(given=1, high=0.5), states)[0]), Filter(), states)
    assert node is not None
    assert time.perf_counter() - started < 1.0
