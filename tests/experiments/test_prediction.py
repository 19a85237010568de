"""Predictions of one model and of several."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lnp.engine.model_file import save_model
from lnp.errors import ModelFileError
from lnp.experiments.prediction import Predictions, read_predictions
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import full_batch
from lnp.methods.registry import create_method, make_config
from lnp.seeds import Seeds


def keep(folder: Path, graph: Graph, given: list[int], seed: int, node_ids: list[str] | None = None) -> np.ndarray:
    """Saves an untrained model and returns its probabilities."""
    observed = ObservedLabels(given, class_count=3)
    train = np.arange(graph.node_count)
    batch = full_batch(graph, observed, train)
    method = create_method("gcn", make_config("gcn"), batch, Seeds(seed).generator("initialisation")).eval()
    about = {"node_ids": node_ids}
    save_model(folder, name="gcn", method=method, graph=graph, observed=observed, train=train, about=about)
    return method.predict(batch).detach().double().numpy()


def test_the_mean_of_models_and_the_labels_they_agree_on(tiny_graph: Graph, tmp_path: Path) -> None:
    first = keep(tmp_path / "seed-0", tiny_graph, [0, 1, -1, 2, -1, 1, 0], 0)
    second = keep(tmp_path / "seed-1", tiny_graph, [0, 2, 1, -1, -1, 0, 0], 1)
    third = keep(tmp_path / "seed-10", tiny_graph, [0, 1, 1, 2, -1, 1, 0], 2)
    found = read_predictions(tmp_path)
    np.testing.assert_allclose(found.probabilities, (first + second + third) / 3, atol=1e-12)
    assert found.given.tolist() == [0, -1, 1, 2, -1, -1, 0]
    assert (found.models, found.disputed, found.node_ids) == (3, 2, None)
    assert found.class_names == ("red", "green", "blue")


def test_node_ids_come_along(tiny_graph: Graph, tmp_path: Path) -> None:
    ids = [f"paper-{i}" for i in range(7)]
    keep(tmp_path / "model", tiny_graph, [0] * 7, 0, ids)
    assert read_predictions(tmp_path / "model").node_ids == tuple(ids)
    keep(tmp_path / "short", tiny_graph, [0] * 7, 0, ids[:3])
    with pytest.raises(ModelFileError, match="one name per node"):
        read_predictions(tmp_path / "short")


def test_models_of_different_graphs_do_not_mix(tiny_graph: Graph, tmp_path: Path) -> None:
    keep(tmp_path / "seed-0", tiny_graph, [0] * 7, 0)
    keep(tmp_path / "seed-1", tiny_graph.permuted(np.arange(5)), [0] * 5, 0)
    with pytest.raises(ModelFileError, match="of one graph"):
        read_predictions(tmp_path)


def test_the_summary_counts() -> None:
    probabilities = np.array([[0.7, 0.3], [0.4, 0.6], [0.9, 0.1]])
    found = Predictions(None, ("a", "b"), np.array([1, 1, -1]), probabilities)
    assert found.summary() == {
        "nodes": 3,
        "models": 1,
        "mean_confidence": pytest.approx((0.7 + 0.6 + 0.9) / 3),
        "predicted": {"a": 2, "b": 1},
        "given": 2,
        "given_differs_from_predicted": 1,
        "given_differs_between_models": 0,
    }
