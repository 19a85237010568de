"""A path beside a network."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.graph.graph import Graph
from lnp.nn.path import Path
from lnp.nn.sparse import SparseMatrix
from lnp.seeds import Seeds


def test_it_starts_with_nothing_and_is_its_equation(tiny_graph: Graph) -> None:
    matrix, path = tiny_graph.adjacency.toarray(), Path(7, 4, 3, 0.5, Seeds(0).generator("initialisation")).eval()
    links = SparseMatrix.from_scipy(tiny_graph.adjacency, symmetric=True)
    draws = np.random.default_rng(0)
    with torch.no_grad():
        assert not path(links, None).any()
        for weight in (path.inner.bias, path.outer.weight):
            weight.copy_(torch.from_numpy(draws.normal(size=weight.shape)))
        inner, bias, outer = (w.numpy() for w in (path.inner.weight, path.inner.bias, path.outer.weight))
        expected = np.maximum(matrix @ inner + bias, 0) @ outer
        np.testing.assert_allclose(path(links, None).numpy(), expected, atol=1e-6)


def test_a_path_drops_hidden_entries_and_keeps_their_mean() -> None:
    path = Path(3, 2000, 1, 0.5, Seeds(0).generator("initialisation"))
    with torch.no_grad():
        path.outer.weight.fill_(1.0)
    matrix = torch.ones(1, 3)
    generator = Seeds(0).generator("dropout")
    kept = path.eval()(matrix, generator).item()
    dropped = [path.train()(matrix, generator).item() for _ in range(50)]
    assert np.mean(dropped) == pytest.approx(kept, rel=0.02)
    assert np.std(dropped) > 0.005 * kept


def test_gradient_through_the_links_by_finite_differences(tiny_graph: Graph) -> None:
    """A is kept once for both directions, for it is symmetric."""
    matrix = SparseMatrix.from_scipy(tiny_graph.adjacency, symmetric=True)
    double = SparseMatrix(matrix._forward.double(), matrix._backward.double())
    path = Path(7, 4, 3, 0.0, Seeds(1).generator("initialisation")).double()
    for weight in (path.outer.weight, path.inner.bias):  # an isolated node sits at the kink of relu where b is 0
        torch.nn.init.normal_(weight, generator=torch.Generator().manual_seed(0))
    weights = [path.inner.weight, path.inner.bias, path.outer.weight]

    def forward(*values: torch.Tensor) -> torch.Tensor:
        named = dict(zip(("inner.weight", "inner.bias", "outer.weight"), values, strict=True))
        outputs: torch.Tensor = torch.func.functional_call(path, named, (double, None))
        return outputs

    assert torch.autograd.gradcheck(forward, [w.detach().requires_grad_() for w in weights])
