from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components

from lnp.engine.fit import fit
from lnp.engine.selection import select_last
from lnp.errors import ConfigError, LabelError
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.graph.split import choose_trusted, sequential_split
from lnp.methods.batch import Batch, full_batch
from lnp.methods.label_propagation import LabelPropagation, LabelPropagationConfig
from lnp.seeds import Seeds


def probabilities(batch: Batch, **options: object) -> torch.Tensor:
    method = LabelPropagation(LabelPropagationConfig(**options), batch, Seeds(0).generator("initialisation"))
    assert method.stages(batch) == []
    return fit(method, batch, select_last(), Seeds(0).randomness()).probabilities


def two_paths() -> Batch:
    """0 - 1 - 2 with T_N = {0} of class 0 and T_C = {2} of class 1; 3 - 4 without labels; 5 alone, T_N, class 0."""
    graph = Graph.from_edges([[0, 1, 3], [1, 2, 4]], np.ones((6, 1)), class_count=3)
    observed = ObservedLabels([0, -1, 1, 2, -1, 0], [False, False, True, False, False, False], class_count=3)
    return full_batch(graph, observed, np.array([0, 5]))


def test_by_hand() -> None:
    # One step: node 1 hears both ends with the same factor, so the shares are those of the weights.
    result = probabilities(two_paths(), seeds="both", noisy_weight=0.25, steps=1, alpha=0.9)
    assert result[1].tolist() == pytest.approx([0.2, 0.8, 0])
    assert result[0].tolist() == pytest.approx([1, 0, 0])
    assert result[5].tolist() == pytest.approx([1, 0, 0])  # an isolated seed keeps its label
    # Two seeds of class 0 that count a quarter each, one of class 1: what nobody reaches gets these shares.
    assert result[3].tolist() == result[4].tolist() == pytest.approx([1 / 3, 2 / 3, 0])


@pytest.mark.parametrize(
    ("seeds", "middle", "unreached"), [("trusted", [0, 1, 0], [0, 1, 0]), ("noisy", [1, 0, 0], [1, 0, 0])]
)
def test_each_set_of_seeds_alone(seeds: str, middle: list[float], unreached: list[float]) -> None:
    result = probabilities(two_paths(), seeds=seeds)
    assert result[1].tolist() == middle
    assert result[3].tolist() == unreached


def test_nothing_moves_with_alpha_zero() -> None:
    result = probabilities(two_paths(), alpha=0.0, noisy_weight=1.0)
    assert result[[0, 2, 5]].tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert result[1].tolist() == pytest.approx([2 / 3, 1 / 3, 0])  # nothing arrived: the shares among the seeds


@pytest.mark.parametrize(("diffusion", "left", "right"), [("symmetric", 0.5, 0.5), ("row", 1, 0), ("column", 0, 1)])
def test_without_a_clamp_in_reach_it_is_the_closed_form(toy_task, diffusion: str, left: float, right: float) -> None:
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    result = probabilities(batch, seeds="both", noisy_weight=0.3, alpha=0.6, steps=200, diffusion=diffusion)
    adjacency = toy_task.graph.adjacency.toarray().astype(np.float64)
    degree = np.maximum(adjacency.sum(axis=1), 1)
    S = degree[:, None] ** -left * adjacency * degree**-right
    weight = np.where(toy_task.observed.trusted, 1.0, 0.0)
    weight[batch.noisy.numpy()] = 0.3
    rows = np.eye(3)[np.maximum(batch.given.numpy(), 0)] * weight[:, None]
    exact = 0.4 * np.linalg.solve(np.eye(60) - 0.6 * S, rows)
    assert exact.max() < 1
    sums = exact.sum(axis=1, keepdims=True)
    reached = sums[:, 0] > 1e-12
    np.testing.assert_allclose(result.numpy()[reached], (exact / np.where(sums > 0, sums, 1))[reached], atol=1e-5)
    assert reached.sum() > 40


def test_labels_outside_the_seeds_change_nothing(toy_task) -> None:
    given = toy_task.observed.given.copy()
    outside = np.setdiff1d(np.arange(60), np.r_[toy_task.split.train, toy_task.observed.trusted_nodes])
    given[outside] = (given[outside] + 1) % 3
    changed = ObservedLabels(given, toy_task.observed.trusted, class_count=3)
    first, second = (
        probabilities(full_batch(toy_task.graph, observed, toy_task.split.train))
        for observed in (toy_task.observed, changed)
    )
    assert torch.equal(first, second)


