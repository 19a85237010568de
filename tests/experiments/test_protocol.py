"""Each protocol hides the truth the way its row says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from lnp.datasets.catalog import load_dataset
from lnp.datasets.dataset import Dataset
from lnp.engine.fit import fit
from lnp.errors import ConfigError, UnknownNameError
from lnp.experiments.protocol import PROTOCOLS, get_protocol, prepare
from lnp.graph.labels import UNKNOWN, Truth
from lnp.methods.batch import full_batch
from lnp.methods.registry import create_method, make_config
from lnp.seeds import Seeds


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_dataset("synthetic:nodes=500,classes=5,homophily=0.7")


def test_paper_splits_by_node_order_and_draws_the_released_flip(dataset: Dataset) -> None:
    first, second = (prepare(dataset, "paper", "flip", 0.5, Seeds(seed)) for seed in (0, 1))
    assert first.split.train.tolist() == list(range(200))
    assert first.split.test.tolist() == list(range(400, 500))
    assert first.noise == "flip-released"
    # The same noisy labels for every seed, another T_C.
    np.testing.assert_array_equal(first.corruption.labels, second.corruption.labels)
    assert first.observed.trusted_nodes.tolist() != second.observed.trusted_nodes.tolist()
    assert first.selection.rule == "val-clean"


def test_random_draws_split_noise_and_trusted_nodes_per_seed(dataset: Dataset) -> None:
    first, second = (prepare(dataset, "random", "flip", 0.5, Seeds(seed)) for seed in (0, 1))
    assert first.noise == "flip"
    assert first.split.train.tolist() != second.split.train.tolist()
    shares = [
        np.bincount(dataset.truth.labels[part], minlength=5) / part.size
        for part in (first.split.train, first.split.test)
    ]
    np.testing.assert_allclose(shares[0], shares[1], atol=0.03)  # stratified


@pytest.mark.parametrize("protocol", ["paper", "random", "strict"])
def test_what_a_method_sees(dataset: Dataset, protocol: str) -> None:
    """Labels on training nodes (noisy) and T_C (right, balanced, from validation), and nowhere else."""
    task = prepare(dataset, protocol, "uniform", 0.4, Seeds(3))
    truth, observed = dataset.truth.labels, task.observed
    assert set(np.flatnonzero(observed.given != UNKNOWN)) == set(task.split.train) | set(observed.trusted_nodes)
    assert set(observed.trusted_nodes) <= set(task.split.validation)
    np.testing.assert_array_equal(observed.given[observed.trusted_nodes], truth[observed.trusted_nodes])
    wrong = (observed.given != truth)[task.split.train].mean()
    assert wrong == pytest.approx(task.corruption.realised_rate)
    assert abs(wrong - 0.4) < 4 * np.sqrt(0.4 * 0.6 / task.split.train.size)
    selecting = set(task.selection.nodes)
    assert not selecting & set(observed.trusted_nodes)
    counts = np.bincount(truth[observed.trusted_nodes], minlength=5)
    assert counts.tolist() == [5] * 5
    assert selecting == set(task.split.validation) - set(observed.trusted_nodes)
    wrong = (task.selection.labels != truth[task.selection.nodes]).mean()
    if protocol == "strict":  # labels as noisy as those that train
        assert abs(wrong - 0.4) < 4 * np.sqrt(0.24 / task.selection.nodes.size)
    else:
        assert wrong == 0


def test_trusted_sets_a_part_of_the_trusted_nodes_aside(dataset: Dataset) -> None:
    """Five per class were trusted; some were set aside to select, and nobody else's label selects."""
    task = prepare(dataset, "strict", "uniform", 0.4, Seeds(3), selection="trusted")
    truth, observed = dataset.truth.labels, task.observed
    counts = np.bincount(truth[observed.trusted_nodes], minlength=5)
    held = np.bincount(truth[task.selection.nodes], minlength=5)
    assert (counts + held).tolist() == [5] * 5
    assert (held > 0).all()
    assert (counts > 0).all()
    assert set(task.selection.nodes) <= set(task.split.validation)
    assert not set(task.selection.nodes) & set(observed.trusted_nodes)


def test_selection_can_be_another_rule(dataset: Dataset) -> None:
    noisy = prepare(dataset, "random", "uniform", 0.4, Seeds(0), selection="val-noisy")
    truth = dataset.truth.labels
    wrong = (noisy.selection.labels != truth[noisy.selection.nodes]).mean()
    assert abs(wrong - 0.4) < 4 * np.sqrt(0.24 / noisy.selection.nodes.size)
    clean = prepare(dataset, "random", "uniform", 0.4, Seeds(0))
    np.testing.assert_array_equal(noisy.observed.given, clean.observed.given)
    with pytest.raises(
        ConfigError, match="one of last, trusted, val-channel, val-clean, val-given, val-likelihood, val-noisy"
    ):
        prepare(dataset, "random", "uniform", 0.4, Seeds(0), selection="test")


