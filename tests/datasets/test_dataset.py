from __future__ import annotations

import numpy as np
import pytest

from lnp.datasets.dataset import Dataset
from lnp.errors import ConfigError, DataError
from lnp.graph.labels import Truth
from lnp.graph.split import Split


def make(graph, **changes):
    parts = {"truth": Truth(np.zeros(7, int), 3), "public_splits": (), "scaling": "row", "source": "here"}
    return Dataset(graph=graph, **{**parts, **changes})


def test_it_is_called_what_its_graph_is_called(tiny_graph):
    assert make(tiny_graph).name == "tiny"


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"truth": Truth([0, 1], 3)}, DataError, "labels for 7 nodes in 3 classes, but got 2 nodes in 3 classes"),
        ({"truth": Truth(np.zeros(7, int), 2)}, DataError, "but got 7 nodes in 2 classes"),
        ({"public_splits": (Split([0], [1], [2]), Split([0], [7], []))}, DataError, "split 1 to hold nodes 0 to 6"),
        ({"public_splits": (Split([-1], [1], [2]),)}, DataError, "split 0 to hold nodes 0 to 6"),
        ({"scaling": "rows"}, ConfigError, "`scaling` to be one of"),
    ],
)
def test_parts_that_do_not_fit_are_named(tiny_graph, changes, error, message):
    with pytest.raises(error, match=message):
        make(tiny_graph, **changes)
