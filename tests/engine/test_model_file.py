from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import Tensor

from lnp import __version__
from lnp.engine.feed import predict
from lnp.engine.files import read_tensors, write_tensors
from lnp.engine.fit import fit
from lnp.engine.model_file import load_model, save_model
from lnp.engine.model_folder import read_folder, write_folder
from lnp.engine.selection import select_last
from lnp.errors import ModelFileError
from lnp.graph.features import scale_features
from lnp.graph.graph import Graph
from lnp.methods.base import Method
from lnp.methods.batch import full_batch
from lnp.methods.registry import METHODS, create_method, make_config
from lnp.seeds import Seeds


def short(name: str) -> dict[str, object]:
    """Options that make every stage of a method quick."""
    fields = [field.name for field in dataclasses.fields(METHODS[name].method.Config)]
    return {"hidden": 8} | {field: 3 for field in fields if field.endswith("epochs")}


def train(task: Any, name: str, *, scaling: str = "none", **options: object) -> tuple[Method, Tensor]:
    batch = full_batch(scale_features(task.graph, scaling), task.observed, task.split.train)
    config = make_config(name, short(name) | options)
    method = create_method(name, config, batch, Seeds(0).generator("initialisation"))
    return method, fit(method, batch, select_last(), Seeds(0).randomness()).probabilities


def save(folder: Path, task: Any, name: str, method: Method, **more: Any) -> None:
    parts = {"graph": task.graph, "observed": task.observed, "train": task.split.train}
    save_model(folder, name=name, method=method, **parts, **more)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {}) for name in METHODS),
        ("lnp-v2", {"delta": 0.1}),
        ("lnp-v2", {"backbone": "h2gcn"}),
        ("lnp-v2", {"fusion": "concatenation"}),
    ],
)
def test_a_loaded_model_predicts_the_same_bits(toy_task, tmp_path: Path, name: str, options: dict[str, object]) -> None:
    method, expected = train(toy_task, name, **options)
    save(tmp_path / "model", toy_task, name, method, about={"spec": {"rate": 0.3}})
    loaded = load_model(tmp_path / "model", toy_task.graph)
    assert torch.equal(loaded.probabilities, expected)
    assert torch.equal(predict(loaded.method, loaded.batch), expected)
    for key, value in method.state_dict().items():
        assert torch.equal(loaded.method.state_dict()[key], value)
    assert (loaded.name, loaded.config, loaded.about) == (name, method.config, {"spec": {"rate": 0.3}})
    np.testing.assert_array_equal(loaded.observed.given, toy_task.observed.given)
    np.testing.assert_array_equal(loaded.observed.trusted, toy_task.observed.trusted)
    np.testing.assert_array_equal(loaded.train, toy_task.split.train)
    stored = load_model(tmp_path / "model")
    assert stored.method is None
    assert stored.batch is None
    assert torch.equal(stored.probabilities, expected)
    torch.testing.assert_close(stored.quality, loaded.quality, rtol=0, atol=0, equal_nan=True)
    assert stored.class_names == toy_task.graph.class_names


def test_a_scaling_is_applied_to_the_graph_as_it_comes(toy_task, tmp_path: Path) -> None:
    method, expected = train(toy_task, "gcn", scaling="standard")
    save(tmp_path / "model", toy_task, "gcn", method, scaling="standard")
    assert torch.equal(load_model(tmp_path / "model", toy_task.graph).probabilities, expected)
    unscaled = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    assert not torch.equal(predict(method, unscaled), expected)


def test_a_scaling_that_was_left_open_is_kept_by_its_name(toy_task, tmp_path: Path) -> None:
    """What suits features may be judged otherwise one day; a model goes on with what it learnt from."""
    words = sp.csr_array(np.abs(np.asarray(toy_task.graph.features)))
    task = toy_task._replace(graph=toy_task.graph.with_features(words))
    method, expected = train(task, "gcn", scaling="length")
    save(tmp_path / "model", task, "gcn", method, scaling="auto")
    loaded = load_model(tmp_path / "model", task.graph)
    assert loaded.scaling == "length"
    assert torch.equal(loaded.probabilities, expected)
    # Files of before said "auto", and meant rows that sum to 1.
    method, expected = train(task, "gcn", scaling="row")
    save(tmp_path / "old", task, "gcn", method, scaling="row")
    tensors, facts = read_folder(tmp_path / "old")
    write_folder(tmp_path / "old", tensors, facts | {"scaling": "auto"})
    loaded = load_model(tmp_path / "old", task.graph)
    assert loaded.scaling == "row"
    assert torch.equal(loaded.probabilities, expected)


def test_label_quality_covers_labels_that_did_not_train(toy_task, tmp_path: Path) -> None:
    method, probabilities = train(toy_task, "gcn")
    save(tmp_path / "model", toy_task, "gcn", method)
    given, quality = toy_task.observed.given, load_model(tmp_path / "model").quality.numpy()
    known = given >= 0
    assert np.isnan(quality[~known]).all()
    np.testing.assert_array_equal(quality[known], probabilities.numpy()[known, given[known]])
    assert known[toy_task.split.validation].all()  # none of which is in train


