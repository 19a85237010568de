from __future__ import annotations

import sys

import networkx
import numpy as np
import pytest
import scipy.sparse as sp
import torch

from lnp.errors import GraphError, InputError, LabelError
from lnp.graph import convert
from lnp.graph.graph import Graph
from lnp.graph.labels import Truth
from lnp.graph.split import Split

GENERATOR = np.random.default_rng(0)
EDGES = GENERATOR.integers(0, 12, (2, 20))
DENSE = GENERATOR.normal(size=(12, 5)).astype(np.float32)
TRUTH = Truth(GENERATOR.integers(-1, 3, 12), 3)
SPLIT = Split([5, 1], [2, 7, 8], [0, 11])


def pyg():
    return convert.import_optional("torch_geometric.data", "this test")


def make(*, sparse=False, weighted=False, named=False):
    features = sp.csr_array(np.where(DENSE > 0.3, DENSE, 0)) if sparse else DENSE
    return Graph.from_edges(
        EDGES,
        features,
        class_names=("a", "b", "c"),
        weights=np.linspace(0.5, 3, 20) if weighted else None,
        node_ids=tuple(f"node {i}" for i in range(12)) if named else None,
        name="example",
        notes={"picture_shape": (5, 1)},
    )


GRAPHS = [make(), make(sparse=True), make(weighted=True), make(sparse=True, weighted=True, named=True)]


def assert_same_graph(first, second, *, named=True):
    assert first.checksum == second.checksum
    np.testing.assert_array_equal(first.adjacency.toarray(), second.adjacency.toarray())
    assert type(first.features) is type(second.features)
    if named:
        facts = [(g.class_names, g.node_ids, g.name, g.notes) for g in (first, second)]
        assert facts[0] == facts[1]


@pytest.mark.parametrize("graph", GRAPHS)
def test_there_and_back_by_pyg(graph):
    back, truth, split = convert.from_pyg(convert.to_pyg(graph, TRUTH, SPLIT))
    assert_same_graph(back, graph)
    np.testing.assert_array_equal(truth.labels, TRUTH.labels)
    for part in ("train", "validation", "test"):
        np.testing.assert_array_equal(getattr(split, part), getattr(SPLIT, part))


def test_pyg_without_labels_and_split():
    data = convert.to_pyg(GRAPHS[0])
    assert data.validate()
    assert convert.from_pyg(data)[1:] == (None, None)


def test_pyg_reads_the_same_graph_and_sparse_features_work_in_its_layers():
    graph = make(sparse=True)
    data = convert.to_pyg(graph)
    assert data.x.layout == torch.sparse_csr
    assert data.is_undirected()
    assert not data.has_self_loops()
    assert data.num_edges == 2 * graph.edge_count
    convolution = convert.import_optional("torch_geometric.nn", "this test").GCNConv(5, 3)
    with_loops = graph.adjacency.toarray() + np.eye(12)
    scale = 1 / np.sqrt(with_loops.sum(axis=1))
    propagation = scale[:, None] * with_loops * scale
    expected = propagation @ graph.features.toarray() @ convolution.lin.weight.detach().numpy().T
    np.testing.assert_allclose(convolution(data.x, data.edge_index).detach().numpy(), expected, atol=1e-5)


def test_data_of_others_obeys_the_contract_afterwards():
    data = pyg().Data(
        x=torch.sparse_coo_tensor([[0, 2], [1, 0]], [1.0, 2.0], (3, 2), check_invariants=True),
        edge_index=torch.tensor([[0, 1, 1, 2], [1, 1, 0, 0]]),  # directed, doubled, with a self-loop
        y=torch.tensor([[0], [2], [1]]),  # a column, as OGB has it
        train_mask=torch.eye(3, dtype=torch.bool)[:, :2],
        val_mask=torch.eye(3, dtype=torch.bool)[:, 1:],
        test_mask=torch.zeros(3, 2, dtype=torch.bool),
    )
    graph, truth, split = convert.from_pyg(data)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(graph.features.toarray(), [[0, 1], [0, 0], [2, 0]])
    assert graph.class_names == ("0", "1", "2")
    assert truth.labels.tolist() == [0, 2, 1]
    assert (split.train.tolist(), split.validation.tolist()) == ([0], [1])  # the first of two
    splits = convert.splits_from_masks(data.train_mask, data.val_mask, data.test_mask)
    assert [s.validation.tolist() for s in splits] == [[1], [2]]


