"""A training as runs and classifiers set it up: what is built, from which draws, and what is refused before."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lnp.engine.available import LIMIT
from lnp.engine.batching import Batching
from lnp.engine.feed import FullFeed
from lnp.engine.parts import NeighbourFeed
from lnp.engine.set_up import set_up
from lnp.errors import ConfigError
from lnp.methods.batch import full_batch
from lnp.methods.registry import create_method, make_config
from lnp.seeds import Seeds

CONFIG = make_config("lnp-v2", {"hidden": 8})


def ready(task, graph=None, **more):  # type: ignore[no-untyped-def]
    graph = graph or task.graph
    arguments = {"original": graph, "batching": Batching(), **more}
    return set_up("lnp-v2", CONFIG, graph, task.observed, task.split.train, Seeds(5), **arguments)


def test_the_first_weights_are_those_of_the_seed(toy_task) -> None:
    method = ready(toy_task).method
    batch = full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
    expected = create_method("lnp-v2", CONFIG, batch, Seeds(5).generator("initialisation"))
    for name, value in expected.state_dict().items():
        assert torch.equal(value, method.state_dict()[name]), name


def test_the_batches_are_of_the_kind_asked_for_and_see_the_labels(toy_task) -> None:
    whole, parts = ready(toy_task), ready(toy_task, batching=Batching(kind="neighbours", size=16))
    assert type(whole.feed) is FullFeed
    assert type(parts.feed) is NeighbourFeed
    for one in (whole, parts):
        np.testing.assert_array_equal(one.feed.batch.trusted, toy_task.observed.trusted_nodes)


def test_features_that_were_scaled_count_twice(toy_task) -> None:
    """Bytes of the estimate: with another matrix of features beside it, larger by about that matrix."""
    scaled = toy_task.graph.with_features(np.asarray(toy_task.graph.features) * np.float32(2))
    once, twice = (ready(toy_task, scaled, original=one).needed for one in (scaled, toy_task.graph))
    assert twice - once == pytest.approx(np.asarray(scaled.features).nbytes, rel=0.5)


def test_in_parts_nothing_is_foretold_of_a_full_batch(toy_task) -> None:
    assert ready(toy_task, batching=Batching(kind="neighbours", size=16)).needed == 0
    assert ready(toy_task).needed > 0


def test_what_cannot_fit_is_refused_before_anything_is_built(toy_task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lnp.engine.memory.WORTH_SAYING", 0)
    monkeypatch.setenv(LIMIT, "1KB")
    monkeypatch.setattr("lnp.engine.set_up.create_method", lambda *_: pytest.fail("was built"))
    with pytest.raises(ConfigError, match="memory"):
        ready(toy_task)
