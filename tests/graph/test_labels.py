from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from lnp.errors import LabelError
from lnp.graph.labels import UNKNOWN, ObservedLabels, Truth


def test_noisy_trusted_and_unknown_nodes_are_a_partition():
    labels = ObservedLabels([0, 1, -1, 1, 2], trusted=[False, True, False, False, False], class_count=3)
    unknown = np.flatnonzero(labels.given == UNKNOWN)
    together = np.concatenate([labels.noisy_nodes, labels.trusted_nodes, unknown])
    np.testing.assert_array_equal(np.sort(together), np.arange(labels.node_count))
    assert labels.trusted_nodes.tolist() == [1]
    assert unknown.tolist() == [2]


def test_nobody_is_trusted_unless_said():
    assert ObservedLabels([0, 1], class_count=2).trusted_nodes.size == 0


def test_labels_are_copied_and_frozen():
    source = np.array([0, 1])
    truth = Truth(source, 2)
    source[0] = 1
    assert truth.labels.tolist() == [0, 1]
    with pytest.raises(dataclasses.FrozenInstanceError):
        truth.class_count = 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"given": [[0], [1]]}, r"`given` to be one whole number per node, but got shape \(2, 1\)"),
        ({"given": [0.0, 1.0]}, "`given` to be one whole number per node, .* float64"),
        ({"given": [0, 2]}, "`given` to be classes 0 to 1 or -1 for unknown, but node 1 has 2"),
        ({"given": [-2, 0]}, "`given` to be classes 0 to 1 or -1 for unknown, but node 0 has -2"),
        ({"given": [0, 1], "trusted": [True]}, r"`trusted` to be a mask of 2 nodes, but got bool \(1,\)"),
        ({"given": [0, 1], "trusted": [1, 0]}, "`trusted` to be a mask of 2 nodes, but got int64"),
        ({"given": [0, -1], "trusted": [False, True]}, "every trusted node to have a label, but node 1 has none"),
        ({"given": [0, 1], "before": [0]}, "`before` to have 2 labels, but got 1"),
        ({"given": [0, 1], "before": [0, 2]}, "`before` to be classes 0 to 1 or -1 for unknown, but node 1 has 2"),
    ],
)
def test_bad_labels_are_named(arguments, message):
    with pytest.raises(LabelError, match=message):
        ObservedLabels(**arguments, class_count=2)


def test_truth_beyond_the_classes_is_named():
    with pytest.raises(LabelError, match="`labels` to be classes 0 to 2 or -1 for unknown, but node 2 has 3"):
        Truth([0, 1, 3], 3)


def test_every_class_needs_a_trusted_node():
    labels = ObservedLabels([0, 1, 2, 2], trusted=[True, False, False, False], class_count=3)
    with pytest.raises(LabelError, match=r"none for class 'b', 'c'\. Check the label of a node of those classes"):
        labels.require_trusted_in_every_class(("a", "b", "c"))
    with pytest.raises(LabelError, match="none for class 1, 2"):
        labels.require_trusted_in_every_class()
    with pytest.raises(LabelError, match=r"none for class 1\. Check the label of a node of that class"):
        ObservedLabels([0, 1], trusted=[True, False], class_count=2).require_trusted_in_every_class()
    ObservedLabels([0, 1], trusted=[True, True], class_count=2).require_trusted_in_every_class()


def test_what_was_given_before_a_check_is_remembered():
    labels = ObservedLabels([0, 1, 2, -1, 2, 1], trusted=[False, False, False, False, True, False], class_count=3)
    first = labels.checked([0, 1, 3, 4], [2, 1, 0, 0])
    assert first.given.tolist() == [2, 1, 2, 0, 0, 1]
    assert first.trusted.tolist() == [True, True, False, True, True, False]
    assert first.before.tolist() == [0, 1, -1, -1, -1, -1]  # node 4 was trusted; what it was given first nobody knows
    assert first.checks.tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 0]]
    second = first.checked([0, 5], [1, -1], [True, False])  # somebody corrects the check, and takes a label away
    assert second.given.tolist() == [1, 1, 2, 0, 0, -1]
    assert second.before.tolist() == [0, 1, -1, -1, -1, -1]
    assert second.checks.tolist() == [[0, 0, 0], [1, 1, 0], [0, 0, 0]]
    assert labels.checks.sum() == 0
    assert labels.given.tolist() == [0, 1, 2, -1, 2, 1]  # the argument stays as it was


def test_before_is_dropped_with_the_trust():
    labels = ObservedLabels([0, 1], trusted=[True, False], class_count=2, before=[1, 0])
    assert labels.before.tolist() == [1, -1]