@pytest.mark.parametrize("rule", ["val-likelihood", "val-given", "val-channel"])
@pytest.mark.parametrize("protocol", ["paper", "random"])
def test_rules_behind_noise_see_labels_from_that_of_the_training_labels(
    dataset: Dataset, protocol: str, rule: str
) -> None:
    task = prepare(dataset, protocol, "flip", 0.6, Seeds(0), selection=rule)
    truth, nodes, labels = dataset.truth.labels, task.selection.nodes, task.selection.labels
    clean = prepare(dataset, protocol, "flip", 0.6, Seeds(0), selection="val-clean")
    np.testing.assert_array_equal(task.observed.given, clean.observed.given)
    np.testing.assert_array_equal(nodes, clean.selection.nodes)  # T_C is not among them
    assert task.selection.rule == rule
    wrong = labels != truth[nodes]
    assert abs(wrong.mean() - 0.6) < 4 * np.sqrt(0.24 / nodes.size)
    # Every class has one other class that it is taken for, and it is the one of the training labels.
    train = task.split.train
    mistaken = task.observed.given[train] != truth[train]
    pairs = {*zip(truth[train][mistaken], task.observed.given[train][mistaken], strict=True)}
    assert len(pairs) == 5
    assert {*zip(truth[nodes][wrong], labels[wrong], strict=True)} == pairs


def test_where_noise_has_no_draw_of_its_own_both_rules_by_given_labels_see_the_same(dataset: Dataset) -> None:
    for noise in ("uniform", "uniform-mix", "pair", "instance"):
        rules = ("val-noisy", "val-likelihood")
        noisy, likely = (prepare(dataset, "random", noise, 0.4, Seeds(2), selection=rule).selection for rule in rules)
        np.testing.assert_array_equal(noisy.nodes, likely.nodes)
        np.testing.assert_array_equal(noisy.labels, likely.labels)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("gcn", {"fine_tune_epochs": 5}),
        ("forward", {"fine_tune_epochs": 5, "estimate_epochs": 5}),
        ("lnp-channel", {"variant": "plain", "label_epochs": 5, "estimate_epochs": 5, "start_epochs": 2}),
    ],
)
def test_canary_true_labels_of_validation_nodes_change_nothing_under_likelihood(
    dataset: Dataset, method: str, options: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a noise whose rows are equal, given labels do not depend on true ones: whatever still does, cheats."""
    file = tmp_path / "noise.json"
    file.write_text(json.dumps([[0.4, 0.3, 0.1, 0.1, 0.1]] * 5))
    trusted = prepare(dataset, "paper", "none", 0.0, Seeds(0)).observed.trusted_nodes
    monkeypatch.setattr("lnp.experiments.protocol.choose_trusted", lambda *_, **__: trusted)
    split = prepare(dataset, "paper", "none", 0.0, Seeds(0)).split
    changed = dataset.truth.labels.copy()
    hidden = np.setdiff1d(split.validation, trusted)
    changed[hidden] = (changed[hidden] + 1) % 5
    other = replace(dataset, truth=Truth(changed, class_count=5))
    config = make_config(method, {"hidden": 8, "epochs": 10, **options})

    def trained(data: Dataset, rule: str) -> tuple[list[float], Tensor]:
        task = prepare(data, "paper", f"matrix:{file}", 0.0, Seeds(0), selection=rule)
        batch = full_batch(task.graph, task.observed, task.split.train)
        built = create_method(method, config, batch, Seeds(0).generator("initialisation"))
        result = fit(built, batch, task.selection, Seeds(0).randomness())
        return [record.score for record in result.history], result.probabilities

    here, there = trained(dataset, "val-likelihood"), trained(other, "val-likelihood")
    assert here[0] == there[0]
    assert torch.equal(here[1], there[1])
    assert trained(dataset, "val-clean")[0] != trained(other, "val-clean")[0]  # the canary can sing


def test_size_of_the_trusted_set(dataset: Dataset) -> None:
    sizes = [
        prepare(dataset, "random", "none", 0.0, Seeds(0), trusted_size=s).observed.trusted.sum() for s in (1, 24, 50)
    ]
    assert sizes == [5, 20, 50]


def test_public_protocols_need_a_public_split(dataset: Dataset) -> None:
    with pytest.raises(ConfigError, match="to have a public split"):
        prepare(dataset, "planetoid", "flip", 0.2, Seeds(0))


@pytest.mark.data
def test_planetoid_and_large_use_the_published_splits(data_folder) -> None:  # type: ignore[no-untyped-def]
    cora = load_dataset("cora")
    task = prepare(cora, "planetoid", "flip", 0.2, Seeds(0))
    assert (task.split.train.size, task.split.validation.size, task.split.test.size) == (140, 500, 1000)
    chameleon = load_dataset("chameleon")
    large = prepare(chameleon, "large", "flip", 0.2, Seeds(3))
    np.testing.assert_array_equal(large.split.train, chameleon.public_splits[3].train)
    assert large.observed.trusted.sum() == 5  # 0.2 % of 1,092 is 2; one per class at least


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "size"),
    [("cora", 21), ("citeseer", 24), ("pubmed", 24), ("chameleon", 25), ("actor", 25), ("squirrel", 25)],
)
def test_published_sizes_of_the_trusted_set(data_folder, name: str, size: int) -> None:  # type: ignore[no-untyped-def]
    assert prepare(load_dataset(name), "paper", "flip", 0.2, Seeds(0)).observed.trusted.sum() == size


def test_unknown_protocol_lists_the_choices() -> None:
    with pytest.raises(UnknownNameError, match="Choices: large, paper, planetoid, random, strict"):
        get_protocol("strickt")
    assert all(protocol.summary for protocol in PROTOCOLS.values())
