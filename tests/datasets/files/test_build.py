"""Parts become a graph; without features they are made, and that is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from lnp.datasets.files.build import Parts, build
from lnp.datasets.files.edge_table import EdgeList
from lnp.errors import GraphError

PARTS = Parts(
    name="mine",
    source="here",
    node_ids=("a", "b", "c", "d"),
    edges=EdgeList(np.array([[0, 1, 1], [1, 0, 2]]), np.array([1, 4, 2], np.float32)),
    features=np.arange(8).reshape(4, 2),
    feature_names=("x", "y"),
    given=np.array([0, 1, -1, 0]),
    trusted=np.array([True, False, False, False]),
    class_names=("red", "blue"),
    picture=(1, 2),
)


def test_parts_arrive() -> None:
    own = build(PARTS)
    assert own.graph.adjacency.toarray()[0, 1] == 4  # the larger weight
    assert (own.graph.name, own.graph.node_ids, own.graph.class_names) == ("mine", PARTS.node_ids, PARTS.class_names)
    assert own.graph.notes == {"picture_shape": (1, 2)}
    assert own.labels.given.tolist() == [0, 1, -1, 0]
    assert own.summary is not None
    assert (own.summary.nodes, own.summary.edges, own.summary.features) == (4, 2, 2)
    assert own.summary.count("structural features") == 0


def test_without_features_they_come_from_the_edges() -> None:
    own = build(replace(PARTS, features=None, feature_names=(), picture=None))
    assert own.graph.feature_count == len(own.feature_names) == 6
    assert own.feature_names[0] == "log degree"
    assert own.summary is not None
    assert own.summary.count("structural features") == 6
    assert build(replace(PARTS, features=None, feature_names=(), picture=None)).graph.checksum == own.graph.checksum


@pytest.mark.parametrize("features", [np.ones((4, 3)), sp.csr_array((4, 2)), sp.csr_array(np.ones((4, 1)))])
def test_features_that_are_the_same_everywhere_are_none(features: np.ndarray) -> None:
    own = build(replace(PARTS, features=features, feature_names=(), picture=(1, features.shape[1])))
    bare = build(replace(PARTS, features=None, feature_names=(), picture=None))
    assert own.graph.checksum == bare.graph.checksum
    assert (own.feature_names, own.picture_shape, own.graph.notes) == (bare.feature_names, None, {})
    assert own.summary is not None
    [said] = [found.message for found in own.summary.findings if found.what == "structural features"]
    assert said.startswith("The features are the same for every node, so 6 are made")


def test_one_column_that_varies_is_enough() -> None:
    features = np.array([[1, 0], [1, 0], [1, 2], [1, 0]], np.float32)
    for given in (features, sp.csr_array(features)):
        graph = build(replace(PARTS, features=given, feature_names=())).graph
        kept = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
        np.testing.assert_array_equal(kept, features)
    with pytest.raises(GraphError, match=r"not a number or infinite"):
        build(replace(PARTS, features=np.full((4, 2), np.inf)))
