"""A small graph by name, and a runner that keeps standard output and standard error apart."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from typer.testing import CliRunner, Result

from lnp.cli.main import app

Call = Callable[..., Result]


@pytest.fixture
def call() -> Call:
    def invoke(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return invoke


@pytest.fixture
def small() -> list[str]:
    """Options of ``lnp train`` for a run of a fraction of a second."""
    graph = "synthetic:nodes=90,classes=3,features=8,mean_degree=6"
    return ["--dataset", graph, "--rate", "0.3", "--trusted", "9", "--epochs", "4", "--set", "hidden=8"]
