from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lnp.engine.selection import (
    Selection,
    hold_out_trusted,
    select_last,
    select_trusted,
    select_validation,
)
from lnp.errors import ConfigError, LabelError
from lnp.graph.labels import ObservedLabels
from lnp.graph.split import Split
from lnp.seeds import Seeds

# Six nodes, two classes: train 0 1, validation 2 3 4, test 5; node 3 is trusted.
TRUE = np.array([0, 1, 0, 1, 1, 0])
GIVEN = np.array([1, 1, 1, 1, 1, -1])
OBSERVED = ObservedLabels(GIVEN, np.arange(6) == 3, class_count=2)
SPLIT = Split([0, 1], [2, 3, 4], [5])


def probabilities(predicted: list[int], confidence: float = 0.8) -> torch.Tensor:
    table = torch.full((len(predicted), 2), 1 - confidence)
    table[torch.arange(len(predicted)), torch.tensor(predicted)] = confidence
    return table


def test_clean_validation_counts_true_labels_outside_the_trusted_set() -> None:
    selection = select_validation(TRUE, OBSERVED, SPLIT, rule="val-clean")
    assert selection.nodes.tolist() == [2, 4]
    assert selection.score(probabilities([0, 0, 0, 0, 0, 0])) == 0.5
    assert selection.score(probabilities([0, 0, 0, 0, 1, 0])) == 1.0
    # The trusted node 3 and the nodes of other parts change nothing.
    assert selection.score(probabilities([1, 1, 0, 1, 1, 1])) == 1.0


def test_noisy_validation_counts_given_labels() -> None:
    selection = select_validation(OBSERVED.given, OBSERVED, SPLIT, rule="val-noisy")
    assert selection.nodes.tolist() == [2, 4]
    assert selection.score(probabilities([0, 0, 0, 0, 1, 0])) == 0.5
    assert selection.score(probabilities([0, 0, 1, 0, 1, 0])) == 1.0


def test_validation_without_labels_is_an_error() -> None:
    with pytest.raises(LabelError, match="labelled validation nodes for the selection rule 'val-noisy'"):
        select_validation(np.full(6, -1), OBSERVED, SPLIT, rule="val-noisy")


def test_likelihood_is_the_mean_log_probability_of_the_given_labels_behind_the_noise() -> None:
    selection = select_validation(OBSERVED.given, OBSERVED, SPLIT, rule="val-likelihood")
    assert selection.nodes.tolist() == [2, 4]  # T_C is not among them
    assert selection.labels.tolist() == [1, 1]
    table = torch.tensor([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.9, 0.1], [0.2, 0.8], [0.9, 0.1]])
    assert selection.score(table) == pytest.approx((math.log(0.4) + math.log(0.8)) / 2, abs=1e-7)
    transition = torch.tensor([[0.25, 0.75], [0.1, 0.9]])
    # Node 2: 0.6 · 0.75 + 0.4 · 0.9 = 0.81; node 4: 0.2 · 0.75 + 0.8 · 0.9 = 0.87.
    expected = (math.log(0.81) + math.log(0.87)) / 2
    assert selection.score(table, lambda rows: rows @ transition) == pytest.approx(expected, abs=1e-7)


def test_an_impossible_label_has_a_finite_likelihood() -> None:
    selection = Selection("val-likelihood", np.array([0, 1]), np.array([0, 1]))
    assert selection.score(torch.tensor([[0.0, 1.0], [0.0, 1.0]])) == pytest.approx(math.log(1e-12) / 2)


def test_val_given_counts_labels_that_are_the_most_likely_ones_to_be_given() -> None:
    """Nearly all of class 0 is given 1: a network that is sure of 0 is right where 1 was given, and not elsewhere."""
    selection = Selection("val-given", np.array([0, 1, 2]), np.array([1, 1, 0]))
    transition = torch.tensor([[0.2, 0.8], [0.9, 0.1]])
    table = torch.tensor([[1.0, 0.0], [0.3, 0.7], [0.55, 0.45]])  # P(given 1): 0.8, 0.31, 0.485
    assert selection.score(table, lambda rows: rows @ transition) == pytest.approx(2 / 3)
    same = Selection("val-noisy", selection.nodes, selection.labels)
    assert selection.score(table) == same.score(table) == pytest.approx(2 / 3)
    unsure = 0.5 + (table - 0.5) / 100
    even = torch.tensor([[0.2, 0.8], [0.8, 0.2]])
    assert selection.score(unsure, lambda rows: rows @ even) == selection.score(table, lambda rows: rows @ even)


