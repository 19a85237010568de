from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from lnp.engine.fit import fit
from lnp.engine.selection import select_last
from lnp.errors import ConfigError, LabelError
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import full_batch
from lnp.methods.correct_and_smooth import CorrectAndSmooth, CorrectAndSmoothConfig, correct, smooth
from lnp.methods.gcn import Plain, PlainConfig
from lnp.nn.diffusion import diffusion_matrix
from lnp.nn.graph_tensors import GraphTensors
from lnp.seeds import Seeds


def problem(graph: Graph) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Random probabilities, six labelled nodes, their labels."""
    generator = np.random.default_rng(0)
    base = torch.from_numpy(generator.normal(size=(graph.node_count, 3)).astype(np.float32)).softmax(dim=1)
    nodes = torch.from_numpy(np.sort(generator.choice(graph.node_count, 6, replace=False)))
    return base, nodes, torch.from_numpy(generator.integers(0, 3, 6))


@pytest.mark.parametrize("scale", [None, 0.7])
def test_both_steps_equal_another_library(toy_task, scale: float | None) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch_geometric.nn import CorrectAndSmooth as Reference
    graph = toy_task.graph
    base, nodes, labels = problem(graph)
    both_ways = torch.from_numpy(np.c_[graph.edges, graph.edges[::-1]])
    adjacency = torch.from_numpy(graph.adjacency.toarray())
    root = adjacency.sum(dim=1).clamp(min=1).rsqrt()
    weights = root[both_ways[0]] * root[both_ways[1]]
    reference = Reference(10, 0.8, 20, 0.6, autoscale=scale is None, scale=1.0 if scale is None else scale)

    matrix, one_hot = diffusion_matrix(GraphTensors(graph), "symmetric"), F.one_hot(labels, 3).float()
    corrected = correct(base, nodes, one_hot, matrix, alpha=0.8, steps=10, scale=scale)
    expected = reference.correct(base, labels, nodes, both_ways, weights)
    torch.testing.assert_close(corrected, expected, atol=1e-5, rtol=1e-4)

    smoothed = smooth(corrected, nodes, one_hot, matrix, alpha=0.6, steps=20)
    torch.testing.assert_close(
        smoothed, reference.smooth(expected, labels, nodes, both_ways, weights), atol=1e-5, rtol=1e-4
    )


@pytest.mark.parametrize("scale", [None, 0.7])
def test_a_base_that_is_right_on_the_labelled_nodes_is_not_corrected(toy_task, scale: float | None) -> None:
    base, nodes, labels = problem(toy_task.graph)
    base[nodes] = F.one_hot(labels, 3).float()
    matrix = diffusion_matrix(GraphTensors(toy_task.graph), "symmetric")
    assert torch.equal(correct(base, nodes, base[nodes], matrix, alpha=0.8, steps=50, scale=scale), base)


def test_autoscale_gives_every_reached_node_the_mean_error(toy_task) -> None:
    base, nodes, labels = problem(toy_task.graph)
    one_hot = F.one_hot(labels, 3).float()
    matrix = diffusion_matrix(GraphTensors(toy_task.graph), "symmetric")
    moved = (correct(base, nodes, one_hot, matrix, alpha=0.8, steps=50) - base).abs().sum(dim=1)
    mean_error = (one_hot - base[nodes]).abs().sum(dim=1).mean()
    reached = moved > 0
    torch.testing.assert_close(moved[reached], mean_error.expand(int(reached.sum())), atol=1e-5, rtol=1e-4)
    assert reached.sum() > 40


def test_far_away_errors_are_not_blown_up_beyond_the_limit() -> None:
    # A long path with its one label at the end: after alpha^d the factor would pass 1000 and becomes 1.
    graph = Graph.from_edges([np.arange(11), np.arange(1, 12)], np.ones((12, 1)), class_count=2)
    base, label = torch.full((12, 2), 0.5), torch.tensor([[1.0, 0.0]])
    matrix = diffusion_matrix(GraphTensors(graph), "symmetric")
    moved = (correct(base, torch.tensor([0]), label, matrix, alpha=0.3, steps=50) - base).abs().sum(dim=1)
    assert moved[:3].tolist() == pytest.approx([1, 1, 1], rel=1e-4)
    assert 0 <= moved[-1] < 1e-3


def build(task, **options: object) -> tuple[CorrectAndSmooth, object]:
    batch = full_batch(task.graph, task.observed, task.split.train)
    config = CorrectAndSmoothConfig(**{"hidden": 8, "epochs": 8, "fine_tune_epochs": 4, **options})
    return CorrectAndSmooth(config, batch, Seeds(0).generator("initialisation")), batch


@pytest.mark.parametrize("backbone", ["gcn", "h2gcn", "mlp"])
@pytest.mark.parametrize("correction", ["autoscale", "fixed"])
def test_training_is_that_of_the_base_model_and_nothing_is_left_when_both_steps_are_off(
    toy_task, backbone: str, correction: str
) -> None:
    method, batch = build(toy_task, backbone=backbone, correction=correction, correct_steps=0, smooth_alpha=0.0)
    result = fit(method, batch, select_last(), Seeds(0).randomness())
    shape = {"hidden": 8, "epochs": 8, "fine_tune_epochs": 4, "backbone": backbone}
    plain = Plain(PlainConfig(**shape), batch, Seeds(0).generator("initialisation"))
    expected = fit(plain, batch, select_last(), Seeds(0).randomness()).probabilities
    for name, value in plain.state_dict().items():
        assert torch.equal(value, method.state_dict()[f"base.{name}"])
    others = ~torch.from_numpy(toy_task.observed.trusted)
    torch.testing.assert_close(result.probabilities[others], expected[others], atol=1e-6, rtol=1e-5)
    assert torch.equal(result.probabilities[batch.trusted].argmax(dim=1), batch.trusted_labels)


@pytest.mark.parametrize(
    ("correction", "correct_diffusion", "smooth_diffusion"),
    [("autoscale", "column", "row"), ("fixed", "row", "column")],
)
def test_each_step_has_its_own_options(
    toy_task, correction: str, correct_diffusion: str, smooth_diffusion: str
) -> None:
    method, batch = build(
        toy_task,
        correction=correction,
        correct_alpha=0.6,
        correct_steps=3,
        correct_diffusion=correct_diffusion,
        correct_scale=0.7,
        smooth_alpha=0.3,
        smooth_steps=4,
        smooth_diffusion=smooth_diffusion,
    )
    method.eval()
    found = method.predict(batch).detach().numpy()

    base = method.base.predict(batch).detach().double().numpy()
    nodes, labels = batch.trusted.numpy(), np.eye(3)[batch.trusted_labels.numpy()]
    adjacency = toy_task.graph.adjacency.toarray().astype(np.float64)
    degree = adjacency.sum(axis=1)
    matrices = {"row": adjacency / degree[:, None], "column": adjacency / degree}
    residual = np.zeros((60, 3))
    residual[nodes] = labels - base[nodes]
    spread = residual
    for _ in range(3):
        spread = (0.6 * matrices[correct_diffusion] @ spread + 0.4 * residual).clip(-1, 1)
        if correction == "fixed":
            spread[nodes] = residual[nodes]
    size = np.abs(spread).sum(axis=1, keepdims=True)
    even = np.abs(residual[nodes]).sum(axis=1).mean() / np.where(size > 0, size, 1)
    corrected = base + (0.7 if correction == "fixed" else even) * spread
    start = corrected.copy()
    start[nodes] = labels
    smoothed = start
    for _ in range(4):
        smoothed = (0.3 * matrices[smooth_diffusion] @ smoothed + 0.7 * start).clip(0, 1)
    np.testing.assert_allclose(found, smoothed / smoothed.sum(axis=1, keepdims=True), atol=1e-5)


def test_noisy_labels_reach_the_prediction_through_the_network_only(toy_task) -> None:
    given = toy_task.observed.given.copy()
    given[toy_task.split.train] = (given[toy_task.split.train] + 1) % 3
    changed = toy_task._replace(observed=ObservedLabels(given, toy_task.observed.trusted, class_count=3))
    with torch.no_grad():
        first, second = (
            method.eval().predict(batch) for method, batch in (build(task) for task in (toy_task, changed))
        )
    assert torch.equal(first, second)


def test_trusted_labels_do_reach_it(toy_task) -> None:
    given = toy_task.observed.given.copy()
    trusted = toy_task.observed.trusted_nodes
    given[trusted] = (given[trusted] + 1) % 3
    changed = toy_task._replace(observed=ObservedLabels(given, toy_task.observed.trusted, class_count=3))
    with torch.no_grad():
        first, second = (
            method.eval().predict(batch) for method, batch in (build(task) for task in (toy_task, changed))
        )
    apart = (first - second).abs().sum(dim=1) > 1e-3
    assert apart.sum() > trusted.size  # not only on T_C itself


def test_nobody_trusted_is_an_error(toy_task) -> None:
    untrusted = toy_task._replace(observed=ObservedLabels(toy_task.observed.given, class_count=3))
    with pytest.raises(LabelError, match="Expected trusted nodes to correct and smooth by"):
        build(untrusted)


@pytest.mark.parametrize(
    "options",
    [{"correction": "auto"}, {"correct_alpha": 1.2}, {"smooth_steps": -1}, {"smooth_diffusion": "rows"}],
)
def test_options_out_of_range(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        CorrectAndSmoothConfig(**options)
