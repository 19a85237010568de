"""A toy batch for the channel model."""

from __future__ import annotations

import pytest

from lnp.methods.batch import Batch, full_batch


@pytest.fixture
def batch(toy_task) -> Batch:  # type: ignore[no-untyped-def]
    return full_batch(toy_task.graph, toy_task.observed, toy_task.split.train)