def test_from_pyg_says_what_is_missing():
    arrow = torch.tensor([[0], [1]])
    with pytest.raises(GraphError, match="`data` to have `x`, but it has only edge_index"):
        convert.from_pyg(pyg().Data(edge_index=arrow))
    with pytest.raises(GraphError, match="`data` to have `edge_index`, but it has only x"):
        convert.from_pyg(pyg().Data(x=torch.ones(2, 1)))
    with pytest.raises(GraphError, match="Expected `class_names`"):
        convert.from_pyg(pyg().Data(x=torch.ones(2, 1), edge_index=arrow))
    with pytest.raises(LabelError, match=r"`y` to be one whole number per node, .* of torch\.float32"):
        convert.from_pyg(pyg().Data(x=torch.ones(2, 1), edge_index=arrow, y=torch.rand(2)))


def test_masks_that_do_not_fit_are_named():
    with pytest.raises(LabelError, match=r"three boolean masks of one shape, .* bool \(3,\), bool \(2,\), bool \(3,\)"):
        convert.splits_from_masks(np.ones(3, bool), np.ones(2, bool), np.ones(3, bool))
    with pytest.raises(LabelError, match="three boolean masks"):
        convert.splits_from_masks(*np.zeros((3, 4), int))


@pytest.mark.parametrize("graph", GRAPHS)
def test_there_and_back_by_networkx(graph):
    back, truth = convert.from_networkx(convert.to_networkx(graph, TRUTH))
    assert_same_graph(back, graph)
    np.testing.assert_array_equal(truth.labels, TRUTH.labels)
    assert convert.from_networkx(convert.to_networkx(graph))[1] is None


def test_networkx_reads_the_same_adjacency():
    graph = make(weighted=True, named=True)
    matrix = networkx.to_scipy_sparse_array(convert.to_networkx(graph), nodelist=graph.node_ids)
    np.testing.assert_allclose(matrix.toarray(), graph.adjacency.toarray())


def test_a_networkx_graph_of_others():
    source = networkx.MultiDiGraph([("x", "y"), ("y", "x"), ("y", "z"), ("z", "z")])
    source["x"]["y"][0]["weight"] = 4.0
    networkx.set_node_attributes(source, {"x": [1, 2], "y": [3, 4], "z": [5, 6]}, "colour")
    source.nodes["z"]["y"] = 1
    graph, truth = convert.from_networkx(source, "colour")
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 4, 0], [4, 0, 1], [0, 1, 0]])
    np.testing.assert_array_equal(graph.features, [[1, 2], [3, 4], [5, 6]])
    assert graph.node_ids == ("x", "y", "z")
    assert truth.labels.tolist() == [-1, -1, 1]
    matrix, _ = convert.from_networkx(source, np.eye(3), class_names=("no", "yes"))
    np.testing.assert_array_equal(matrix.features, np.eye(3))


def test_from_networkx_says_what_is_missing():
    source = networkx.path_graph(3)
    with pytest.raises(GraphError, match=r"features in the attribute 'features' .* but node 0 has none"):
        convert.from_networkx(source)
    with pytest.raises(GraphError, match="Expected `class_names`, for no node has a label"):
        convert.from_networkx(source, np.eye(3))
    twins = Graph.from_edges([[0], [1]], np.eye(2), class_count=2, node_ids=("a", "a"))
    with pytest.raises(GraphError, match="`node_ids` without repetition"):
        convert.to_networkx(twins)


@pytest.mark.parametrize("graph", GRAPHS)
def test_there_and_back_by_scipy(graph):
    adjacency, features = convert.to_scipy(graph)
    back = convert.from_scipy(adjacency, features, class_names=graph.class_names)
    assert_same_graph(back, graph, named=False)
    adjacency.data[:] = 7
    assert graph.checksum == back.checksum  # the parts are copies


def test_from_scipy_takes_any_square_matrix():
    one_way = sp.coo_array(([2.0, 1.0, 3.0], ([0, 1, 2], [1, 0, 2])), shape=(3, 3))
    graph = convert.from_scipy(one_way, np.eye(3), class_count=2)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 2, 0], [2, 0, 0], [0, 0, 0]])
    with pytest.raises(GraphError, match=r"`adjacency` to be square, but got shape \(2, 3\)"):
        convert.from_scipy(sp.csr_array((2, 3)), np.eye(2), class_count=2)


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("torch_geometric", lambda: convert.to_pyg(GRAPHS[0])),
        ("networkx", lambda: convert.to_networkx(GRAPHS[0])),
        ("networkx", lambda: convert.from_networkx(None)),
    ],
)
def test_an_absent_library_is_named(monkeypatch, package, call):
    for module in [name for name in sys.modules if name.partition(".")[0] == package] + [package]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=f"Expected {package} to be installed, which (to|from)_"):
        call()
