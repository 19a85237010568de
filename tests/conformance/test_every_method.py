"""The battery that every registered method must pass."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from lnp.datasets.dataset import Dataset
from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.engine.fit import FitOptions, fit
from lnp.engine.selection import select_last, select_validation
from lnp.experiments.protocol import Task, prepare
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels, Truth
from lnp.methods.base import Method
from lnp.methods.batch import Batch, full_batch
from lnp.methods.registry import METHODS, create_method, make_config
from lnp.seeds import Seeds

every_method = pytest.mark.parametrize("name", METHODS)

FEW = {"hidden": 8, "epochs": 6, "fine_tune_epochs": 4, "estimate_epochs": 6, "start_epochs": 3, "label_epochs": 4}
"""Few epochs in every stage; T of lnp-channel still moves in each of its own."""


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    """150 nodes, four classes, easy; node 0 is cut off from all others."""
    config = SyntheticConfig(nodes=150, classes=4, mean_degree=6, homophily=0.85, features=12, signal=3.0)
    made = synthetic(config, Seeds(0).generator("graph"))
    edges = made.graph.edges
    apart = (edges != 0).all(axis=0)
    graph = Graph.from_edges(edges[:, apart], made.graph.features, class_count=4, name="conformance")
    return dataclasses.replace(made, graph=graph, public_splits=())


@pytest.fixture(scope="module")
def task(dataset: Dataset) -> Task:
    return prepare(dataset, "paper", "uniform-mix", 0.3, Seeds(1), trusted_size=12)


def batch_of(task: Task) -> Batch:
    return full_batch(task.graph, task.observed, task.split.train)


def options_of(name: str, **more: object) -> dict[str, object]:
    """Those of the few epochs, and of further options, that a method has."""
    fields = {f.name for f in dataclasses.fields(METHODS[name].method.Config)}
    return {option: value for option, value in {**FEW, **more}.items() if option in fields}


def build(name: str, batch: Batch, seed: int = 0, **more: object) -> Method:
    config = make_config(name, options_of(name, **more))
    return create_method(name, config, batch, Seeds(seed).generator("initialisation"))


def train(name: str, task: Task, seed: int = 0, options: FitOptions | None = None, **more: object) -> Method:
    batch = batch_of(task)
    method = build(name, batch, seed, **more)
    fit(method, batch, task.selection, Seeds(seed).randomness(), options)
    return method


def same_bits(first: Method, second: Method) -> bool:
    a, b = first.state_dict(), second.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


@every_method
def test_canary_true_labels_of_test_nodes_change_nothing(name: str, dataset: Dataset, task: Task) -> None:
    """From the truth to trained weights: permuted test labels leave every bit where it was."""
    permuted = dataset.truth.labels.copy()
    permuted[task.split.test] = Seeds(9).generator("permute").permutation(permuted[task.split.test])
    assert (permuted != dataset.truth.labels).any()
    other = dataclasses.replace(dataset, truth=Truth(permuted, 4))
    again = prepare(other, "paper", "uniform-mix", 0.3, Seeds(1), trusted_size=12)
    assert same_bits(train(name, task), train(name, again))


@every_method
def test_canary_labels_outside_the_training_sets_change_nothing(name: str, task: Task) -> None:
    """Any label on nodes outside T_N and T_C, true or false, leaves every bit where it was."""
    given = task.observed.given.copy()
    outside = np.setdiff1d(np.flatnonzero(~task.observed.trusted), task.split.train)
    given[outside] = Seeds(9).generator("garbage").integers(0, 4, outside.size)
    garbage = ObservedLabels(given, task.observed.trusted, class_count=4)
    assert (garbage.given != task.observed.given).any()
    assert same_bits(train(name, task), train(name, dataclasses.replace(task, observed=garbage)))


@every_method
def test_same_seed_same_bits(name: str, task: Task) -> None:
    first, second = train(name, task, seed=3), train(name, task, seed=3)
    assert same_bits(first, second)
    if any(True for _ in first.parameters()):
        assert not same_bits(first, train(name, task, seed=4))


@every_method
def test_killed_and_resumed_run_ends_with_the_same_bits(name: str, task: Task, tmp_path: Path) -> None:
    whole = train(name, task)
    for stop_after in (2, 8):
        file = tmp_path / f"{stop_after}.safetensors"
        seen = 0

        def stop(*_: object, limit: int = stop_after) -> None:
            nonlocal seen
            seen += 1
            if seen == limit:
                raise KeyboardInterrupt

        with contextlib.suppress(KeyboardInterrupt):
            train(name, task, options=FitOptions(checkpoint=file, checkpoint_every=1, on_epoch=stop))
        resumed = train(name, task, options=FitOptions(checkpoint=file, checkpoint_every=1))
        assert same_bits(whole, resumed)


@every_method
def test_predictions_follow_a_permutation_of_the_nodes(name: str, task: Task) -> None:
    order = Seeds(5).generator("order").permutation(task.graph.node_count)
    place = np.argsort(order)
    moved = full_batch(
        task.graph.permuted(order),
        ObservedLabels(task.observed.given[order], task.observed.trusted[order], class_count=4),
        np.sort(place[task.split.train]),
    )
    batch = batch_of(task)
    with torch.no_grad():
        here = build(name, batch).eval().predict(batch)
        there = build(name, moved).eval().predict(moved)
    torch.testing.assert_close(there, here[torch.from_numpy(order)], rtol=1e-4, atol=1e-5)


@every_method
def test_predictions_are_probabilities_even_of_an_isolated_node(name: str, task: Task) -> None:
    batch = batch_of(task)
    method = build(name, batch)
    result = fit(method, batch, task.selection, Seeds(0).randomness())
    assert torch.isfinite(result.probabilities).all()
    assert (result.probabilities >= 0).all()
    torch.testing.assert_close(result.probabilities.sum(dim=1), torch.ones(150))
    quality = method.label_quality(batch, result.probabilities)
    known = batch.given >= 0
    assert quality[~known].isnan().all()
    assert ((quality[known] >= 0) & (quality[known] <= 1)).all()


@every_method
def test_it_learns_and_its_suspicions_are_right_more_often_than_not(name: str, dataset: Dataset) -> None:
    """On an easy graph with 20 % wrong labels every method is far above chance and prefers right labels."""
    task = prepare(dataset, "random", "uniform-mix", 0.2, Seeds(2), trusted_size=20)
    batch = batch_of(task)
    config = make_config(name, {k: v for k, v in {"hidden": 16, "epochs": 100}.items() if k in options_of(name)})
    method = create_method(name, config, batch, Seeds(0).generator("initialisation"))
    result = fit(method, batch, select_last(), Seeds(0).randomness())
    truth = torch.from_numpy(dataset.truth.labels)
    test = torch.from_numpy(task.split.test)
    accuracy = (result.probabilities.argmax(dim=1) == truth)[test].double().mean().item()
    assert accuracy > 0.7, f"{accuracy:.2f} on test"
    quality = method.label_quality(batch, result.probabilities)
    right = batch.given == truth
    noisy = batch.noisy
    assert quality[noisy[right[noisy]]].mean() > quality[noisy[~right[noisy]]].mean()


@every_method
def test_configuration_survives_json(name: str) -> None:
    config = make_config(name)
    again = make_config(name, json.loads(json.dumps(dataclasses.asdict(config))))
    assert again == config


@every_method
def test_documented_and_tested(name: str) -> None:
    entry = METHODS[name]
    assert len(entry.summary) > 20
    assert entry.reference
    assert entry.method.__doc__
    source = Path(entry.method.__module__.replace(".", "/").removeprefix("lnp/"))
    assert (Path(__file__).parents[1] / source.parent / f"test_{source.name}.py").is_file()


@every_method
@pytest.mark.parametrize("rule", ["val-clean", "last"])
def test_both_kinds_of_selection_work(name: str, task: Task, dataset: Dataset, rule: str) -> None:
    selection = (
        select_last()
        if rule == "last"
        else select_validation(dataset.truth.labels, task.observed, task.split, rule=rule)
    )
    batch = batch_of(task)
    method = build(name, batch)
    result = fit(method, batch, selection, Seeds(0).randomness())
    scores = [record.score for record in result.history]
    assert all(score != score for score in scores) if rule == "last" else all(0 <= score <= 1 for score in scores)
