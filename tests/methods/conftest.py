"""What tests of several methods do."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from lnp.engine.fit import FitOptions, fit
from lnp.engine.history import EpochRecord
from lnp.engine.selection import Selection
from lnp.graph.graph import Graph
from lnp.methods.base import Method
from lnp.methods.batch import Batch, full_batch
from lnp.seeds import Seeds


class StoppedError(Exception):
    """Where a run is stopped."""


@pytest.fixture
def lonely_batch(toy_task: Any) -> Batch:
    """The toy graph with a node 5 that has neither links nor features."""
    adjacency, features = toy_task.graph.adjacency.toarray(), toy_task.graph.features.copy()
    adjacency[5] = adjacency[:, 5] = features[5] = 0
    graph = Graph.from_edges(np.argwhere(np.triu(adjacency)).T, features, class_count=3)
    return full_batch(graph, toy_task.observed, toy_task.split.train)


@pytest.fixture
def dense_gcn() -> Callable[..., torch.Tensor]:
    """The outputs of a two-layer GCN on a graph of given weights, from whole matrices in double precision."""

    def outputs(network: Any, batch: Batch, weights: np.ndarray) -> torch.Tensor:
        looped = weights + np.eye(len(weights))
        root = 1 / np.sqrt(looped.sum(axis=1))
        S = root[:, None] * looped * root
        (w0, b0), (w1, b1) = (
            [parameter.detach().double().numpy() for parameter in (layer.weight, layer.bias)]
            for layer in network.layers
        )
        return torch.from_numpy(S @ np.maximum(S @ batch.graph.graph.features @ w0 + b0, 0) @ w1 + b1)

    return outputs


@pytest.fixture
def goes_on_alike(tmp_path: Path) -> Callable[..., None]:
    """Stops a run, goes on from its checkpoint, and compares every bit with a run that was not stopped."""

    def check(
        build: Callable[[], Method],
        batch: Batch,
        selection: Selection,
        stop: int | tuple[str, int],
        *,
        checkpoint_every: int = 1,
    ) -> None:
        """``stop``: the epoch that is not finished, from 0 (from −1 for the last), or the name of a stage and its."""
        whole = build()
        expected = fit(whole, batch, selection, Seeds(1).randomness())
        number, count = stop % expected.epochs if isinstance(stop, int) else -1, 0

        def interrupt(record: EpochRecord, epochs: int) -> None:
            nonlocal count
            if count == number or (record.stage, record.epoch) == stop:
                raise StoppedError
            count += 1

        options = FitOptions(checkpoint=tmp_path / "run", checkpoint_every=checkpoint_every, on_epoch=interrupt)
        with pytest.raises(StoppedError):
            fit(build(), batch, selection, Seeds(1).randomness(), options)
        resumed = build()
        others = Seeds(99).randomness()  # the streams to go on with are those of the checkpoint
        result = fit(resumed, batch, selection, others, dataclasses.replace(options, on_epoch=None))
        assert torch.equal(result.probabilities, expected.probabilities)
        assert result.history.to_json() == expected.history.to_json()
        for name, value in whole.state_dict().items():
            assert torch.equal(resumed.state_dict()[name], value), name

    return check
