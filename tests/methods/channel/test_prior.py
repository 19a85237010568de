"""Each variant against the same formula on dense matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import Batch, full_batch
from lnp.methods.channel.config import VARIANTS, ChannelConfig
from lnp.methods.channel.prior import Prior, logit_bound
from lnp.nn.path import Path
from lnp.nn.propagation import propagation_matrix
from lnp.seeds import Seeds


def build(batch: Batch, **options: object) -> Prior:
    """In evaluation mode, with paths that have learned something."""
    config = ChannelConfig(**{"hidden": 8, "path_width": 5, **options})  # type: ignore[arg-type]
    generator = Seeds(0).generator("initialisation")
    prior = Prior(config, batch, generator, hidden=config.hidden).eval()
    with torch.no_grad():
        for path in (prior.features, prior.links):
            path.outer.weight.copy_(torch.from_numpy(generator.normal(size=path.outer.weight.shape)))
            path.inner.bias.copy_(torch.from_numpy(generator.normal(size=path.inner.bias.shape)))
    return prior


def dense_propagation(graph: Graph, kind: str) -> np.ndarray:
    looped = graph.adjacency.toarray().astype(float) + np.eye(graph.node_count)
    degrees = looped.sum(axis=1)
    return looped / degrees[:, None] if kind == "row" else looped / np.sqrt(np.outer(degrees, degrees))


def path_by_hand(path: Path, matrix: np.ndarray) -> np.ndarray:
    inner, bias = path.inner.weight.detach().numpy(), path.inner.bias.detach().numpy()
    return np.maximum(matrix @ inner + bias, 0) @ path.outer.weight.detach().numpy()


def logits(prior: Prior, batch: Batch, variant: str, **options: float) -> np.ndarray:
    with torch.no_grad():
        return prior(batch.graph, variant, None, **options).numpy()


@pytest.mark.parametrize("kind", ["row", "symmetric"])
@pytest.mark.parametrize(("steps", "restart"), [(2, 0.2), (1, 0.5), (5, 0.0)])
def test_smooth_averages_over_neighbours(batch: Batch, kind: str, steps: int, restart: float) -> None:
    prior = build(batch, normalisation=kind, smoothing_steps=steps, restart=restart)
    first = logits(prior, batch, "plain")
    expected, matrix = first, dense_propagation(batch.graph.graph, kind)
    for _ in range(steps):
        expected = (1 - restart) * matrix @ expected + restart * first
    np.testing.assert_allclose(logits(prior, batch, "smooth"), expected, atol=1e-5)


@pytest.mark.parametrize("kind", ["row", "symmetric"])
def test_similar_nodes_are_neighbours_of_the_whole_network(batch: Batch, kind: str) -> None:
    """The variant "similar" is the variant "smooth" of a network whose S has them everywhere."""
    here, everywhere = (build(batch, normalisation=kind, similar_weight=weight) for weight in (0.0, 1.0))
    found = logits(here, batch, "similar")
    np.testing.assert_allclose(found, logits(everywhere, batch, "smooth"), atol=1e-5)
    assert np.abs(found - logits(here, batch, "smooth")).max() > 1e-2


def test_with_another_backbone_similar_nodes_are_in_the_averages_alone(batch: Batch) -> None:
    prior = build(batch, backbone="mlp")
    expected = first = logits(prior, batch, "plain")
    matrix = propagation_matrix(batch.graph.graph.adjacency, "row~1", batch.graph.graph.features)
    for _ in range(2):
        expected = 0.8 * matrix @ expected + 0.2 * first
    np.testing.assert_allclose(logits(prior, batch, "similar"), expected, atol=1e-5)


def test_many_steps_of_smoothing_solve_the_diffusion_equation(batch: Batch) -> None:
    prior = build(batch, smoothing_steps=120, restart=0.2)
    matrix = dense_propagation(batch.graph.graph, "row")
    fixed_point = 0.2 * np.linalg.solve(np.eye(60) - 0.8 * matrix, logits(prior, batch, "plain"))
    np.testing.assert_allclose(logits(prior, batch, "smooth"), fixed_point, atol=1e-5)


@pytest.mark.parametrize("options", [{"smoothing_steps": 0}, {"restart": 1.0}])
def test_smoothing_without_steps_or_with_restarts_only_is_plain(batch: Batch, options: dict[str, object]) -> None:
    prior = build(batch, **options)
    np.testing.assert_allclose(logits(prior, batch, "smooth"), logits(prior, batch, "plain"), atol=1e-6)


@pytest.mark.parametrize(("rare", "far"), [(0.3, True), (0.05, False), (0.0, False)])  # 4 of 60 nodes have a label
def test_where_labels_are_rare_smooth_reaches_further(toy_task, rare: float, far: bool) -> None:
    given = np.where(np.arange(60) % 15 == 0, toy_task.observed.given.clip(0), -1)
    observed = ObservedLabels(given, np.zeros(60, bool), class_count=3)
    batch = full_batch(toy_task.graph, observed, np.flatnonzero(given >= 0))
    options = {"rare": rare, "smoothing_steps": 1, "restart": 0.5, "far_steps": 120, "far_restart": 0.2}
    prior = build(batch, **options)
    plain, matrix = logits(prior, batch, "plain"), dense_propagation(batch.graph.graph, "row")
    expected = 0.5 * matrix @ plain + 0.5 * plain
    if far:
        expected = 0.2 * np.linalg.solve(np.eye(60) - 0.8 * matrix, plain)
    np.testing.assert_allclose(logits(prior, batch, "smooth"), expected, atol=1e-5)


def test_how_far_smooth_reaches_is_kept_with_the_weights(batch: Batch, toy_task) -> None:
    unlabelled = ObservedLabels(np.full(60, -1), np.zeros(60, bool), class_count=3)
    elsewhere = build(full_batch(toy_task.graph, unlabelled, np.zeros(0, np.int64)))
    trained = build(batch)
    elsewhere.load_state_dict(trained.state_dict())
    np.testing.assert_array_equal(logits(elsewhere, batch, "smooth"), logits(trained, batch, "smooth"))


def test_features_and_links_add_a_path_of_their_own(batch: Batch) -> None:
    prior, graph = build(batch), batch.graph.graph
    plain = logits(prior, batch, "plain")
    with torch.no_grad():
        np.testing.assert_array_equal(plain, prior.backbone(batch.graph).numpy())
    features = plain + path_by_hand(prior.features, graph.features)
    links = plain + path_by_hand(prior.links, graph.adjacency.toarray())  # no node is its own neighbour
    np.testing.assert_allclose(logits(prior, batch, "features"), features, atol=1e-4)
    np.testing.assert_allclose(logits(prior, batch, "links"), links, atol=1e-4)


def test_sparse_features_take_the_same_path(toy_task) -> None:
    graph = toy_task.graph
    thin = np.where(np.abs(graph.features) > 1, graph.features, 0).astype(np.float32)
    outputs = []
    for features in (thin, sp.csr_array(thin)):
        here = Graph.from_edges(graph.edges, features, class_count=3)
        batch = full_batch(here, toy_task.observed, toy_task.split.train)
        outputs.append(logits(build(batch), batch, "features"))
    np.testing.assert_allclose(*outputs, atol=1e-4)


def test_paths_start_silent(batch: Batch) -> None:
    prior = Prior(ChannelConfig(hidden=8), batch, Seeds(0).generator("initialisation"), hidden=8).eval()
    for variant in ("features", "links"):
        np.testing.assert_array_equal(logits(prior, batch, variant), logits(prior, batch, "plain"))
    assert prior.links.inner.weight.any()  # or they could never learn


def test_bounded_logits_point_the_same_way_and_are_shorter_than_the_bound(batch: Batch) -> None:
    prior = build(batch)
    with torch.no_grad():
        prior.backbone.layers[-1].weight.mul_(30)
    free, bounded = logits(prior, batch, "plain"), logits(prior, batch, "plain", bound=3.0)
    lengths = np.linalg.norm(free, axis=1, keepdims=True)
    assert lengths.max() > 6
    np.testing.assert_allclose(bounded, free / np.sqrt(1 + (lengths / 3) ** 2), rtol=1e-4, atol=1e-5)
    assert (np.linalg.norm(bounded, axis=1) < 3).all()
    np.testing.assert_array_equal(bounded.argmax(axis=1), free.argmax(axis=1))
    np.testing.assert_allclose(logits(prior, batch, "plain", bound=1e5), free, rtol=1e-4)


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_a_variant_does_not_use_has_no_gradient(batch: Batch, variant: str) -> None:
    prior = build(batch).train()
    prior(batch.graph, variant, Seeds(0).generator("dropout")).square().sum().backward()
    used = {name.split(".")[0] for name, value in prior.named_parameters() if value.grad is not None}
    assert used == {"backbone", variant} & {"backbone", "features", "links"}
    moved = {id(one) for one in prior.weights_of(variant)}
    assert moved == {id(one) for one in prior.parameters() if one.grad is not None}


@pytest.mark.parametrize("variant", VARIANTS)
def test_dropout_only_in_training(batch: Batch, variant: str) -> None:
    prior = build(batch)
    here = prior(batch.graph, variant, Seeds(0).generator("dropout"))
    assert torch.equal(here, prior(batch.graph, variant, None))
    prior.train()
    one, two = (prior(batch.graph, variant, Seeds(seed).generator("dropout")) for seed in (0, 1))
    assert not torch.equal(one, two)
    assert torch.equal(one, prior(batch.graph, variant, Seeds(0).generator("dropout")))


def test_the_width_is_that_of_the_argument_and_of_the_backbone_only(batch: Batch) -> None:
    config = ChannelConfig(hidden=8, path_width=5)
    prior = Prior(config, batch, Seeds(0).generator("initialisation"), hidden=4)
    assert [tuple(layer.weight.shape) for layer in prior.backbone.layers] == [(8, 4), (4, 3)]
    assert tuple(prior.features.inner.weight.shape) == (8, 5)
    assert tuple(prior.links.inner.weight.shape) == (60, 5)
    assert prior.config == replace(config)


@pytest.mark.parametrize("backbone", ["h2gcn", "mlp", "sign"])
def test_any_backbone_will_do(toy_task, backbone: str) -> None:
    observed = ObservedLabels(toy_task.observed.given, toy_task.observed.trusted, class_count=3)
    batch = full_batch(toy_task.graph, observed, toy_task.split.train)
    prior = build(batch, backbone=backbone)
    plain = logits(prior, batch, "plain")
    with torch.no_grad():
        np.testing.assert_array_equal(plain, prior.backbone(batch.graph).numpy())
    expected = plain + path_by_hand(prior.links, batch.graph.graph.adjacency.toarray())
    np.testing.assert_allclose(logits(prior, batch, "links"), expected, atol=1e-4)


@pytest.mark.parametrize("classes", [7, 8, 40, 1000])
def test_many_classes_leave_a_network_as_sure_as_few(classes: int) -> None:
    """The longest vector allowed, all of it for one class: seven classes and a thousand have about 0.8 for it."""
    direction = torch.full((classes,), -1 / (classes - 1), dtype=torch.float64)
    direction[0] = 1
    logits = direction / torch.linalg.vector_norm(direction) * logit_bound(3.0, classes)
    assert 0.76 < logits.softmax(dim=0)[0].item() < 0.82


def test_few_classes_keep_the_bound_as_it_is() -> None:
    assert [logit_bound(3.0, classes) for classes in (1, 2, 7)] == [3.0] * 3
    assert logit_bound(0.0, 40) == 0.0  # none at all
