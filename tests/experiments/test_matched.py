"""The matched score: the closed form, what it equals where nothing needs matching, and no label of a test node."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from lnp.engine.selection import Selection
from lnp.experiments.matched import FEWEST, match_twins
from lnp.graph.graph import Graph
from lnp.graph.split import Split
from lnp.graph.twins import have_twin

COUNT = 2 * FEWEST


def task(twins_in_test: int, *, rule: str = "val-clean", twins_in_validation: int = FEWEST + 10):
    """Training nodes are spokes of the hub 0; others either are too, or are links of a chain without twins."""
    train = 1 + np.arange(20)
    validation, test = 21 + np.arange(COUNT + 10), 31 + COUNT + np.arange(40)
    spokes = [*train, *validation[:twins_in_validation], *test[:twins_in_test]]
    chain = [*validation[twins_in_validation:], *test[twins_in_test:]]
    edges = [[0] * len(spokes) + chain[:-1], spokes + chain[1:]]
    n = int(test[-1]) + 1
    graph = Graph.from_edges(np.array(edges), np.zeros((n, 1)), class_count=2)
    labels = np.random.default_rng(0).integers(0, 2, validation.size)
    return SimpleNamespace(
        graph=graph, split=Split(train, validation, test), selection=Selection(rule, validation, labels)
    )


def probabilities(one) -> torch.Tensor:
    return torch.rand(one.graph.node_count, 2, generator=torch.Generator().manual_seed(3)).softmax(1)


def test_the_closed_form() -> None:
    one = task(10)
    twins = have_twin(one.graph, one.selection.nodes, one.split.train)
    assert twins.sum() == FEWEST + 10
    found = probabilities(one)
    right = found[one.selection.nodes].argmax(1).numpy() == one.selection.labels
    expected = 0.25 * right[twins].mean() + 0.75 * right[~twins].mean()
    assert abs(right.mean() - expected) > 0.01  # or the test shows nothing
    assert match_twins(one).score(found) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("rule", ["val-clean", "val-likelihood"])
def test_with_as_many_twins_it_is_the_score_itself(rule: str) -> None:
    one = task(20, rule=rule, twins_in_validation=COUNT // 2 + 5)
    found = probabilities(one)
    assert len(match_twins(one).parts) == 2
    assert match_twins(one).score(found) == pytest.approx(one.selection.score(found), abs=1e-12)


def test_noise_is_taken_into_account() -> None:
    one = task(20, rule="val-given", twins_in_validation=COUNT // 2 + 5)
    found = probabilities(one)
    swapped = match_twins(one).score(found, lambda rows: rows.flip(1))
    assert swapped == pytest.approx(1 - match_twins(one).score(found), abs=1e-12)


@pytest.mark.parametrize("twins", [0, FEWEST - 1, COUNT + 10 - FEWEST + 1])
def test_too_few_of_a_kind_keep_the_score(twins: int) -> None:
    one = task(10, twins_in_validation=twins)
    assert match_twins(one).parts == ((1.0, one.selection),)


def test_test_labels_are_not_asked_for() -> None:
    one = task(10)
    assert not hasattr(one, "truth")
    moved = replace(one.split, test=one.split.test[:20])  # which nodes are to be predicted is all that is asked
    found = probabilities(one)
    other = SimpleNamespace(graph=one.graph, split=moved, selection=one.selection)
    assert [weight for weight, _ in match_twins(other).parts] == [0.5, 0.5]
    assert match_twins(other).score(found) != match_twins(one).score(found)
