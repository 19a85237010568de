"""Graphs of other libraries give what files with the same content give."""

from __future__ import annotations

import networkx
import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
import torch

from lnp.datasets.load_graph import load_graph
from lnp.datasets.own_graph import OwnGraph
from lnp.errors import ConfigError, DataError, GraphError, LabelError
from lnp.graph.convert import import_optional, to_networkx, to_pyg
from lnp.graph.graph import Graph
from lnp.graph.labels import Truth

LABELS = ["red", "blue", None, "red"]
X = np.array([[1.0, 0.5], [2.0, 1.5], [3.0, 2.5], [4.0, 3.5]], np.float32)
PAIRS = [("a", "b"), ("b", "c"), ("c", "b"), ("d", "d"), ("a", "b")]


@pytest.fixture
def reference() -> OwnGraph:
    nodes = pl.DataFrame(
        {"id": ["a", "b", "c", "d"], "label": LABELS, "trusted": [1, 0, 0, 0], "x": X[:, 0], "z": X[:, 1]}
    )
    return load_graph(nodes, pl.DataFrame(PAIRS, schema=["source", "target"], orient="row"))


def counts(own: OwnGraph) -> dict[str, int]:
    assert own.summary is not None
    names = ("self-loops", "duplicate edges", "isolated nodes")
    return {name: own.summary.count(name) for name in names}


def test_networkx_with_attributes(reference: OwnGraph) -> None:
    graph = networkx.MultiDiGraph(PAIRS)
    rows = zip("abcd", LABELS, X.tolist(), strict=True)
    for i, (node, label, (x, z)) in enumerate(rows):
        graph.add_node(node, x=x, z=z, trusted=i == 0, **({} if label is None else {"label": label}))
    own = load_graph(graph)
    assert own.graph.checksum == reference.graph.checksum
    assert own.labels.given.tolist() == reference.labels.given.tolist()
    assert own.labels.trusted.tolist() == [True, False, False, False]
    assert (own.node_ids, own.class_names) == (reference.node_ids, reference.class_names)
    assert counts(own) == counts(reference) == {"self-loops": 1, "duplicate edges": 1, "isolated nodes": 1}


def test_categories_in_memory_are_text(reference: OwnGraph) -> None:
    kinds = {"id": pl.Categorical, "label": pl.Enum(["blue", "red"]), "x": pl.Float32, "z": pl.Float32}
    columns = {"id": ["a", "b", "c", "d"], "label": LABELS, "x": X[:, 0], "z": X[:, 1]}
    nodes = pl.DataFrame({name: pl.Series(columns[name], dtype=kind) for name, kind in kinds.items()})
    edges = pl.DataFrame(PAIRS, schema={"source": pl.Categorical, "target": pl.Categorical}, orient="row")
    own = load_graph(nodes, edges)
    assert own.graph.checksum == reference.graph.checksum
    assert own.labels.given.tolist() == reference.labels.given.tolist()


def test_marks_of_networkx_nodes_are_true_and_false() -> None:
    graph = networkx.path_graph(3)
    networkx.set_node_attributes(graph, {0: True, 1: np.False_}, "label")
    as_table = load_graph(
        pl.DataFrame({"id": [0, 1, 2], "label": [True, False, None]}),
        pl.DataFrame({"source": [0, 1], "target": [1, 2]}),
    )
    own = load_graph(graph)
    assert own.class_names == as_table.class_names == ("false", "true")
    assert own.labels.given.tolist() == as_table.labels.given.tolist() == [1, 0, -1]


def test_networkx_with_vectors_weights_and_numbers_for_names() -> None:
    graph = networkx.path_graph(3)
    networkx.set_node_attributes(graph, {0: [1.0, 2.0], 1: [3.0, 4.0], 2: [5.0, 6.0]}, "v")
    networkx.set_node_attributes(graph, {0: 5, 1: 9}, "topic")
    graph.edges[0, 1]["weight"] = 4
    own = load_graph(graph, label="topic", name="path")
    assert (own.node_ids, own.class_names, own.feature_names) == (("0", "1", "2"), ("5", "9"), ("v[0]", "v[1]"))
    assert own.graph.adjacency.toarray().tolist() == [[0, 4, 0], [4, 0, 1], [0, 1, 0]]


def test_networkx_with_features_keeps_its_labels_and_marks(reference: OwnGraph) -> None:
    graph = networkx.MultiDiGraph(PAIRS)
    for i, (node, label) in enumerate(zip("abcd", LABELS, strict=True)):
        graph.add_node(node, trusted=i == 0, **({} if label is None else {"label": label}))
    own = load_graph(graph, features=X)
    assert own.graph.checksum == reference.graph.checksum
    assert own.labels.given.tolist() == reference.labels.given.tolist()
    assert own.labels.trusted.tolist() == [True, False, False, False]
    assert load_graph(graph, features=X, trusted=[0, 1, 0, 0]).labels.trusted.tolist() == [False, True, False, False]
    with pytest.raises(DataError, match=r"to have an attribute 'topic', but it has only 'id', 'trusted', 'label'"):
        load_graph(graph, features=X, label="topic")
    with pytest.raises(ConfigError, match=r"`text` .* for a networkx graph with `features`"):
        load_graph(graph, features=X, text="abstract")