@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_val_channel_orders_as_accuracy_does_where_all_classes_are_alike(kept: float) -> None:
    """Ties included: sums in another order must not break them."""
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 7, 500)
    rows = np.full((7, 7), (1 - kept) / 6, np.float32)
    np.fill_diagonal(rows, kept)
    behind, plain = (Selection(rule, np.arange(500), labels, rows) for rule in ("val-channel", "val-noisy"))
    scores = {}
    for _ in range(300):
        named = np.where(generator.random(500) < 0.6, labels, generator.integers(0, 7, 500))
        table = torch.eye(7)[torch.from_numpy(named)]
        scores.setdefault(plain.score(table), set()).add(behind.score(table))
    assert 20 < len(scores) < 200
    assert all(len(same) == 1 for same in scores.values())
    ordered = [same.pop() for _, same in sorted(scores.items())]
    assert ordered == sorted(ordered)


def test_val_channel_does_not_hang_on_a_hundredth_of_t() -> None:
    """Half of the labels of class 0 are given 1, and half of those of class 1 are given 0, or nearly so."""
    truth = np.repeat([0, 1, 2], 100)
    labels = truth.copy()
    labels[:50], labels[100:150] = 1, 0
    right, swapped = (torch.eye(3)[torch.from_numpy(named)] for named in (truth, np.choose(truth, [1, 0, 2])))
    wrong = torch.eye(3)[torch.from_numpy((truth + 1) % 3)]
    for kept in (0.49, 0.51):
        rows = np.array([[kept, 1 - kept, 0], [1 - kept, kept, 0], [0, 0, 1]], np.float32)
        selection = Selection("val-channel", np.arange(300), labels, rows)
        assert selection.score(right) == pytest.approx(selection.score(swapped), abs=0.02)
        assert selection.score(right) > selection.score(wrong) + 0.3


def test_val_channel_is_how_likely_labels_are_if_the_method_is_right() -> None:
    transition = np.array([[0.2, 0.8], [0.9, 0.1]], np.float32)
    nodes, labels = np.array([0, 1, 2]), np.array([1, 1, 0])
    table = torch.tensor([[1.0, 0.0], [0.3, 0.7], [0.55, 0.45]])  # classes 0, 1, 0
    behind = Selection("val-channel", nodes, labels, transition)
    assert behind.score(table) == pytest.approx((0.8 + 0.1 + 0.2) / 3)
    assert behind.score(table) == behind.score(table, lambda rows: rows.flip(1))  # whatever the method says of noise
    assert behind.score(table) == behind.score(0.5 + (table - 0.5) / 100)  # and however sure it is
    assert Selection("val-channel", nodes, labels, np.eye(2, dtype=np.float32)).score(table.flip(1)) == pytest.approx(
        1 / 3
    )
    with pytest.raises(ConfigError, match=r"noise matrix to score behind, but there is none yet.*behind_channel"):
        Selection("val-channel", nodes, labels).score(table)


@pytest.mark.parametrize("rule", ["val-clean", "val-noisy", "trusted", "last"])
def test_only_rules_behind_noise_ask_for_it(rule: str) -> None:
    def unwanted(rows: torch.Tensor) -> torch.Tensor:
        raise AssertionError

    selection, table = Selection(rule, np.array([0, 1]), np.array([0, 1])), probabilities([0, 0])
    scores = selection.score(table, unwanted), selection.score(table)
    assert scores[0] == scores[1] or rule == "last"


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_likelihood_is_a_proper_score_of_the_true_labels_accuracy_is_not(seed: int) -> None:
    """Labels in the very proportions of the noise: no π on a grid scores better than the right one."""
    generator = np.random.default_rng(seed)
    truth = generator.multinomial(9, np.ones(3) / 3) + 1  # of 12
    # Rows of tenths; the wrong class is the most likely label of the first class.
    transition = np.array([[2, 8, 0], [1, 7, 2], [0, 3, 7]])
    counts = truth @ transition  # of 120
    labels = np.repeat(np.arange(3), counts)
    chosen = {rule: Selection(rule, np.arange(120), labels) for rule in ("val-likelihood", "val-noisy")}
    matrix = torch.from_numpy(transition / 10)
    grid = [(a, b, 12 - a - b) for a in range(13) for b in range(13 - a)]
    scores: dict[str, list[float]] = {rule: [] for rule in chosen}
    for shares in grid:
        table = torch.tensor(shares, dtype=torch.float64).expand(120, 3) / 12
        for rule, selection in chosen.items():
            scores[rule].append(selection.score(table, lambda rows: rows @ matrix))
    right = grid.index(tuple(truth.tolist()))
    assert scores["val-likelihood"][right] == pytest.approx(max(scores["val-likelihood"]), abs=1e-12)
    others = np.delete(scores["val-likelihood"], right)
    assert (others < scores["val-likelihood"][right] - 1e-6).all()  # the matrix is invertible, so it is the only one
    share = counts / 120
    expected = (share * np.log(truth / 12 @ transition / 10)).sum()
    assert scores["val-likelihood"][right] == pytest.approx(expected, abs=1e-7)
    # Accuracy wants the most frequent label everywhere, whatever the truth.
    frequent = tuple(np.where(np.arange(3) == counts.argmax(), 12, 0).tolist())
    assert scores["val-noisy"][grid.index(frequent)] == max(scores["val-noisy"])