def test_no_seed_is_an_error() -> None:
    graph = Graph.from_edges([[0], [1]], np.ones((2, 1)), class_count=2)
    batch = full_batch(graph, ObservedLabels([0, -1], class_count=2), np.array([0]))
    with pytest.raises(LabelError, match="Expected at least one trusted node whose label can spread"):
        probabilities(batch, seeds="trusted")
    with pytest.raises(LabelError, match="at least one labelled node"):
        probabilities(batch, seeds="both", noisy_weight=0.0)
    assert probabilities(batch, seeds="both")[1].tolist() == [1, 0]


@pytest.mark.parametrize(
    "options", [{"seeds": "all"}, {"alpha": 1.5}, {"steps": -1}, {"diffusion": "rows"}, {"noisy_weight": -1.0}]
)
def test_options_out_of_range(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        LabelPropagationConfig(**options)


@pytest.fixture(scope="module")
def cora(data_folder) -> tuple[Graph, np.ndarray]:
    file = data_folder / "cora.npz"
    if not file.is_file():
        pytest.skip(f"needs {file}")
    with np.load(file, allow_pickle=False) as table:
        features = sp.csr_array((table["x_data"], table["x_indices"], table["x_indptr"]), shape=table["x_shape"])
        return Graph.from_edges(table["edge_index"], features, class_count=7), table["y"].astype(np.int64)


def accuracy_on_cora(graph: Graph, truth: np.ndarray, noise: np.ndarray | None, seeds: str, seed: int) -> float:
    """Test accuracy in per cent with the labels of T_N drawn from the rows of ``noise``.

    As in the reference, a node that no label reaches counts as class 0 instead of the majority class.
    """
    streams, split = Seeds(seed), sequential_split(truth)
    trusted = choose_trusted(truth, split.validation, streams.generator("trusted"), size=25, class_count=7)
    given = np.full(truth.size, -1)
    draw = streams.generator("noise")
    rows = np.eye(7) if noise is None else noise
    given[split.train] = [draw.choice(7, p=rows[k]) for k in truth[split.train]]
    given[trusted] = truth[trusted]
    observed = ObservedLabels(given, np.isin(np.arange(truth.size), trusted), class_count=7)
    predicted = probabilities(full_batch(graph, observed, split.train), seeds=seeds).argmax(dim=1).numpy()
    part = connected_components(graph.adjacency)[1]
    unreached = ~np.isin(part, part[trusted if seeds == "trusted" else split.train])
    majority = np.bincount(given[split.train], minlength=7).argmax()
    if seeds == "noisy":
        assert (predicted[unreached] == majority).all()
    predicted[unreached] = 0
    return 100 * float((predicted == truth)[split.test].mean())


def flip(rate: float, seed: int) -> np.ndarray:
    """A transition matrix that sends each class to one other, drawn anew."""
    draw = Seeds(seed).generator("class map")
    matrix = (1 - rate) * np.eye(7)
    for k in range(7):
        matrix[k, (k + draw.integers(1, 7)) % 7] = rate
    return matrix


@pytest.mark.data
def test_published_reference_on_cora_with_true_labels(cora) -> None:
    assert accuracy_on_cora(*cora, None, "noisy", 0) == pytest.approx(81.0, abs=0.3)


@pytest.mark.data
@pytest.mark.parametrize(
    ("seeds", "kind", "rate", "expected"),
    [
        ("trusted", "none", 0.0, 54.1),
        ("noisy", "mix", 0.8, 38.2),
        ("noisy", "flip", 0.4, 53.7),
        ("noisy", "flip", 0.8, 10.6),
    ],
)
def test_reference_on_cora_with_noise(cora, seeds: str, kind: str, rate: float, expected: float) -> None:
    values = []
    for seed in range(5):
        matrix = flip(rate, seed) if kind == "flip" else (1 - rate) * np.eye(7) + rate / 7
        values.append(accuracy_on_cora(*cora, matrix, seeds, seed))
    assert np.mean(values) == pytest.approx(expected, abs=4)
