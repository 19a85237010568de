"""What holds for every method with a robust or corrected loss, and for the references beside them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.engine.fit import fit
from lnp.engine.selection import select_last, select_validation
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import full_batch
from lnp.methods.registry import create_method, make_config
from lnp.seeds import Seeds

VARIANTS = {
    "gce": ("gce", {}),
    "gce-truncated": ("gce", {"truncated": True, "refresh": 3}),
    "apl": ("apl", {}),
    "apl-focal": ("apl", {"active": "nfl", "passive": "mae"}),
    "forward": ("forward", {"estimate_epochs": 8}),
    "forward-anchors": ("forward", {"estimate_epochs": 8, "estimator": "anchors"}),
    "dgnn": ("dgnn", {"estimate_epochs": 8}),
    "dgnn-compound": ("dgnn", {"estimate_epochs": 8, "correction": "compound", "ill_conditioned": "pseudo-inverse"}),
    "smodel": ("smodel", {}),
    "glc": ("glc", {"estimate_epochs": 8}),
    "joint": ("joint", {}),
    "clean-only": ("clean-only", {}),
}
FINE_TUNED = [key for key, (name, _) in VARIANTS.items() if name not in ("glc", "joint", "clean-only")]


def build(key, batch, **more):
    name, options = VARIANTS[key]
    sizes: dict[str, object] = {"hidden": 8, "epochs": 12} | ({"fine_tune_epochs": 8} if key in FINE_TUNED else {})
    return create_method(name, make_config(name, sizes | options | more), batch, Seeds(1).generator("initialisation"))


def clean_selection(task):
    return select_validation(task.truth.labels, task.observed, task.split, rule="val-clean")


@pytest.mark.parametrize("key", VARIANTS)
def test_labels_outside_both_sets_change_no_bit(key, toy_task):
    observed, split = toy_task.observed, toy_task.split
    outside = np.ones(observed.node_count, bool)
    outside[split.train] = False
    outside[observed.trusted] = False
    changed = np.where(outside, (observed.given + 1) % 3, observed.given)
    assert (changed != observed.given).sum() > 10
    states = []
    for labels in (observed, ObservedLabels(changed, observed.trusted, class_count=3)):
        batch = full_batch(toy_task.graph, labels, split.train)
        method = build(key, batch)
        fit(method, batch, clean_selection(toy_task), Seeds(1).randomness())
        states.append(method.state_dict())
    for name, value in states[0].items():
        assert torch.equal(value, states[1][name]), name


@pytest.mark.parametrize("key", VARIANTS)
def test_a_given_label_of_the_training_part_does_change_the_result(key, toy_task):
    """The other half of the test above: what should be read is read."""
    observed, split = toy_task.observed, toy_task.split
    changed = observed.given.copy()
    nodes = observed.trusted_nodes if key == "clean-only" else split.train
    changed[nodes] = (changed[nodes] + 1) % 3
    results = []
    for labels in (observed, ObservedLabels(changed, observed.trusted, class_count=3)):
        batch = full_batch(toy_task.graph, labels, split.train)
        results.append(fit(build(key, batch), batch, select_last(), Seeds(1).randomness()).probabilities)
    assert (results[0] - results[1]).abs().max() > 1e-4


@pytest.mark.parametrize("key", VARIANTS)
@pytest.mark.parametrize("stop", [6, -2])
def test_a_resumed_run_gives_the_same_bits(key, stop, toy_task, goes_on_alike):
    """Stopped in the first stage and near the very end, so that every stage boundary is crossed once."""
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    goes_on_alike(lambda: build(key, batch), batch, clean_selection(toy_task), stop, checkpoint_every=3)


@pytest.mark.parametrize("key", VARIANTS)
@pytest.mark.parametrize("backbone", ["gcn", "h2gcn", "mlp"])
def test_isolated_nodes_without_features_work_with_any_backbone(key, backbone, toy_task):
    graph = toy_task.graph
    edges, features = graph.edges, np.asarray(graph.features).copy()
    lonely = np.array([toy_task.split.train[0], toy_task.observed.trusted_nodes[0], toy_task.split.test[0]])
    edges = edges[:, ~np.isin(edges, lonely).any(axis=0)]
    features[lonely] = 0
    batch = full_batch(Graph.from_edges(edges, features, class_count=3), toy_task.observed, toy_task.split.train)
    method = build(key, batch, backbone=backbone)
    result = fit(method, batch, clean_selection(toy_task), Seeds(1).randomness())
    torch.testing.assert_close(result.probabilities.sum(dim=1), torch.ones(graph.node_count))
    # Such nodes look alike to every network, whatever label they carry.
    torch.testing.assert_close(result.probabilities[lonely[0]], result.probabilities[lonely[2]])
    learned = result.history.records
    assert learned[-1].loss != learned[0].loss


@pytest.mark.parametrize("key", FINE_TUNED)
def test_fine_tuning_with_no_epochs_or_no_step_is_the_identity(key, toy_task):
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    results = []
    for options in ({"fine_tune_epochs": 0}, {"fine_tune_learning_rate": 0.0}):
        method = build(key, batch, **options)
        results.append(fit(method, batch, select_last(), Seeds(1).randomness()).probabilities)
    assert torch.equal(*results)


@pytest.mark.parametrize("key", FINE_TUNED)
def test_fine_tuning_lowers_the_trusted_loss(key, toy_task):
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    method = build(key, batch, dropout=0.0, fine_tune_learning_rate=1e-3)
    history = fit(method, batch, select_last(), Seeds(1).randomness()).history
    losses = [record.loss for record in history if record.stage == "fine-tuning"]
    assert len(losses) == 8
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]