def test_last_scores_nothing_and_always_moves_on() -> None:
    selection = select_last()
    assert math.isnan(selection.score(probabilities([0] * 6)))
    assert selection.improves(math.nan, math.nan)


@pytest.mark.parametrize("rule", ["val-clean", "val-noisy", "val-given", "val-likelihood", "val-channel", "trusted"])
def test_ties_keep_the_first(rule: str) -> None:
    selection = Selection(rule, np.array([0]), np.array([0]))
    assert selection.improves(0.0, None)
    assert not selection.improves(0.5, 0.5)
    assert selection.improves(0.5000001, 0.5)
    assert not selection.improves(0.4, 0.5)


def test_trusted_breaks_ties_by_confidence_in_the_right_class() -> None:
    selection = select_trusted(TRUE, np.array([2, 4]))
    sure, unsure = probabilities([0, 0, 0, 0, 1, 0], 0.9), probabilities([0, 0, 0, 0, 1, 0], 0.6)
    assert selection.score(sure) > selection.score(unsure)
    # accuracy 1, mean log-probability log 0.9, on the scale from log 10^-6 to 0, times 0.99 nodes of two.
    expected = 1 + (1 + math.log(0.9) / math.log(1e6)) * 0.99 / 2
    assert selection.score(sure) == pytest.approx(expected, abs=1e-6)


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_the_tie_break_never_outweighs_one_node(nodes: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 3, nodes)
    selection = Selection("trusted", np.arange(nodes), labels)
    right = int(generator.integers(0, nodes))  # so many nodes are right, with any confidence; then one more
    scores = []
    for correct, sharpness in ((right, 50.0), (right + 1, 0.0)):
        predicted = np.where(np.arange(nodes) < correct, labels, (labels + 1) % 3)
        logits = generator.random((nodes, 3))
        logits[np.arange(nodes), predicted] = 1.001 + sharpness * (np.arange(nodes) < correct)
        scores.append(selection.score(torch.from_numpy(logits).softmax(dim=1)))
    assert scores[0] < scores[1]


def test_zero_probabilities_still_give_a_number() -> None:
    selection = Selection("trusted", np.array([0, 1]), np.array([0, 0]))
    assert selection.score(torch.tensor([[0.0, 1.0], [0.0, 1.0]])) == pytest.approx(0.0, abs=1e-6)


def trusted_labels(counts: list[int]) -> ObservedLabels:
    """So many trusted nodes per class, then as many nodes with a label that nobody checked."""
    labels = np.repeat(np.arange(len(counts)), counts)
    mask = np.r_[np.ones(labels.size, bool), np.zeros(labels.size, bool)]
    return ObservedLabels(np.r_[labels, labels], mask, class_count=len(counts))


@pytest.mark.parametrize(
    ("counts", "held"),
    [([3, 3], [1, 1]), ([9, 6, 2], [3, 2, 1]), ([1, 2], [0, 1]), ([5, 1, 4], [2, 0, 1]), ([2, 0], [1, 0])],
)
def test_hold_out_takes_a_third_of_every_class_and_leaves_one(counts: list[int], held: list[int]) -> None:
    observed = trusted_labels(counts)
    rest, nodes = hold_out_trusted(observed, Seeds(0).generator("trusted"))
    assert np.bincount(observed.given[nodes], minlength=len(counts)).tolist() == held
    left = np.bincount(rest.given[rest.trusted], minlength=len(counts)).tolist()
    assert left == [count - taken for count, taken in zip(counts, held, strict=True)]
    # What selects is trained on by nobody: its label is gone, and everything else is as it was.
    assert (rest.given[nodes] == -1).all()
    assert not rest.trusted[nodes].any()
    others = np.setdiff1d(np.arange(observed.node_count), nodes)
    assert (rest.given[others] == observed.given[others]).all()
    assert (rest.trusted[others] == observed.trusted[others]).all()
    assert observed.trusted[nodes].all()  # the argument was not changed
    selection = select_trusted(observed.given, nodes)
    assert not np.intersect1d(selection.nodes, rest.trusted_nodes).size


def test_hold_out_is_drawn_anew_for_every_seed() -> None:
    observed = trusted_labels([12, 12])
    drawn = [hold_out_trusted(observed, Seeds(seed).generator("trusted"))[1].tolist() for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_hold_out_without_two_trusted_nodes_in_a_class_is_an_error() -> None:
    with pytest.raises(LabelError, match="at least two trusted nodes"):
        hold_out_trusted(trusted_labels([1, 1, 0]), Seeds(0).generator("trusted"))
