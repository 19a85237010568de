"""Nodes with the same neighbours as a training node: how many there are, and how much easier they are.

``python benchmarks/twins.py [GRAPH …]`` prints a table for the protocol ``paper``: the share of validation and of test
nodes that have a twin among the training nodes, how often a twin has the same true label, and on validation nodes the
accuracy of methods as tuned, with and without a twin (uniform-mix 0.2, mean of two seeds).
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch start their threads

import sys

import numpy as np
import torch

from lnp.datasets.catalog import load_dataset
from lnp.datasets.dataset import Dataset
from lnp.experiments.configs import shipped_config
from lnp.experiments.run import run
from lnp.experiments.spec import RunSpec
from lnp.graph.split import sequential_split
from lnp.graph.twins import have_twin

GRAPHS = ("cora", "citeseer", "chameleon", "squirrel", "actor")
METHODS = ("gcn", "lnp-v1", "lnp-v2", "lnp-channel")
NOISE, RATE, SEEDS = "uniform-mix", 0.2, range(2)


def alike(dataset: Dataset, nodes: np.ndarray, among: np.ndarray) -> float:
    """How often a node and a twin of it among others have the same true label, over all such pairs."""
    truth, links = dataset.truth.labels, dataset.graph.adjacency
    by_neighbours: dict[bytes, list[int]] = {}
    for node in among:
        key = np.sort(links.indices[links.indptr[node] : links.indptr[node + 1]]).tobytes()
        by_neighbours.setdefault(key, []).append(int(truth[node]))
    pairs = [
        truth[node] == label
        for node in nodes
        for label in by_neighbours[np.sort(links.indices[links.indptr[node] : links.indptr[node + 1]]).tobytes()]
    ]
    return float(np.mean(pairs)) if pairs else float("nan")


def accuracy(graph: str, method: str) -> str:
    """On validation nodes with and without a twin, as a cell of the table."""
    options = shipped_config(method, graph, NOISE, RATE, protocol="paper") or {}
    found = []
    for seed in SEEDS:
        spec = RunSpec(
            dataset=graph, method=method, noise=NOISE, rate=RATE, protocol="paper", seed=seed, options=options
        )
        outcome = run(spec)
        chosen = outcome.task.selection
        right = outcome.result.probabilities[chosen.nodes].argmax(1).numpy() == chosen.labels
        twins = have_twin(outcome.task.graph, chosen.nodes, outcome.task.split.train)
        found.append((right[twins].mean(), right[~twins].mean()))
    with_twin, without = 100 * np.mean(found, axis=0)
    return f"{with_twin:.0f} / {without:.0f}"


def main(graphs: list[str]) -> None:
    """Prints the table."""
    torch.set_num_threads(1)
    print(f"| graph | validation | test | same label | {' | '.join(METHODS)} |")
    print(f"|---|---:|---:|---:|{'---:|' * len(METHODS)}")
    for graph in graphs:
        dataset = load_dataset(graph)
        split = sequential_split(dataset.truth.labels)
        shares = [have_twin(dataset.graph, nodes, split.train) for nodes in (split.validation, split.test)]
        same = alike(dataset, split.validation[shares[0]], split.train)
        cells = " | ".join(accuracy(graph, method) for method in METHODS)
        first, second = (f"{100 * one.mean():.0f} %" for one in shares)
        print(f"| {graph} | {first} | {second} | {100 * same:.0f} % | {cells} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or list(GRAPHS))
