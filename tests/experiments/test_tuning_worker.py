"""What becomes of a trial."""

from __future__ import annotations

import multiprocessing
import os
import threading

import pytest

from lnp.datasets.catalog import load_dataset
from lnp.datasets.dataset import Dataset
from lnp.experiments.spec import RunSpec
from lnp.experiments.tuning_objective import score
from lnp.experiments.tuning_worker import Ended, OnTheWay, TrialTask, attempt, serve

GRAPH = "synthetic:nodes=60,classes=3,features=8,mean_degree=6"


def task(**options: object) -> TrialTask:
    settings = {"hidden": 4, "epochs": 40, **options}
    return TrialTask(RunSpec(dataset=GRAPH, method="joint", protocol="random", trusted_size=9, options=settings), 1)


def test_a_score() -> None:
    dataset = load_dataset(GRAPH)
    ended = attempt(task(), dataset)
    assert (ended.kind, ended.value) == ("complete", score(task().spec, dataset))
    assert ended.seconds > 0


def test_what_diverges_fails_with_its_reason() -> None:
    ended = attempt(task(learning_rate=10.0, layers=40), load_dataset(GRAPH))
    assert ended.kind == "failed"
    assert ended.reason.startswith("ConfigError: The loss became infinite or not a number in epoch 1")


def test_an_impossible_configuration_fails_with_its_reason() -> None:
    bad = TrialTask(RunSpec(dataset=GRAPH, method="joint", protocol="planetoid", trusted_size=9), 1)
    assert attempt(bad, load_dataset(GRAPH)).reason.startswith("ConfigError: Expected dataset 'synthetic'")


def test_a_worker_answers_reports_scores_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []

    def load(name: str) -> Dataset:
        loads.append(name)
        return load_dataset(name)

    monkeypatch.setattr("lnp.experiments.tuning_worker.load_dataset", load)
    monkeypatch.setattr("torch.set_num_threads", lambda threads: None)
    ours, theirs = multiprocessing.Pipe()
    thread = threading.Thread(target=serve, args=(theirs, 1, os.getppid()))
    thread.start()
    heard = []
    for stop_at in (99, 20):
        ours.send(task())
        while isinstance(message := ours.recv(), OnTheWay):
            heard.append(message.step)
            ours.send(message.step >= stop_at)
        heard.append(message.kind)
    ours.send(None)
    thread.join(10)
    assert not thread.is_alive()
    assert isinstance(message, Ended)
    assert heard == [10, 20, 30, "complete", 10, 20, "pruned"]
    assert loads == [GRAPH]
