"""Speed, as ratios within one run: what our networks take against a reference that computes the same.

Run it with ``make bench``, or ``python benchmarks/speed.py cora squirrel`` for some graphs only. Everything runs in one
thread. Contestants take turns step by step and the median counts, so a busy machine disturbs all of them alike; the
ratio, not the milliseconds, is the result. Graphs that are not at hand are left out (``LNP_DATA`` names their folder).
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch start their threads

import sys
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from lnp_epoch import channel_rows, lnp_rows, memory_rows
from rich.console import Console
from rich.table import Table
from timing import Row, Step, measure
from torch import Tensor, nn
from torch_geometric.nn import GCNConv

from lnp.datasets.catalog import list_datasets, load_dataset
from lnp.graph.features import scale_features
from lnp.graph.graph import Graph
from lnp.losses.cross_entropy import cross_entropy
from lnp.nn.backbone import BackboneSpec
from lnp.nn.gcn import GCN
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.sparse import Multiplier
from lnp.seeds import Seeds

GRAPHS = ("cora", "citeseer", "pubmed", "chameleon", "squirrel", "actor")
HIDDEN = 64
DROPOUT = 0.5
TRAIN_SHARE = 0.4
GCN_TARGETS = {"cora": 4, "citeseer": 4, "pubmed": 2, "chameleon": 4, "squirrel": 15, "actor": 4}
"""How many times faster than PyG's GCNConv one training step has to be."""


def load(name: str) -> tuple[Graph, np.ndarray]:
    """A graph with row-scaled features, sparse where they are published so, and its labels."""
    dataset = load_dataset(name)
    return scale_features(dataset.graph, "row"), dataset.truth.labels


class PyGNetwork(nn.Module):
    """Two layers of PyG's GCNConv on ``edge_index`` with dense features: the same function as our GCN."""

    def __init__(self, inputs: int, outputs: int, *, cached: bool) -> None:
        super().__init__()
        self.first = GCNConv(inputs, HIDDEN, cached=cached)
        self.second = GCNConv(HIDDEN, outputs, cached=cached)

    def forward(self, features: Tensor, edges: Tensor) -> Tensor:
        """The outputs Z."""
        hidden = F.dropout(self.first(features, edges).relu(), DROPOUT, self.training)
        outputs: Tensor = self.second(hidden, edges)
        return outputs


def training_step(network: nn.Module, outputs: Callable[[], Tensor], nodes: Tensor, labels: Tensor) -> Step:
    """Forward, cross entropy on the training nodes, backward, Adam: the same for every contestant."""
    adam = torch.optim.Adam(network.parameters(), lr=0.01, weight_decay=5e-4, fused=True)
    network.train()

    def step() -> None:
        loss = cross_entropy(outputs()[nodes], labels).mean()
        adam.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()

    return step


def gcn_rows(graph: Graph, truth: np.ndarray) -> list[Row]:
    """One GCN training step: ours, PyG's as people use it, and PyG's with the normalisation cached."""
    seeds = Seeds(0)
    tensors, stream = GraphTensors(graph), seeds.generator("dropout")
    spec = BackboneSpec(inputs=graph.feature_count, outputs=graph.class_count, hidden=HIDDEN, dropout=DROPOUT)
    ours = GCN(spec, seeds.generator("initialisation"))
    plain = PyGNetwork(graph.feature_count, graph.class_count, cached=False)
    cached = PyGNetwork(graph.feature_count, graph.class_count, cached=True)
    edges = torch.from_numpy(np.concatenate([graph.edges, graph.edges[::-1]], axis=1))
    features = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
    dense = torch.from_numpy(features)
    _check_agreement(ours, plain, tensors, dense, edges)
    order = seeds.generator("split").permutation(graph.node_count)
    nodes = torch.from_numpy(np.sort(order[: int(TRAIN_SHARE * graph.node_count)]))
    labels = torch.from_numpy(truth)[nodes]
    taken = measure(
        {
            "ours": training_step(ours, lambda: ours(tensors, stream), nodes, labels),
            "PyG": training_step(plain, lambda: plain(dense, edges), nodes, labels),
            "PyG, cached": training_step(cached, lambda: cached(dense, edges), nodes, labels),
        }
    )
    target = GCN_TARGETS.get(graph.name)
    return [
        Row(graph.name, "GCN step, ours", taken["ours"]),
        Row(graph.name, "GCN step, PyG", taken["PyG"], taken["PyG"] / taken["ours"], target),
        Row(graph.name, "GCN step, PyG cached", taken["PyG, cached"], taken["PyG, cached"] / taken["ours"]),
    ]


@torch.no_grad()
def _check_agreement(ours: GCN, theirs: PyGNetwork, tensors: GraphTensors, dense: Tensor, edges: Tensor) -> None:
    """Stops unless both networks compute the same from the same weights: else there is nothing to compare."""
    for layer, convolution in zip(ours.layers, (theirs.first, theirs.second), strict=True):
        convolution.lin.weight.copy_(layer.weight.T)
        convolution.bias.copy_(layer.bias)
    difference = (ours.eval()(tensors) - theirs.eval()(dense, edges)).abs().max().item()
    if difference > 1e-4:
        raise SystemExit(f"The two networks differ by {difference:g} on the same weights; the timing means nothing.")


def two_hop_rows(graph: Graph, _: np.ndarray) -> list[Row]:
    """A product with the two-hop matrix of H2GCN and its gradient: twins counted once, and every entry by itself."""
    tensors = GraphTensors(graph)
    dense = torch.randn(graph.node_count, HIDDEN, requires_grad=True)

    def step(matrix: Multiplier) -> Step:
        return lambda: torch.autograd.grad((matrix @ dense).square().sum(), dense)

    taken = measure({"ours": step(tensors.two_hop("two-hop")), "whole": step(tensors.propagation("two-hop"))})
    return [
        Row(graph.name, "two-hop product, ours", taken["ours"]),
        Row(graph.name, "two-hop product, whole", taken["whole"], taken["whole"] / taken["ours"]),
    ]


SECTIONS = [gcn_rows, two_hop_rows, lnp_rows, channel_rows, memory_rows]
"""Each takes a graph and its labels and gives rows; add a function here to add a section."""


def main(names: list[str]) -> None:
    """Prints the table."""
    torch.set_num_threads(1)
    at_hand = {row.name for row in list_datasets() if row.available}
    console = Console(width=100)
    table = Table("graph", "what", "ms", "times ours", "target", "", title="Median time, one thread")
    for name in names or GRAPHS:
        if name not in at_hand:
            console.print(f"{name} is not at hand (set LNP_DATA to the folder of the graphs); left out.")
            continue
        loaded = load(name)
        for row in (row for section in SECTIONS for row in section(*loaded)):
            ratio = "" if row.ratio is None else f"{row.ratio:.1f}"
            target = "" if row.target is None else f"{'≤' if row.at_most else '≥'} {row.target:g}"
            table.add_row(row.graph, row.what, f"{row.milliseconds:.2f}", ratio, target, row.mark)
        table.add_section()
    console.print(table)


if __name__ == "__main__":
    main(sys.argv[1:])
