"""Layer by layer and block by block against one pass over the whole graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from lnp.graph.graph import Graph
from lnp.nn import layerwise
from lnp.nn.backbone import BackboneSpec
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.layerwise import Layerwise, RowBlocks
from lnp.nn.registry import BACKBONES, build_backbone
from lnp.seeds import Seeds

NODES = 45


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def make_graph(*, sparse: bool = False) -> Graph:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(NODES, 6)) * (rng.random((NODES, 6)) < 0.5)
    edges = rng.integers(0, NODES - 2, (2, 70))
    return Graph.from_edges(edges, sp.csr_array(features) if sparse else features, class_count=3)


def make_network(backbone: str, layers: int, **options: object):  # type: ignore[no-untyped-def]
    spec = BackboneSpec(inputs=6, outputs=3, hidden=5, layers=layers, **options)  # type: ignore[arg-type]
    network = build_backbone(backbone, spec, Seeds(0).generator("initialisation"))
    for name, buffer in network.named_buffers():  # statistics of BatchNorm that are not those of the start
        if name.endswith(("running_mean", "running_var")):
            buffer.copy_(torch.linspace(0.5, 1.5, buffer.numel()))
    return network.eval()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_outputs_are_those_of_one_pass(backbone: str, layers: int, sparse: bool) -> None:
    graph = make_graph(sparse=sparse)
    for options in (
        {"normalisation": "symmetric"},
        {"normalisation": "row", "self_in_two_hop": True, "loop_weight": 3.0},
    ):
        network = make_network(backbone, layers, **options)
        with torch.no_grad():
            expected = network(GraphTensors(graph))
        for limit in (0, 2**30):  # S X computed once, or not
            found = network(Layerwise(graph, block=7, propagated_bytes=limit))
            torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
            assert not found.requires_grad


def test_two_hop_rows_that_are_too_many_to_keep_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, network = make_graph(), make_network("h2gcn", 2)
    kept, anew = Layerwise(graph), Layerwise(graph)
    expected = network(kept)
    monkeypatch.setattr(layerwise, "KEPT_ENTRIES", 10)
    torch.testing.assert_close(network(anew), expected)
    assert (list(kept._far), list(anew._far)) == (["two-hop"], [])


def test_outputs_are_kept_until_the_weights_change() -> None:
    graph, network = Layerwise(make_graph()), make_network("mlp", 2)
    first = network(graph)
    assert network(graph) is first
    with torch.no_grad():
        network.layers[0].weight[0, 0] += 1
    second = network(graph)
    assert second is not first
    assert not torch.equal(second, first)
    network.norms[0].running_mean[0] += 1
    assert not torch.equal(network(graph), second)


def test_two_networks_do_not_get_each_others_outputs() -> None:
    graph, one, other = Layerwise(make_graph()), make_network("gcn", 2), make_network("gcn", 3)
    torch.testing.assert_close(one(graph), one(GraphTensors(make_graph())), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(other(graph), other(GraphTensors(make_graph())), rtol=1e-5, atol=1e-6)


def test_products_of_blocks_of_rows() -> None:
    matrix = sp.random_array((9, 5), density=0.4, rng=np.random.default_rng(0), dtype=np.float32, format="csr")
    dense = torch.arange(10, dtype=torch.float32).reshape(5, 2)
    expected = torch.from_numpy(matrix.toarray()) @ dense
    for blocks in (RowBlocks(matrix, torch.device("cpu")), RowBlocks(matrix.toarray(), torch.device("cpu"))):
        torch.testing.assert_close(blocks @ dense, expected)
        torch.testing.assert_close(blocks.rows(3, 8, dense), expected[3:8])
        assert blocks.rows(4, 4, dense).shape == (0, 2)
