"""Several seeds in a folder: kept, resumed, refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from lnp.datasets.catalog import load_dataset
from lnp.engine.files import read_tensors
from lnp.engine.history import EpochRecord
from lnp.engine.model_file import load_model
from lnp.errors import ConfigError, ModelFileError
from lnp.experiments.spec import LATER, RunSpec
from lnp.experiments.training import summarise, train_seeds

GRAPH = "synthetic:nodes=90,classes=3,features=8,mean_degree=6"


def make_spec(**changes: object) -> RunSpec:
    options = {"hidden": 8, "epochs": 60, "fine_tune_epochs": 5}
    known = {"dataset": GRAPH, "method": "gcn", "rate": 0.3, "trusted_size": 9, "options": options}
    return RunSpec(**{**known, **changes})  # type: ignore[arg-type]


class Stopwatch:
    """Counts the epochs of every seed, and interrupts one of them."""

    def __init__(self, stop: tuple[str, int] | None = None, error: type[BaseException] = KeyboardInterrupt) -> None:
        self.stop, self.error = stop, error
        self.epochs: dict[str, int] = {}

    @contextmanager
    def __call__(self, label: str) -> Iterator[object]:
        self.epochs[label] = 0

        def on_epoch(record: EpochRecord, count: int) -> None:
            self.epochs[label] += 1
            if (label, self.epochs[label]) == self.stop:
                raise self.error

        yield on_epoch


def weights(folder: Path) -> dict[str, bytes]:
    tensors, _ = read_tensors(folder / "model.safetensors")
    return {name: value.numpy().tobytes() for name, value in tensors.items()}


def test_a_stopped_run_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    spec = make_spec()
    whole = train_seeds(spec, 3, folder=tmp_path / "whole")
    stopped = tmp_path / "stopped"
    with pytest.raises(KeyboardInterrupt):
        train_seeds(spec, 3, folder=stopped, watch=Stopwatch(("seed 2 of 3", 55)))
    assert (stopped / "seed-1" / "checkpoint.safetensors").is_file()
    assert not (stopped / "result.json").exists()
    finished = (stopped / "seed-0" / "model.safetensors").stat().st_mtime_ns

    watch = Stopwatch()
    records = train_seeds(spec, 3, folder=stopped, watch=watch)
    assert watch.epochs == {"seed 1 of 3": 0, "seed 2 of 3": 15, "seed 3 of 3": 65}  # the checkpoint was at 50
    assert (stopped / "seed-0" / "model.safetensors").stat().st_mtime_ns == finished
    for seed in range(3):
        assert weights(stopped / f"seed-{seed}") == weights(tmp_path / "whole" / f"seed-{seed}")
    assert [r["test_accuracy"] for r in records] == [r["test_accuracy"] for r in whole]
    assert list(stopped.rglob("checkpoint*")) == []
    assert json.loads((stopped / "result.json").read_text()) == summarise(records)


def test_more_seeds_of_the_same_run_may_follow(tmp_path: Path) -> None:
    spec = make_spec(options={"epochs": 3, "fine_tune_epochs": 0})
    train_seeds(spec, 1, folder=tmp_path)
    watch = Stopwatch()
    # The same configuration in other words.
    same = make_spec(options={"epochs": "3", "fine_tune_epochs": 0, "dropout": "0.5"})
    assert len(train_seeds(same, 2, folder=tmp_path, watch=watch)) == 2
    assert watch.epochs == {"seed 1 of 2": 0, "seed 2 of 2": 3}


@pytest.mark.parametrize(
    ("method", "change", "message"),
    [
        ("gcn", {"links_width": 8}, "links_width 0 instead of 8"),
        ("lnp-v2", {"told": False}, "told True instead of False"),
    ],
)
def test_a_folder_of_a_version_that_knew_fewer_options_goes_on(
    tmp_path: Path, method: str, change: dict[str, object], message: str
) -> None:
    options: dict[str, object] = {"epochs": 2}
    train_seeds(make_spec(method=method, options=options), 1, folder=tmp_path)
    written = json.loads((tmp_path / "spec.json").read_text())
    missing = LATER.keys() & written["config"].keys()
    assert missing >= change.keys()
    for name in missing:
        del written["config"][name]
    (tmp_path / "spec.json").write_text(json.dumps(written))
    assert len(train_seeds(make_spec(method=method, options=options), 2, folder=tmp_path)) == 2
    with pytest.raises(ConfigError, match=message):
        train_seeds(make_spec(method=method, options={**options, **change}), 2, folder=tmp_path)


def test_a_folder_begun_under_another_rule_of_strict_is_refused(tmp_path: Path) -> None:
    """Earlier versions did not write down which rule `strict` stood for."""
    spec = make_spec(protocol="strict", options={"epochs": 2})
    train_seeds(spec, 1, folder=tmp_path)
    assert len(train_seeds(spec, 1, folder=tmp_path)) == 1
    written = json.loads((tmp_path / "spec.json").read_text())
    assert written.pop("rule") == "val-channel"
    (tmp_path / "spec.json").write_text(json.dumps(written))
    with pytest.raises(ConfigError, match="rule None instead of 'val-channel'"):
        train_seeds(spec, 2, folder=tmp_path)


def test_another_run_is_refused_by_what_differs(tmp_path: Path) -> None:
    train_seeds(make_spec(options={"epochs": 2}), 1, folder=tmp_path)
    for change, message in (
        ({"rate": 0.4, "options": {"epochs": 2}}, "rate 0.3 instead of 0.4"),
        ({"noise": "pair", "options": {"epochs": 2}}, "noise 'flip' instead of 'pair'"),
        ({"options": {"epochs": 3}}, "epochs 2 instead of 3"),
        ({"selection": "last", "options": {"epochs": 2}}, "selection None instead of 'last'"),
    ):
        with pytest.raises(ConfigError, match=message):
            train_seeds(make_spec(**change), 1, folder=tmp_path)


def test_another_matrix_in_the_same_file_is_another_run(tmp_path: Path) -> None:
    matrix = tmp_path / "noise.csv"
    np.savetxt(matrix, np.full((3, 3), 1 / 3), delimiter=",")
    spec = make_spec(noise=f"matrix:{matrix}")
    train_seeds(spec, 1, folder=tmp_path / "run")
    np.savetxt(matrix, np.eye(3), delimiter=",")
    with pytest.raises(ConfigError, match="holds one with matrix"):
        train_seeds(spec, 1, folder=tmp_path / "run")
    (tmp_path / "plain" / "seed-0").mkdir(parents=True)
    (tmp_path / "plain" / "model.json").write_text("{}")
    with pytest.raises(ConfigError, match="but it holds a model"):
        train_seeds(make_spec(), 1, folder=tmp_path / "plain")


def test_a_first_run_that_cannot_be_done_leaves_nothing(tmp_path: Path) -> None:
    watch = Stopwatch(("seed 1 of 1", 52), ConfigError)
    with pytest.raises(ConfigError):
        train_seeds(make_spec(), 1, folder=tmp_path / "new", watch=watch)
    assert list(tmp_path.iterdir()) == []
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "notes.txt").write_text("keep")
    with pytest.raises(ConfigError):
        train_seeds(make_spec(), 1, folder=mine, watch=Stopwatch(("seed 1 of 1", 52), ConfigError))
    assert [path.name for path in mine.iterdir()] == ["notes.txt"]


def test_broken_files_are_named(tmp_path: Path) -> None:
    spec = make_spec(options={"epochs": 2})
    train_seeds(spec, 1, folder=tmp_path)
    model = tmp_path / "seed-0" / "model.safetensors"
    model.write_bytes(model.read_bytes()[:100])
    with pytest.raises(ModelFileError, match=r"seed-0/model\.safetensors"):
        train_seeds(spec, 1, folder=tmp_path)
    assert model.exists()
    (tmp_path / "spec.json").write_text("{")
    with pytest.raises(ModelFileError, match=r"spec\.json does not describe a run"):
        train_seeds(spec, 1, folder=tmp_path)
    (tmp_path / "spec.json").unlink()
    with pytest.raises(ConfigError, match="has models and none"):
        train_seeds(spec, 1, folder=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="it is a file"):
        train_seeds(spec, 1, folder=tmp_path / "file")


def test_the_saved_model_predicts_what_the_run_scored(tmp_path: Path) -> None:
    """The model file takes the unscaled graph and scales it as the run did."""
    spec = make_spec(method="lnp-v2", options={"epochs": 5, "hidden": 8}, selection="last", scaling="standard")
    (record,) = train_seeds(spec, 1, folder=tmp_path)
    graph = load_dataset(GRAPH).graph
    model = load_model(tmp_path / "seed-0", graph)
    stored = load_model(tmp_path / "seed-0")
    np.testing.assert_array_equal(model.probabilities.numpy(), stored.probabilities.numpy())
    assert model.about["record"] == json.loads(json.dumps(record))
    assert [row["score"] for row in model.about["history"]] == [None] * 5  # the rule `last` has no score


def test_the_summary_keeps_the_order_of_the_seeds_and_the_mean_rate() -> None:
    records = train_seeds(make_spec(options={"epochs": 1, "fine_tune_epochs": 0}, protocol="paper"), 2)
    for number, record in enumerate(records):
        record |= {"test_accuracy": 0.25 + number / 2, "realised_rate": 0.2 + number / 10, "epochs": number}
    found = summarise(records)
    assert found["seeds"] == [0, 1]
    assert found["test_accuracy"] == [0.25, 0.75]
    assert found["epochs"] == [0, 1]
    assert found["realised_rate"] == pytest.approx(0.25)
    assert (found["noise"], found["noise_draw"]) == ("flip", "flip-released")


def test_a_run_in_parts_is_kept_as_such_and_an_older_folder_of_a_full_batch_goes_on(tmp_path: Path) -> None:
    options = {"hidden": 8, "epochs": 3, "fine_tune_epochs": 2}
    spec = make_spec(options=options, batch="neighbours:size=30,fan_out=3")
    train_seeds(spec, 1, folder=tmp_path / "parts")
    assert json.loads((tmp_path / "parts" / "spec.json").read_text())["batch"] == "neighbours:size=30,fan_out=3"
    with pytest.raises(ConfigError, match="but it holds one with batch"):
        train_seeds(make_spec(options=options, batch="neighbours:size=31,fan_out=3"), 1, folder=tmp_path / "parts")
    full = make_spec(options=options)
    train_seeds(full, 1, folder=tmp_path / "full")
    assert "batch" not in json.loads((tmp_path / "full" / "spec.json").read_text())
    train_seeds(full, 1, folder=tmp_path / "full")
    with pytest.raises(ConfigError, match="but it holds one with batch None"):
        train_seeds(spec, 1, folder=tmp_path / "full")
