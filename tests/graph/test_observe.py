from __future__ import annotations

import numpy as np
import pytest

from lnp.errors import LabelError
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels, Truth
from lnp.graph.observe import observe

GRAPH = Graph.from_edges([[0, 1], [1, 2]], np.eye(3), class_names=("a", "b"))


def test_class_numbers_become_observed_labels() -> None:
    found = observe(GRAPH, [0, -1, 1], [True, False, False])
    assert found.given.tolist() == [0, -1, 1]
    assert found.trusted_nodes.tolist() == [0]
    assert observe(GRAPH, found) is found


@pytest.mark.parametrize(
    ("labels", "trusted", "message"),
    [
        (Truth([0, 1, 1], 2), None, "got the truth, which no audit may see"),
        (ObservedLabels([0, 1, 1], class_count=2), [True, False, False], "have a mask of their own"),
        ([0, 1], None, "labels for 3 nodes in 2 classes, but got 2 nodes in 2 classes"),
        (ObservedLabels([0, 1, 2], class_count=3), None, "but got 3 nodes in 3 classes"),
    ],
)
def test_what_does_not_fit_is_named(labels, trusted, message: str) -> None:
    with pytest.raises(LabelError, match=message):
        observe(GRAPH, labels, trusted, who="audit")
