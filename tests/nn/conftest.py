"""Small graphs for the tests of networks."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp

from lnp.graph.graph import Graph

MakeGraph = Callable[..., Graph]


@pytest.fixture
def random_graph() -> MakeGraph:
    """Builds a random graph; the last node is isolated."""

    def build(
        nodes: int = 12, features: int = 5, *, seed: int = 0, density: float = 0.3, sparse: bool = False
    ) -> Graph:
        generator = np.random.default_rng(seed)
        upper = np.triu(generator.random((nodes, nodes)) < 0.3, 1)
        upper[:, -1] = False
        values = generator.normal(size=(nodes, features)) * (generator.random((nodes, features)) < 0.6)
        return Graph.from_edges(np.argwhere(upper).T, sp.csr_array(values) if sparse else values, class_count=3)

    return build


@pytest.fixture
def gcn_conv() -> type:
    """PyG's graph convolution (importing PyG raises deprecation warnings of its own)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch_geometric.nn import GCNConv
    return GCNConv
