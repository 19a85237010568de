"""A table of tiny runs and a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lnp.experiments.grid import Choice
from lnp.experiments.jobs import Job
from lnp.experiments.reproduce import make_plan
from lnp.experiments.store import Store
from lnp.experiments.tables import Table, parse_table

GRAPH = "synthetic:nodes=60,classes=3,features=8,mean_degree=6"

TINY = """
title = "tiny"
source = "a test"
seeds = {seeds}
[protocols]
paper = {{ protocol = "random" }}
strict = {{ protocol = "random", selection = "trusted" }}
[[panel]]
noise = "flip"
datasets = ["{graph}"]
rates = [0.2, 0.4]
methods = ["clean-only", "joint"]
trusted_sizes = [9]
[panel.variants]
short = {{ epochs = {epochs}, hidden = 4 }}
"""

MakeTable = Callable[..., Table]


@pytest.fixture
def tiny() -> MakeTable:
    """Makes a table of 4 × seeds runs."""

    def make(seeds: int = 1, epochs: int = 2) -> Table:
        return parse_table("tiny", TINY.format(seeds=seeds, epochs=epochs, graph=GRAPH))

    return make


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "runs.sqlite") as opened:
        yield opened


@pytest.fixture
def jobs(tiny: MakeTable, store: Store) -> Callable[..., list[Job]]:
    """Makes 4 × seeds jobs."""

    def make(seeds: int = 1, epochs: int = 2) -> list[Job]:
        return make_plan([tiny(seeds, epochs)], Choice(), store).jobs

    return make
