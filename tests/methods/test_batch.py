from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from lnp.errors import LabelError
from lnp.graph.labels import UNKNOWN, ObservedLabels
from lnp.methods.batch import full_batch

# Node 1 is trusted and in the training part, node 4 trusted and outside it; node 3 has a label but is in no part.
OBSERVED = ObservedLabels([0, 1, 2, 0, 1, -1, 2], np.isin(np.arange(7), [1, 4]), class_count=3)
TRAIN = np.array([0, 1, 2, 5])


def test_only_labels_of_noisy_and_trusted_nodes_are_there(tiny_graph) -> None:
    batch = full_batch(tiny_graph, OBSERVED, TRAIN)
    assert batch.noisy.tolist() == [0, 2]  # of the training part: labelled and not trusted
    assert batch.trusted.tolist() == [1, 4]
    assert batch.given.tolist() == [0, 1, 2, UNKNOWN, 1, UNKNOWN, UNKNOWN]
    assert batch.noisy_labels.tolist() == [0, 2]
    assert batch.trusted_labels.tolist() == [1, 1]
    assert batch.outside_noisy.tolist() == [1, 3, 4, 5, 6]
    assert (batch.node_count, batch.class_count) == (7, 3)


def test_labels_outside_do_not_reach_the_batch(tiny_graph) -> None:
    changed = OBSERVED.given.copy()
    changed[[3, 6]] = [2, UNKNOWN]
    other = full_batch(tiny_graph, ObservedLabels(changed, OBSERVED.trusted, class_count=3), TRAIN)
    batch = full_batch(tiny_graph, OBSERVED, TRAIN)
    for name in ("given", "noisy", "trusted"):
        assert torch.equal(getattr(other, name), getattr(batch, name))


def test_the_order_of_training_nodes_does_not_matter_and_the_labels_are_copied(tiny_graph) -> None:
    batch = full_batch(tiny_graph, OBSERVED, TRAIN[::-1].copy())
    assert batch.noisy.tolist() == [0, 2]
    batch.given[0] = 2
    assert OBSERVED.given[0] == 0


def test_labels_of_another_graph_are_refused(tiny_graph) -> None:
    with pytest.raises(LabelError, match="Expected labels for 7 nodes in 3 classes, but got 2 nodes in 3 classes"):
        full_batch(tiny_graph, ObservedLabels([0, 1], class_count=3), TRAIN[:1])
    with pytest.raises(LabelError, match="but got 7 nodes in 2 classes"):
        full_batch(tiny_graph, ObservedLabels([0] * 7, class_count=2), TRAIN)


def test_on_the_whole_graph_sums_and_means_are_what_they_are(tiny_graph) -> None:
    batch = full_batch(tiny_graph, OBSERVED, TRAIN)
    values = torch.tensor([1.0, 2.0, 6.0])
    assert torch.equal(batch.mean(values, "noisy"), values.mean())
    sums, counts = torch.ones(3, 2), torch.tensor([1, 2, 3])
    assert batch.class_sums("r", sums, counts) == (sums, counts)
    assert batch.extremes("w", values[0], values[2]) == (values[0], values[2])
    assert (batch.population, batch.own_count) == (7, 7)
    assert torch.equal(batch.own_rows(values), values)
    assert torch.equal(batch.numbers(batch.noisy), batch.noisy)


def test_a_part_knows_its_own_rows_and_their_numbers(tiny_graph) -> None:
    whole = full_batch(tiny_graph, OBSERVED, TRAIN)
    nodes = torch.tensor([4, 2, 5, 3, 0])
    part = replace(whole, nodes=nodes, own=3, noisy=torch.tensor([1]), trusted=torch.tensor([0]))
    assert part.numbers(part.noisy).tolist() == [2]
    assert part.own_rows(nodes).tolist() == [4, 2, 5]
    assert part.outside_noisy.tolist() == [0, 2]  # neighbours are in no set


def test_every_class_of_the_trusted_nodes_has_the_same_share(tiny_graph) -> None:
    trusted = ObservedLabels([0, 1, 1, 1, 0, 1, 2], np.arange(7) < 6, class_count=3)
    batch = full_batch(tiny_graph, trusted, np.array([6]))
    assert batch.trusted_divisors.tolist() == [4, 8, 8, 8, 4, 8]
    assert not batch.trusts_every_class  # nobody is known to be of class 2
    assert full_batch(tiny_graph, replace(trusted, trusted=np.ones(7, bool)), np.array([6])).trusts_every_class
    assert batch.labelled.tolist() == [6, 0, 1, 2, 3, 4, 5]


def test_what_a_batch_keeps_is_that_of_its_own_labels(tiny_graph) -> None:
    batch = full_batch(tiny_graph, OBSERVED, TRAIN)
    assert batch.noisy_labels.tolist() == [0, 2]
    other = replace(batch, given=torch.tensor([2, 1, 0, UNKNOWN, 1, UNKNOWN, UNKNOWN]))
    assert other.noisy_labels.tolist() == [2, 0]