def test_the_facts_are_plain_to_read(toy_task, tmp_path: Path) -> None:
    method, _ = train(toy_task, "gcn")
    save(tmp_path / "model", toy_task, "gcn", method)
    facts = json.loads((tmp_path / "model" / "model.json").read_text())
    del facts["fingerprint"]
    assert facts == {
        "format": 1,
        "lnp": __version__,
        "method": "gcn",
        "config": dataclasses.asdict(method.config),
        "class_names": ["0", "1", "2"],
        "nodes": 60,
        "features": 8,
        "graph": "synthetic",
        "checksum": toy_task.graph.checksum,
        "scaling": "none",
        "about": {},
    }


def edited(**changes: object):
    def change(folder: Path) -> None:
        path = folder / "model.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return change


def with_tensor(key: str, value: Tensor | None):
    def change(folder: Path) -> None:
        tensors, about = read_tensors(folder / "model.safetensors")
        tensors.pop(key) if value is None else tensors.update({key: value})
        write_tensors(folder / "model.safetensors", tensors, about)

    return change


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (edited(method="lnp-v9"), r"model.json cannot be used by lnp .*Unknown method 'lnp-v9'. Did you mean 'lnp-v"),
        (edited(config={"hiden": 3}), r"model.json cannot .*Unknown option of gcn 'hiden'. Did you mean 'hidden'"),
        (edited(config={"dropout": 3.0}), r"model.json cannot .*Expected `dropout` to be in \[0, 0.95\], but got 3.0"),
        (edited(scaling="square"), r"model.json cannot .*Expected `scaling` to be one of"),
        (edited(nodes=61), r"Expected `given` of .*safetensors to have shape \(61,\).*but got \(60,\)"),
        (edited(config={}), r"Expected the weights in .*safetensors to fit .*size mismatch for classifier"),
        (with_tensor("given", None), r"model.safetensors lacks `given`. Save the model again"),
        (with_tensor("given", torch.full((60,), 7)), r"cannot be used .*node 0 has 7"),
        (with_tensor("probabilities", torch.zeros(60, 2)), r"`probabilities` of .*shape \(60, 3\).*but got \(60, 2\)"),
    ],
)
def test_damage_is_named(toy_task, tmp_path: Path, damage, message: str) -> None:
    method, _ = train(toy_task, "gcn")
    save(tmp_path / "model", toy_task, "gcn", method)
    damage(tmp_path / "model")
    with pytest.raises(ModelFileError, match=message):
        load_model(tmp_path / "model", toy_task.graph)


def test_a_missing_weight_is_named(toy_task, tmp_path: Path) -> None:
    method, _ = train(toy_task, "gcn")
    save(tmp_path / "model", toy_task, "gcn", method)
    key = next(iter(method.state_dict()))
    with_tensor(f"state/{key}", None)(tmp_path / "model")
    with pytest.raises(ModelFileError, match=f"Missing key.*{key}"):
        load_model(tmp_path / "model", toy_task.graph)


def test_another_graph_is_refused(toy_task, tmp_path: Path) -> None:
    method, _ = train(toy_task, "gcn")
    save(tmp_path / "model", toy_task, "gcn", method)
    graph = toy_task.graph
    changed = graph.features.copy()
    changed[3, 4] += 1
    names = ("one", "two", "three")
    others = {
        r"checksum .* has checksum": graph.with_features(changed),
        r"features 8\), but .* has features 2": graph.with_features(graph.features[:, :2]),
        r"classes \('0', '1', '2'\)\), but .* has classes \('one', 'two', 'three'\)": Graph.from_edges(
            graph.edges, graph.features, class_names=names
        ),
        r"nodes 60\), but .* has nodes 2": Graph.from_edges([[0], [1]], np.ones((2, 8)), class_count=3),
    }
    for message, other in others.items():
        with pytest.raises(ModelFileError, match=r"Expected the graph that .*model.json was trained on .*" + message):
            load_model(tmp_path / "model", other)


def test_what_labels_were_before_a_check_comes_back(toy_task, tmp_path: Path) -> None:
    node = int(toy_task.observed.noisy_nodes[0])
    other = (int(toy_task.observed.given[node]) + 1) % 3
    observed = toy_task.observed.checked([node], [other])
    method, _ = train(toy_task, "gcn")
    save_model(
        tmp_path / "m", name="gcn", method=method, graph=toy_task.graph, observed=observed, train=toy_task.split.train
    )
    loaded = load_model(tmp_path / "m", toy_task.graph)
    np.testing.assert_array_equal(loaded.observed.before, observed.before)
    assert loaded.batch.checks[other, toy_task.observed.given[node]] == loaded.batch.checks.sum() == 1
