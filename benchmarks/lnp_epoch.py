"""One LNP or channel epoch with its evaluation: against a GCN epoch, and against the same on dense matrices."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import torch
from timing import Row, Step, measure
from torch import Tensor

from lnp.engine.checkpoint import Position
from lnp.engine.feed import FullFeed, predict
from lnp.engine.fit import FitOptions, _StageLoop
from lnp.engine.history import History
from lnp.engine.selection import Selection
from lnp.experiments.run import peak_rss_mib
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.graph.split import Split, choose_trusted, sequential_split
from lnp.methods.batch import Batch, full_batch
from lnp.methods.channel.config import CANDIDATES
from lnp.methods.registry import create_method, make_config
from lnp.nn.graph_tensors import GraphTensors
from lnp.seeds import Seeds

DENSE_TARGETS = {"cora": 12}
"""How many times faster than dense adjacency and features an LNP epoch has to be."""
GCN_EPOCH_TARGETS = {"pubmed": 4.2, "squirrel": 4.2}
"""How many GCN epochs an LNP epoch may cost."""
CHANNEL_TARGET = 1.3
"""How many GCN epochs an epoch of lnp-channel may cost."""
MEMORY_TARGET_MIB = {"pubmed": 1536}
"""Peak memory with the exact contrastive loss."""


class DenseGraphTensors(GraphTensors):
    """The same graph as dense matrices, as the public code holds it."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        features = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
        self.features = torch.from_numpy(features)
        self._dense: dict[str, Tensor] = {}

    def propagation(self, kind: str) -> Tensor:  # type: ignore[override]
        """S as a dense matrix."""
        if kind not in self._dense:
            self._dense[kind] = super().propagation(kind) @ torch.eye(self.node_count)
        return self._dense[kind]


def epoch_step(name: str, batch: Batch, selection: Selection, *, stage: int = 0, **options: object) -> Step:
    """One epoch of a stage as the engine runs it: update, prediction of all nodes, score."""
    seeds = Seeds(0)
    config = make_config(name, {"hidden": 64, **options})
    method = create_method(name, config, batch, seeds.generator("initialisation"))
    stages = method.stages(batch)
    if not stages:  # nothing is trained: an epoch is a prediction
        return lambda: predict(method, batch)
    randomness = seeds.randomness()
    begin = stages[stage].begin
    if begin is not None:
        begin(batch, randomness)
    loop = _StageLoop(method, FullFeed(batch), stages[stage], selection, randomness, History(), Position())
    loop._create_optimisers()
    nothing = FitOptions()
    return lambda: loop._train_one_epoch(nothing)


def task(graph: Graph, truth: np.ndarray) -> tuple[ObservedLabels, Split, Selection]:
    """Labels as in the protocol ``paper``; their noise does not matter for time."""
    split = sequential_split(truth)
    trusted = choose_trusted(
        truth, split.validation, Seeds(0).generator("trusted"), size=25, class_count=graph.class_count
    )
    mask = np.isin(np.arange(truth.size), trusted)
    given = np.where(np.isin(np.arange(truth.size), split.train) | mask, truth, -1)
    observed = ObservedLabels(given, mask, class_count=graph.class_count)
    rest = np.setdiff1d(split.validation, trusted)
    return observed, split, Selection("val-clean", rest, truth[rest])


def lnp_rows(graph: Graph, truth: np.ndarray) -> list[Row]:
    """LNP-v1 and v2 against GCN, and v2 against its dense form where that fits."""
    observed, split, selection = task(graph, truth)
    batch = full_batch(graph, observed, split.train)
    steps = {name: epoch_step(name, batch, selection) for name in ("gcn", "lnp-v1", "lnp-v2")}
    if graph.name in DENSE_TARGETS:
        dense = Batch(DenseGraphTensors(graph), batch.given, batch.noisy, batch.trusted, batch.class_count)
        steps["dense"] = epoch_step("lnp-v2", dense, selection)
    taken = measure(steps)
    target = GCN_EPOCH_TARGETS.get(graph.name)
    rows = [
        Row(graph.name, "GCN epoch with evaluation", taken["gcn"]),
        Row(graph.name, "LNP-v1 epoch / GCN epoch", taken["lnp-v1"], taken["lnp-v1"] / taken["gcn"], target, True),
        Row(graph.name, "LNP-v2 epoch / GCN epoch", taken["lnp-v2"], taken["lnp-v2"] / taken["gcn"], target, True),
    ]
    if "dense" in taken:
        ratio = taken["dense"] / taken["lnp-v2"]
        rows.append(Row(graph.name, "LNP-v2 epoch, dense / ours", taken["dense"], ratio, DENSE_TARGETS[graph.name]))
    return rows


def channel_rows(graph: Graph, truth: np.ndarray) -> list[Row]:
    """lnp-channel against GCN: epochs in which T is learned, and epochs of the last stage, with each variant."""
    observed, split, selection = task(graph, truth)
    batch = full_batch(graph, observed, split.train)
    stages = {"T is learned": 0, "last stage": -1}
    steps = {"gcn": epoch_step("gcn", batch, selection)}
    for variant in CANDIDATES:
        for name, number in stages.items():
            steps[f"{name}, {variant}"] = epoch_step("lnp-channel", batch, selection, stage=number, variant=variant)
    taken = measure(steps)
    gcn = taken.pop("gcn")
    return [
        Row(graph.name, f"lnp-channel epoch ({name}) / GCN epoch", one, one / gcn, CHANNEL_TARGET, True)
        for name, one in taken.items()
    ]


def memory_rows(graph: Graph, truth: np.ndarray) -> list[Row]:
    """Peak memory of an LNP-v2 epoch with the exact contrastive loss, in a process of its own."""
    if graph.name not in MEMORY_TARGET_MIB:
        return []
    command = [sys.executable, __file__, graph.name]
    peak = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return [Row(graph.name, "LNP-v2 exact contrastive, MiB", peak, peak, MEMORY_TARGET_MIB[graph.name], True)]


def main(name: str) -> None:
    """Runs one exact epoch and prints the peak memory of this process."""
    from speed import load

    torch.set_num_threads(1)
    graph, truth = load(name)
    observed, split, selection = task(graph, truth)
    epoch_step("lnp-v2", full_batch(graph, observed, split.train), selection, negatives=0, lambda_3=1.0)()
    print(peak_rss_mib())


if __name__ == "__main__":
    main(sys.argv[1])
