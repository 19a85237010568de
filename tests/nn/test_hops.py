from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from lnp.errors import ConfigError
from lnp.graph.graph import Graph
from lnp.nn import hops as module
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.hops import HopRows, build_hops, hop_products, next_hop, stored_hops
from lnp.nn.propagation import propagation_matrix
from lnp.nn.sparse import SparseMatrix

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def dense(graph: Graph) -> np.ndarray:
    return graph.features.toarray() if sp.issparse(graph.features) else graph.features


def powers(graph: Graph, kind: str, count: int) -> list[np.ndarray]:
    S = propagation_matrix(graph.adjacency, kind).toarray().astype(np.float64)
    return [np.linalg.matrix_power(S, k) @ dense(graph) for k in range(count + 1)]


@pytest.mark.parametrize("kind", ["symmetric", "row"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("block", [1, 5, 100])
def test_the_file_holds_powers_of_s(random_graph, kind: str, sparse: bool, block: int) -> None:
    graph = random_graph(sparse=sparse)
    file = stored_hops(graph, kind, 3, block=block)
    np.testing.assert_allclose(file.checked(), powers(graph, kind, 3), atol=1e-6)
    modified = file.data.stat().st_mtime_ns
    np.testing.assert_array_equal(stored_hops(graph, kind, 3).mapped(), file.mapped())
    assert file.data.stat().st_mtime_ns == modified  # found, not made again


def test_hops_above_the_limit_are_mapped_and_equal_those_in_memory(random_graph, monkeypatch) -> None:
    graph = random_graph()
    here = build_hops(graph, "row", 2, CPU)
    monkeypatch.setattr(module, "IN_MEMORY", 2 * graph.node_count * 5 * 4 - 1)
    mapped = build_hops(graph, "row", 2, CPU)
    assert len(list((Path(module.stored_hops(graph, "row", 2).data).parent).glob("*.f32"))) == 1
    for one, other in zip(here, mapped, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("block", [1, 7, 1000])
@pytest.mark.parametrize("density", [0.005, 0.1, 0.9])
def test_a_hop_stays_sparse_while_it_is_and_equals_the_product(block: int, density: float) -> None:
    generator = np.random.default_rng(0)
    matrix = sp.csr_array((generator.random((40, 40)) < 0.1).astype(np.float32))
    features = sp.csr_array(((generator.random((40, 30)) < density) * generator.random((40, 30))).astype(np.float32))
    expected = matrix.toarray() @ features.toarray()
    product = next_hop(matrix, features, block=block)
    assert sp.issparse(product) == ((expected != 0).mean() <= 0.25)
    np.testing.assert_allclose(product.toarray() if sp.issparse(product) else product, expected, atol=1e-6)
    np.testing.assert_allclose(next_hop(matrix, features.toarray(), block=block), expected, atol=1e-6)


def test_hops_are_computed_once_for_all_networks_and_forgotten_with_the_graph(random_graph, monkeypatch) -> None:
    built = []
    monkeypatch.setattr(module, "build_hops", lambda *arguments: built.append(1) or build_hops(*arguments))
    graph = random_graph(seed=5)
    weights = [torch.ones(5, 2)] * 3
    known = len(module._KNOWN)
    for _ in range(2):  # two views of one graph: networks of one method, or its copies with more columns
        hop_products(GraphTensors(graph), "row", weights)
    wide = [torch.ones(6, 2)] * 3
    hop_products(GraphTensors(graph).with_columns(torch.ones(graph.node_count, 1)), "row", wide)
    assert built == [1]
    assert len(module._KNOWN) == known + 1
    del graph
    gc.collect()
    assert len(module._KNOWN) == known


@pytest.mark.parametrize("sparse", [False, True])
def test_any_other_graph_is_propagated_where_it_stands(random_graph, sparse: bool) -> None:
    class Part(GraphTensors):
        """What a sampled part looks like to a network."""

    graph = random_graph(sparse=sparse)
    generator = np.random.default_rng(0)
    weights = [torch.from_numpy(generator.normal(size=(5, 2)).astype(np.float32)) for _ in range(3)]
    here, there = (hop_products(made(graph), "symmetric", weights) for made in (GraphTensors, Part))
    for one, other in zip(here, there, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_rows_give_the_rows_of_the_products(random_graph) -> None:
    graph = random_graph()
    generator = np.random.default_rng(0)
    weights = [torch.from_numpy(generator.normal(size=(5, 2)).astype(np.float32)) for _ in range(3)]
    whole = hop_products(GraphTensors(graph), "row", weights)
    rows = HopRows(torch.from_numpy(stored_hops(graph, "row", 2).read(np.arange(3, 8))), "row")
    assert rows.node_count == 5
    for one, other in zip(hop_products(rows, "row", weights), whole, strict=True):
        torch.testing.assert_close(one, other[3:8], atol=1e-5, rtol=1e-5)
    np.testing.assert_array_equal(rows.features.numpy(), graph.features[3:8])


def test_rows_refuse_what_they_cannot_do(random_graph) -> None:
    rows = HopRows(torch.zeros(3, 4, 5), "row")
    with pytest.raises(ConfigError, match="2 hops with `normalisation` symmetric, but got 2 with row"):
        hop_products(rows, "symmetric", [torch.zeros(5, 2)] * 3)
    with pytest.raises(ConfigError, match="independent"):
        rows.propagation("row")
    with pytest.raises(ConfigError, match="fusion"):
        rows.with_columns(torch.zeros(4, 1))


def test_sparse_hops_multiply_like_dense_ones(random_graph) -> None:
    graph = random_graph(nodes=60, features=200, density=0.02, sparse=True)
    thin = graph.with_features(sp.csr_array(graph.features.multiply(np.random.default_rng(1).random((60, 200)) < 0.01)))
    hops = build_hops(thin, "row", 1, CPU)
    assert isinstance(hops[0], SparseMatrix)
    np.testing.assert_allclose((hops[0] @ torch.eye(200)).numpy(), powers(thin, "row", 1)[1], atol=1e-6)