def test_scipy_with_its_arguments(reference: OwnGraph) -> None:
    rows, columns = zip(*[("abcd".index(a), "abcd".index(b)) for a, b in dict.fromkeys(PAIRS)], strict=True)
    matrix = sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(4, 4))
    own = load_graph(matrix, features=X, labels=LABELS, trusted=[True, False, False, False], node_ids="abcd")
    assert own.graph.checksum == reference.graph.checksum
    assert (own.node_ids, own.class_names) == (reference.node_ids, reference.class_names)
    assert own.labels.given.tolist() == reference.labels.given.tolist()
    assert own.summary is not None
    assert own.summary.count("self-loops") == 1
    with pytest.raises(DataError, match=r"Expected `labels` beside the matrix"):
        load_graph(matrix)
    with pytest.raises(GraphError, match=r"square matrix"):
        load_graph(sp.csr_array((2, 3)), labels=[0, 1])


def test_pyg_with_and_without_features(reference: OwnGraph) -> None:
    data_class = import_optional("torch_geometric.data", "this test").Data
    ends = torch.tensor([["abcd".index(a), "abcd".index(b)] for a, b in PAIRS]).T
    data = data_class(
        x=torch.from_numpy(X),
        edge_index=ends,
        y=torch.tensor([1, 0, -1, 1]),
        trusted=torch.tensor([True, False, False, False]),
        train_mask=torch.ones(4, dtype=torch.bool),
        class_names=("blue", "red"),
    )
    own = load_graph(data, node_ids="abcd")
    assert own.graph.checksum == reference.graph.checksum
    assert (own.node_ids, own.class_names) == (reference.node_ids, reference.class_names)
    assert own.labels.trusted.tolist() == reference.labels.trusted.tolist()
    assert counts(own) == counts(reference)
    assert own.summary is not None
    assert own.summary.count("masks") == 1
    bare = data_class(edge_index=ends, num_nodes=4)
    made = load_graph(bare, labels=LABELS)
    assert made.labels.given.tolist() == own.labels.given.tolist()
    assert made.feature_names[0] == "log degree"
    with pytest.raises(DataError, match=r"Expected `labels` beside the PyG Data"):
        load_graph(bare)


def test_our_own_graphs_go_round(tiny_graph: Graph) -> None:
    labels = np.array([0, 0, 0, 1, 1, 2, -1])
    direct = load_graph(tiny_graph, labels=labels)
    through_networkx = load_graph(to_networkx(tiny_graph, Truth(labels, 3)))
    through_pyg = load_graph(to_pyg(tiny_graph, Truth(labels, 3)))
    for own in (direct, through_networkx, through_pyg):
        assert own.graph.checksum == tiny_graph.checksum
        assert own.labels.given.tolist() == labels.tolist()
        assert own.class_names == tiny_graph.class_names
    with pytest.raises(DataError, match=r"Expected `labels` beside the lnp.Graph"):
        load_graph(tiny_graph)


@pytest.mark.parametrize("count", [2, 4])
def test_labels_are_as_many_as_nodes(count: int) -> None:
    path = networkx.path_graph(3)
    bare = import_optional("torch_geometric.data", "this test").Data(edge_index=torch.tensor([[0, 1], [1, 2]]))
    bare.num_nodes = 3
    ours = Graph.from_edges([[0, 1], [1, 2]], np.eye(3), class_names=("a", "b"))
    for source in (path, networkx.to_scipy_sparse_array(path), bare, ours):
        with pytest.raises(LabelError, match=rf"each of the 3 nodes of .*, but got {count}"):
            load_graph(source, labels=["a", "b", "a", "b"][:count])


def test_pyg_counts_isolated_nodes_at_the_end() -> None:
    data_class = import_optional("torch_geometric.data", "this test").Data
    own = load_graph(data_class(edge_index=torch.tensor([[0, 1], [1, 2]]), y=torch.tensor([0, 1, 0, -1, 1])))
    assert own.labels.given.tolist() == [0, 1, 0, -1, 1]
    assert np.diff(own.graph.adjacency.indptr).tolist() == [1, 2, 1, 0, 0]


def test_pictures_stay_pictures() -> None:
    graph = Graph.from_edges([[0], [1]], np.eye(4)[:2], class_count=2, notes={"picture_shape": (2, 2)})
    assert load_graph(graph, labels=[0, 1]).picture_shape == (2, 2)


def test_other_objects_and_options_are_refused(tiny_graph: Graph) -> None:
    with pytest.raises(DataError, match=r"Expected a path, .* but got dict"):
        load_graph({"a": 1})
    with pytest.raises(ConfigError, match=r"`text` .* for an lnp.Graph"):
        load_graph(tiny_graph, labels=[0] * 7, text="t")
    with pytest.raises(GraphError, match=r"networkx graph with edges"):
        load_graph(networkx.empty_graph(3))
    marked = networkx.path_graph(3)
    with pytest.raises(ConfigError, match=r"`trusted` as a node attribute of the graph"):
        load_graph(marked, trusted=[True, False, False])
    table = pl.DataFrame({"id": [1, 2], "label": [0, 1]})
    with pytest.raises(ConfigError, match=r"`labels` as a column of the graph"):
        load_graph(table, table, labels=[0, 1])
