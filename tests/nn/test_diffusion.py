from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch

from lnp.errors import ConfigError
from lnp.graph.graph import Graph
from lnp.nn.diffusion import DIFFUSIONS, diffuse, diffused, diffusion_matrix, normalised_rows
from lnp.nn.graph_tensors import GraphTensors


def dense_matrix(graph: Graph, kind: str) -> np.ndarray:
    adjacency = graph.adjacency.toarray().astype(np.float64)
    degree = adjacency.sum(axis=1)
    inverse = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    if kind == "symmetric":
        return np.sqrt(inverse)[:, None] * adjacency * np.sqrt(inverse)
    return inverse[:, None] * adjacency if kind == "row" else adjacency * inverse


def random_seeds(nodes: int, classes: int = 3, seed: int = 0) -> torch.Tensor:
    generator = np.random.default_rng(seed)
    rows = np.eye(classes)[generator.integers(0, classes, nodes)] * (generator.random((nodes, 1)) < 0.5)
    return torch.from_numpy(rows.astype(np.float32))


@pytest.mark.parametrize("kind", DIFFUSIONS)
def test_matrix_equals_the_dense_one(random_graph, kind: str) -> None:
    graph = random_graph()  # its last node is isolated
    product = diffusion_matrix(GraphTensors(graph), kind) @ torch.eye(graph.node_count)
    np.testing.assert_allclose(product.numpy(), dense_matrix(graph, kind), atol=1e-6)


@pytest.mark.parametrize("kind", DIFFUSIONS)
def test_weights_of_edges_count(kind: str) -> None:
    graph = Graph.from_edges([[0, 1], [1, 2]], np.ones((3, 1)), weights=[1.0, 3.0], class_count=2)
    product = diffusion_matrix(GraphTensors(graph), kind) @ torch.eye(3)
    np.testing.assert_allclose(product.numpy(), dense_matrix(graph, kind), atol=1e-6)


@pytest.mark.parametrize("kind", DIFFUSIONS)
def test_steps_equal_a_dense_loop(random_graph, kind: str) -> None:
    graph = random_graph()
    seeds = random_seeds(graph.node_count)
    result = diffuse(diffusion_matrix(GraphTensors(graph), kind), seeds, alpha=0.7, steps=6, bounds=(0.1, 0.4))
    expected, matrix = seeds.double().numpy(), dense_matrix(graph, kind)
    for _ in range(6):
        expected = np.clip(0.7 * matrix @ expected + 0.3 * seeds.double().numpy(), 0.1, 0.4)
    np.testing.assert_allclose(result.numpy(), expected, atol=1e-6)


def test_it_converges_to_the_closed_form_without_clamp(random_graph) -> None:
    graph = random_graph()
    seeds = random_seeds(graph.node_count)
    result = diffuse(diffusion_matrix(GraphTensors(graph), "symmetric"), seeds, alpha=0.8, steps=200)
    inverse = np.linalg.inv(np.eye(graph.node_count) - 0.8 * dense_matrix(graph, "symmetric"))
    np.testing.assert_allclose(result.numpy(), 0.2 * inverse @ seeds.double().numpy(), atol=1e-5)


def test_fixed_rows_keep_their_seeds_and_the_rest_becomes_harmonic() -> None:
    # Ends of a path held at 1 and 0: the neighbour average of the inner nodes is the straight line.
    graph = Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 4]], np.ones((5, 1)), class_count=2)
    seeds = torch.tensor([[1.0], [0.0], [0.0], [0.0], [0.0]])
    fixed = torch.tensor([True, False, False, False, True])
    result = diffuse(diffusion_matrix(GraphTensors(graph), "row"), seeds, alpha=1.0, steps=300, fixed=fixed)
    np.testing.assert_allclose(result.squeeze(1).numpy(), [1, 0.75, 0.5, 0.25, 0], atol=1e-5)


def test_nothing_moves_with_alpha_zero_or_no_step(random_graph) -> None:
    graph = random_graph()
    matrix, seeds = diffusion_matrix(GraphTensors(graph), "symmetric"), random_seeds(graph.node_count)
    assert torch.equal(diffuse(matrix, seeds, alpha=0.0, steps=5, bounds=(0, 1)), seeds)
    assert torch.equal(diffuse(matrix, seeds, alpha=0.9, steps=0), seeds)


