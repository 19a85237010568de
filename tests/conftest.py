"""Small things that many tests need: the folder with published graphs, a hand-made graph, a noisy task."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch

from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.graph.graph import Graph
from lnp.graph.labels import UNKNOWN, ObservedLabels, Truth
from lnp.graph.split import Split, choose_trusted, random_split
from lnp.seeds import Seeds

# Sums of several threads round in another order, so tests that compare bits across processes need one, however they are
# started.
torch.set_num_threads(1)


class ToyTask(NamedTuple):
    """Everything a run needs, small: what a method sees, and the truth it does not."""

    graph: Graph
    observed: ObservedLabels
    split: Split
    truth: Truth


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder that ``LNP_DATA`` names; the test is skipped where there is none. Mark such tests ``data``."""
    folder = os.environ.get("LNP_DATA", "")
    if not folder:
        pytest.skip("needs the published graphs: LNP_DATA is not set")
    if not Path(folder).is_dir():
        pytest.skip(f"needs the published graphs: LNP_DATA names {folder}, which is no folder")
    return Path(folder)


@pytest.fixture
def tiny_graph() -> Graph:
    """Seven nodes, two features, three classes; node 6 is isolated.

    ::

        0 ─ 1     4
        │ ╱     ╱ │        labels that suit it: 0 0 0 1 1 2 2
        2 ── 3 ── 5     6
    """
    edges = [[0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5]]
    features = np.array([[1, 0], [0.5, 0.5], [1, 1], [0, 2], [-1, 1], [0, -1], [3, 0]])
    return Graph.from_edges(edges, features, class_names=("red", "green", "blue"), name="tiny")


@pytest.fixture
def toy_task() -> ToyTask:
    """60 nodes in three classes, split 4:4:2; the given labels of training and validation nodes are wrong for
    three in ten, two trusted nodes per class come from validation, test nodes have no given label.
    """
    seeds = Seeds(0)
    config = SyntheticConfig(nodes=60, classes=3, mean_degree=6, homophily=0.8, features=8, signal=2.0)
    dataset = synthetic(config, seeds.generator("graph"))
    labels = dataset.truth.labels
    split = random_split(labels, seeds.generator("split"))
    trusted = choose_trusted(labels, split.validation, seeds.generator("trusted"), size=6, class_count=3)
    noise = seeds.generator("noise")
    given = labels.copy()
    for part in (split.train, np.setdiff1d(split.validation, trusted)):
        wrong = noise.choice(part, round(0.3 * part.size), replace=False)
        given[wrong] = (labels[wrong] + noise.integers(1, 3, wrong.size)) % 3
    given[split.test] = UNKNOWN
    mask = np.isin(np.arange(labels.size), trusted)
    return ToyTask(dataset.graph, ObservedLabels(given, mask, class_count=3), split, dataset.truth)
