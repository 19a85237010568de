from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from lnp.engine import memory
from lnp.engine.available import LIMIT
from lnp.engine.memory import LABELS, PROGRAM, Sizes, estimate_memory, preflight
from lnp.errors import ConfigError
from lnp.graph.graph import Graph
from lnp.methods.batch import Batch, full_batch
from lnp.methods.registry import create_method, make_config
from lnp.nn.propagation import two_hop_neighbours
from lnp.seeds import Seeds

N, E, D, C, H = 200_000, 1_900_000, 100, 5, 64
DENSE = Sizes(nodes=N, entries=E, features=D, feature_entries=None, classes=C)
SPARSE = Sizes(nodes=N, entries=E, features=D, feature_entries=12 * N, classes=C)
FEW = Sizes(nodes=1_000, entries=9_500, features=D, feature_entries=None, classes=C)


def test_large_and_dense_by_hand() -> None:
    parts = estimate_memory("lnp-v2", make_config("lnp-v2", {"hidden": H}), DENSE)
    assert parts == {
        "program": PROGRAM,
        "graph": E * (4 + 4) + N * 4 + N * LABELS,  # columns, values, row pointer
        "features": N * D * 4,
        "propagation": 2 * ((E + N) * (4 + 4) + N * 4) + N * D * 4,  # S with its transpose, S X
        "hidden layers": (3 + 2) * N * H * 4,  # one for each network, two gradients
        "predictions": 43 * N * C * 4,
    }


def test_large_and_sparse_by_hand() -> None:
    config = make_config("gcn", {"hidden": H, "normalisation": "symmetric"})
    parts = estimate_memory("gcn", config, SPARSE)
    assert parts["features"] == 3 * 12 * N * 8 + 2 * N * 4  # as given, and for products with X and its transpose
    assert parts["propagation"] == (E + N) * 8 + N * 4  # its own transpose, and no S X
    assert parts["hidden layers"] == (1 + 2) * N * H * 4
    assert parts["predictions"] == 6 * N * C * 4


def test_recomputing_keeps_the_layers_of_one_network() -> None:
    config = make_config("lnp-v1", {"hidden": H, "layers": 3})
    kept, again = (estimate_memory("lnp-v1", config, SPARSE, recompute=flag) for flag in (False, True))
    assert kept["hidden layers"] - again["hidden layers"] == 2 * 2 * N * H * 4
    assert {**kept, "hidden layers": 0} == {**again, "hidden layers": 0}


def test_small_graphs_keep_more_of_each_layer_and_the_exponentials() -> None:
    parts = estimate_memory("lnp-v2", make_config("lnp-v2", {"hidden": H, "negatives": 64}), FEW)
    assert parts["hidden layers"] == (3 * 3 + 3) * 1_000 * H * 4
    assert parts["contrastive"] == 2 * 1_000 * 2 * 64 * 4  # both directions, both predictions of those drawn
    exact = estimate_memory("lnp-v2", make_config("lnp-v2", {"negatives": 0}), FEW)
    assert exact["contrastive"] == 2 * 1_000 * 2 * 1_000 * 4  # one block of all rows
    assert "contrastive" not in estimate_memory("lnp-v2", make_config("lnp-v2", {"lambda_3": 0.0}), FEW)


def test_the_estimate_is_linear_in_the_size_of_the_graph() -> None:
    config = make_config("lnp-v2", {"hidden": H})
    totals = []
    for times in (1, 2, 3):
        sizes = Sizes(nodes=times * N, entries=times * E, features=D, feature_entries=times * 12 * N, classes=C)
        totals.append(sum(estimate_memory("lnp-v2", config, sizes).values()))
    assert totals[2] - totals[1] == totals[1] - totals[0]


def test_two_rounds_of_h2gcn_by_hand() -> None:
    sizes = Sizes(nodes=10, entries=40, features=D, feature_entries=None, classes=C, two_hop_entries=70)
    parts = estimate_memory("h2gcn", make_config("h2gcn", {"hidden": 4, "layers": 2}), sizes)
    assert parts["propagation"] == (40 + 70) * 8 + 2 * 10 * 4
    columns = 4 + (4 + 8 + 8) + (8 + 16 + 16 + 16) + (4 + 8 + 16)  # ego, first round, second round, side by side
    assert parts["hidden layers"] == (columns + 32) * 10 * 4