@pytest.mark.parametrize("kind", ["row", "symmetric"])
@pytest.mark.parametrize(("alpha", "steps"), [(0.8, 2), (0.9, 10), (1.0, 3), (0.5, 0)])
def test_its_gradient_is_that_of_a_loop_step_by_step(random_graph, kind: str, alpha: float, steps: int) -> None:
    graph = random_graph()
    matrix = GraphTensors(graph).propagation(kind)
    numbers = torch.randn(2, graph.node_count, 3, generator=torch.Generator().manual_seed(0))
    seeds, weights = numbers[0].requires_grad_(), numbers[1]
    looped = seeds
    for _ in range(steps):
        looped = alpha * (matrix @ looped) + (1 - alpha) * seeds
    found = diffused(matrix, seeds, alpha=alpha, steps=steps)
    torch.testing.assert_close(found, looped)
    (expected,) = torch.autograd.grad((looped.tanh() * weights).sum(), seeds)
    (gradient,) = torch.autograd.grad((found.tanh() * weights).sum(), seeds)
    torch.testing.assert_close(gradient, expected)


def test_seeds_are_left_as_they_are(random_graph) -> None:
    graph = random_graph()
    seeds = random_seeds(graph.node_count)
    before = seeds.clone()
    fixed = seeds.sum(dim=1) > 0
    diffuse(diffusion_matrix(GraphTensors(graph), "row"), seeds, alpha=0.5, steps=3, bounds=(0, 0.1), fixed=fixed)
    assert torch.equal(seeds, before)


def test_it_equals_label_propagation_of_another_library(random_graph) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch_geometric.nn import LabelPropagation
    graph = random_graph(nodes=30)
    labels = torch.from_numpy(np.random.default_rng(1).integers(0, 3, 30))
    mask = torch.from_numpy(np.random.default_rng(2).random(30) < 0.3)
    both_ways = torch.from_numpy(np.c_[graph.edges, graph.edges[::-1]])
    expected = LabelPropagation(num_layers=20, alpha=0.9)(labels, both_ways, mask=mask)
    seeds = torch.nn.functional.one_hot(labels, 3).float() * mask.unsqueeze(1)
    result = diffuse(diffusion_matrix(GraphTensors(graph), "symmetric"), seeds, alpha=0.9, steps=20, bounds=(0.0, 1.0))
    torch.testing.assert_close(result, expected, atol=1e-6, rtol=1e-5)


def test_normalised_rows() -> None:
    values = torch.tensor([[1.0, 3.0], [0.0, 0.0], [1e-38, 1e-38]])
    assert normalised_rows(values, torch.tensor([0.9, 0.1])).tolist() == [
        [0.25, 0.75],
        pytest.approx([0.9, 0.1]),
        [0.5, 0.5],
    ]


def test_an_unknown_kind_is_named(random_graph) -> None:
    with pytest.raises(ConfigError, match="one of column, row, symmetric, but got 'rows'"):
        diffusion_matrix(GraphTensors(random_graph()), "rows")


def test_the_gradient_of_a_gradient_is_that_of_the_dense_form(random_graph) -> None:
    """As LPM asks for it: by torch.func, of what a step of learning does to a later loss."""
    graph = random_graph()
    matrix = GraphTensors(graph).propagation("row+1")
    dense = matrix @ torch.eye(graph.node_count)
    seeds, aim = (torch.from_numpy(np.random.default_rng(k).normal(size=(graph.node_count, 3))) for k in (0, 1))

    def later(product, values: torch.Tensor) -> torch.Tensor:  # type: ignore[no-untyped-def]
        def loss(values: torch.Tensor) -> torch.Tensor:
            return ((diffused(product, values, alpha=0.9, steps=3) - aim.float()) ** 4).sum()

        return loss(values - 1e-3 * torch.func.grad(loss)(values))

    found, expected = (torch.func.grad(lambda v, m=one: later(m, v))(seeds.float()) for one in (matrix, dense))
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)
