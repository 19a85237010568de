from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from lnp.engine.checkpoint import Position, load_checkpoint, save_checkpoint
from lnp.engine.files import read_tensors, write_tensors
from lnp.engine.history import EpochRecord, History
from lnp.errors import ModelFileError
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import Batch, full_batch
from lnp.methods.gcn import Plain, PlainConfig
from lnp.seeds import Seeds

CONFIG = PlainConfig(hidden=4, backbone="h2gcn")


def batch(features: int = 2) -> Batch:
    graph = Graph.from_edges([[0, 1], [1, 2]], torch.eye(3, features).numpy(), class_count=2)
    return full_batch(graph, ObservedLabels([0, 1, -1], class_count=2), graph.edges[0])


def method(seed: int, *, features: int = 2, config: PlainConfig = CONFIG) -> Plain:
    return Plain(config, batch(features), Seeds(seed).generator("initialisation"))


def write(path: Path, *, best: bool = True) -> tuple[Plain, float, float]:
    """A checkpoint, its method, and the next draw of each of its streams."""
    saved, randomness = method(0), Seeds(0).randomness()
    randomness.dropout.random(5)
    randomness.sampling.integers(0, 9, 3)
    history = History([EpochRecord("train", 0, {"ce": 0.1}, 0.5, True)])
    kept = {name: value + 1 for name, value in saved.state_dict().items()} if best else None
    adams = {"main": {"0.step": torch.tensor(3.0)}, "second/one": {"1.exp_avg": torch.ones(2)}}
    save_checkpoint(path, saved, randomness, history, Position(1, 7, 0.5, 3, 1.25), adams, kept)
    return saved, float(randomness.dropout.random()), float(randomness.sampling.random())


def test_everything_comes_back(tmp_path: Path) -> None:
    saved, next_dropout, next_sampling = write(tmp_path / "c")
    loaded, randomness = method(1), Seeds(9).randomness()
    resumed = load_checkpoint(tmp_path / "c", loaded, randomness)
    assert resumed is not None
    for name, value in saved.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], value)
        assert torch.equal(resumed.best[name], value + 1)
    assert (float(randomness.dropout.random()), float(randomness.sampling.random())) == (next_dropout, next_sampling)
    assert resumed.position == Position(1, 7, 0.5, 3, 1.25)
    assert resumed.history == History([EpochRecord("train", 0, {"ce": 0.1}, 0.5, True)])
    assert resumed.optimisers["main"]["0.step"].item() == 3
    assert resumed.optimisers.keys() >= {"main"}


def test_no_best_state_and_no_file(tmp_path: Path) -> None:
    write(tmp_path / "c", best=False)
    resumed = load_checkpoint(tmp_path / "c", method(1), Seeds(0).randomness())
    assert resumed is not None
    assert resumed.best is None
    assert load_checkpoint(tmp_path / "none", method(1), Seeds(0).randomness()) is None


def test_another_configuration_is_refused_and_nothing_is_loaded(tmp_path: Path) -> None:
    write(tmp_path / "c")
    other = method(1, config=dataclasses.replace(CONFIG, learning_rate=0.02))
    before = {name: value.clone() for name, value in other.state_dict().items()}
    with pytest.raises(ModelFileError, match="written by Plain with another configuration"):
        load_checkpoint(tmp_path / "c", other, Seeds(0).randomness())
    assert all(torch.equal(value, before[name]) for name, value in other.state_dict().items())


def test_another_graph_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "c")
    with pytest.raises(ModelFileError, match="for a graph with other features or classes"):
        load_checkpoint(tmp_path / "c", method(1, features=3), Seeds(0).randomness())


def test_options_that_are_tuples_do_not_look_changed(tmp_path: Path) -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Listed(PlainConfig):
        weights: tuple[float, ...] = (0.5, 0.5)

    saved = method(0, config=Listed(hidden=4))
    save_checkpoint(tmp_path / "c", saved, Seeds(0).randomness(), History(), Position(), {}, None)
    assert load_checkpoint(tmp_path / "c", method(1, config=Listed(hidden=4)), Seeds(0).randomness()) is not None


def test_a_model_file_is_not_a_checkpoint_and_a_truncated_one_is_named(tmp_path: Path) -> None:
    write_tensors(tmp_path / "model", {"a": torch.ones(1)}, {"method": "Plain"})
    with pytest.raises(ModelFileError, match="model is not a checkpoint: it lacks config, history, position"):
        load_checkpoint(tmp_path / "model", method(1), Seeds(0).randomness())
    write(tmp_path / "c")
    (tmp_path / "c").write_bytes((tmp_path / "c").read_bytes()[:-10])
    with pytest.raises(ModelFileError, match="not a readable model file"):
        load_checkpoint(tmp_path / "c", method(1), Seeds(0).randomness())


def test_a_new_checkpoint_replaces_the_old_one(tmp_path: Path) -> None:
    write(tmp_path / "c")
    save_checkpoint(tmp_path / "c", method(5), Seeds(0).randomness(), History(), Position(epoch=2), {}, None)
    tensors, about = read_tensors(tmp_path / "c")
    assert about["position"]["epoch"] == 2
    assert not any(name.startswith(("best/", "optimiser/")) for name in tensors)
    assert [p.name for p in tmp_path.iterdir()] == ["c"]