@pytest.mark.parametrize("sparse", [False, True])
def test_sizes_of_a_graph(sparse: bool) -> None:
    values = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
    graph = Graph.from_edges([[0, 1], [1, 2]], sp.csr_array(values) if sparse else values, class_count=2)
    sizes = Sizes.of(graph, copies=2)
    expected = Sizes(nodes=3, entries=4, features=3, feature_entries=3 if sparse else None, classes=2, copies=2)
    assert sizes == expected


def test_two_hop_entries_of_a_random_graph_are_about_right() -> None:
    edges = np.random.default_rng(0).integers(0, 3_000, size=(2, 12_000))
    graph = Graph.from_edges(edges, np.zeros((3_000, 1)), class_count=2)
    exact = two_hop_neighbours(graph.adjacency).nnz
    assert Sizes.of(graph, two_hop=True).two_hop_entries == pytest.approx(exact, rel=0.2)


@pytest.fixture
def batch(toy_task) -> Batch:
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)


@pytest.fixture
def costly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every hidden unit of the 60 nodes counts as if they were 60 million."""
    real = memory.estimate_memory
    monkeypatch.setattr(
        memory,
        "estimate_memory",
        lambda *args, **options: {
            name: bytes_ * (10**6 if name == "hidden layers" else 1) for name, bytes_ in real(*args, **options).items()
        },
    )


CONFIG = make_config("lnp-v2", {"hidden": 8})
# (3 · 3 + 3) · 60 · 8 · 4 · 10⁶ bytes are 21.5 GiB, with one network's layers alone 10.7 GiB


def test_small_runs_are_quiet_and_never_refused(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, "1MB")
    said: list[str] = []
    preflight("lnp-v2", CONFIG, batch, announce=said.append)
    assert said == []
    assert not batch.graph.recompute


def test_a_large_run_says_what_it_takes(batch: Batch, costly: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT, "30GiB")
    said: list[str] = []
    preflight("lnp-v2", CONFIG, batch, announce=said.append)
    assert not batch.graph.recompute
    assert len(said) == 1
    assert said[0].startswith("Memory at the peak: about 21.8 GiB of 30.0 GiB that can be had (hidden layers 21.5 GiB,")
    preflight("nrgnn", make_config("nrgnn", {"hidden": 8}), batch, announce=said.append)
    assert said[1].startswith("Memory at the peak: at least ")


def test_hidden_layers_are_recomputed_where_it_fits_only_so(
    batch: Batch, costly: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT, "16GiB")
    said: list[str] = []
    preflight("lnp-v2", CONFIG, batch, announce=said.append)
    assert batch.graph.recompute
    assert said[0].endswith("; hidden layers are recomputed.")
    assert "about 11.1 GiB" in said[0]


@pytest.mark.parametrize("wish", ["4GiB", "none"])
def test_what_cannot_fit_is_refused_with_advice(
    batch: Batch, costly: None, monkeypatch: pytest.MonkeyPatch, wish: str
) -> None:
    monkeypatch.setenv(LIMIT, wish)
    if wish == "none":
        preflight("lnp-v2", CONFIG, batch)  # the user has the last word
        return
    with pytest.raises(ConfigError, match=r"fits into 4.0 GiB .* takes about 11.1 GiB") as error:
        preflight("lnp-v2", CONFIG, batch)
    assert all(word in str(error.value) for word in ("--batch neighbours", "--set hidden=4", "sign", LIMIT))


def test_recomputing_trains_to_the_same_bits(toy_task) -> None:
    """The decision may depend on the machine, for no number depends on it."""
    weights = []
    for recompute in (False, True):
        batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
        batch.graph.recompute = recompute
        method = create_method("lnp-v2", CONFIG, batch, Seeds(0).generator("initialisation"))
        terms = method.train().loss(batch, Seeds(0).randomness())
        sum(terms.values()).backward()
        weights.append(np.concatenate([parameter.grad.numpy().ravel() for parameter in method.parameters()]))
    assert np.array_equal(*weights)
    assert np.abs(weights[0]).max() > 0
