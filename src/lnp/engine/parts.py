"""Feeds that give a graph in parts: own nodes with sampled neighbours, or clusters with their links.

Training sees parts; prediction never does. It goes over the whole graph layer by layer, with every neighbour
(:mod:`lnp.nn.layerwise`), and so does the look at the whole graph with which an epoch begins.

BatchNorm (in an MLP, and in H2GCN from two rounds on) is the one thing that a part computes otherwise: its means are
over the part's rows at that depth, neighbours included, and evaluation uses their running means.

Trusted nodes are few and what they say counts for much. Left to chance, a part would have one or none of them, and the
gradient of their loss would be that of a single node. Where neighbours are sampled they therefore visit every part (in
turn, where they are many); each counts once an epoch, as if it were in one part.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnp.engine.across_parts import AcrossParts, WholeGraph
from lnp.engine.feed import OneProcess, predict
from lnp.errors import ConfigError
from lnp.graph.graph import sorted_csr
from lnp.methods.base import Method
from lnp.methods.batch import Batch
from lnp.methods.config import MethodConfig
from lnp.nn.clusters import clusters_of
from lnp.nn.graph_part import GraphPart
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.hops import HopRows, stored_hops
from lnp.nn.layerwise import Layerwise
from lnp.nn.registry import BACKBONES
from lnp.nn.sampling import NeighbourSampler
from lnp.seeds import Generator, Randomness

__all__ = ["ClusterFeed", "NeighbourFeed", "PartsFeed"]

Numbers = NDArray[np.int64]


class PartsFeed(OneProcess, ABC):
    """A graph in parts.

    Args:
        batch: The whole graph, on a :class:`~lnp.nn.layerwise.Layerwise` graph.
        config: The method's configuration, which says what a network reads.
    """

    def __init__(self, batch: Batch, config: MethodConfig) -> None:
        assert isinstance(batch.graph, Layerwise)
        self.batch = batch
        self.whole = batch.graph
        self.config = config
        self._hops: NDArray[np.float32] | None = None
        self._noisy = _mask(batch.noisy, batch.node_count)
        self._trusted = _mask(batch.trusted, batch.node_count)

    @abstractmethod
    def divide(self, nodes: Numbers, generator: Generator) -> list[Numbers]:
        """The own nodes of each part of an epoch in which the losses run over ``nodes``."""

    @abstractmethod
    def part(self, own: Numbers, generator: Generator) -> tuple[GraphTensors, Numbers]:
        """What networks see of the part with these own nodes, and which node each row is, own nodes first."""

    def visitors(self, parts: int, generator: Generator) -> list[Numbers]:
        """Trusted nodes that take part in each part, wherever they belong."""
        return [np.zeros(0, np.int64)] * parts

    def epoch(self, method: Method, randomness: Randomness, nodes: str = "all") -> Iterator[Batch]:
        """The parts of one epoch."""
        method.check_parts()
        parts = self.divide(self._of_kind(nodes), randomness.sampling)
        visitors = [np.zeros(0, np.int64)] * len(parts)
        if nodes in ("all", "labelled") and len(parts) > 1:
            visitors = self.visitors(len(parts), randomness.sampling)
            visitors = [np.setdiff1d(guests, own) for guests, own in zip(visitors, parts, strict=True)]
        method.eval()
        with torch.no_grad():
            remembered = method.remember(self.batch)
        whole = WholeGraph(self.batch, len(parts), remembered)
        guests_of_all = np.concatenate([np.zeros(0, np.int64), *visitors])
        times = 1 + np.bincount(guests_of_all, minlength=self.batch.node_count)
        weights = torch.from_numpy((1 / times).astype(np.float32)).to(self.whole.device)
        for own, guests in zip(parts, visitors, strict=True):
            yield self._batch(own, guests, whole, weights, randomness.sampling)

    def predict(self, method: Method) -> Tensor:
        """Layer by layer over the whole graph."""
        return predict(method, self.batch)

    def _of_kind(self, kind: str) -> Numbers:
        batch = self.batch
        rows = {
            "noisy": lambda: batch.noisy,
            "trusted": lambda: batch.trusted,
            "labelled": lambda: (batch.given >= 0).nonzero().squeeze(1),
            "outside-noisy": lambda: batch.outside_noisy,
            "all": lambda: torch.arange(batch.node_count),
        }[kind]()
        return np.sort(rows.cpu().numpy())

    def _batch(self, own: Numbers, guests: Numbers, whole: WholeGraph, weights: Tensor, generator: Generator) -> Batch:
        present = np.concatenate([own, guests])
        graph, numbers = self._rows(present) if self.config.backbone == "sign" else self.part(present, generator)
        device, batch = self.batch.given.device, self.batch
        nodes = torch.from_numpy(numbers).to(device)
        mine = nodes[: present.size]
        given = torch.full((numbers.size,), -1, dtype=torch.int64, device=device)
        given[: present.size] = batch.given[mine]
        trusted = self._trusted[mine].nonzero().squeeze(1)
        return Batch(
            graph=graph,
            given=given,
            noisy=self._noisy[mine[: own.size]].nonzero().squeeze(1),
            trusted=trusted,
            class_count=batch.class_count,
            nodes=nodes,
            own=own.size,
            across=AcrossParts(whole, mine, weights[mine[trusted]]),
        )

    def _rows(self, own: Numbers) -> tuple[GraphTensors, Numbers]:
        """Rows of hops need no neighbours."""
        if self._hops is None:
            kind = self.config.propagation
            self._hops = stored_hops(self.whole.graph, kind, self.config.layers).checked()
        rows = torch.from_numpy(np.stack([hop[own] for hop in self._hops])).to(self.whole.device)
        return HopRows(rows, self.config.propagation), own  # type: ignore[return-value]


class NeighbourFeed(PartsFeed):
    """Own nodes with sampled neighbours.

    Args:
        batch: The whole graph.
        config: The method's configuration.
        size: Own nodes of a part, at most.
        fan_out: Neighbours drawn per node: one number for every layer from the last to the first, or one for all;
            ``None`` takes all neighbours.
    """

    def __init__(self, batch: Batch, config: MethodConfig, size: int, fan_out: Sequence[int | None]) -> None:
        super().__init__(batch, config)
        layers = config.layers if BACKBONES[config.backbone].propagates else 0
        if len(fan_out) not in (1, config.layers):
            raise ConfigError(
                f"Expected `fan_out` to be one number or as many as there are layers ({config.layers}), but got "
                f"{len(fan_out)}."
            )
        counts = list(fan_out) * layers if len(fan_out) == 1 else list(fan_out)[:layers]
        self.first: Tensor | None = None
        if config.backbone == "gcn":
            width = config.hidden if config.layers > 1 else batch.class_count
            self.first = self.whole.propagated(config.propagation, width)
        if self.first is not None:
            counts.pop()  # what the outermost neighbours would be asked for is known
        self.size = size
        self.sampler = NeighbourSampler(self.whole.graph.adjacency, counts, two_hop=config.backbone == "h2gcn")

    def divide(self, nodes: Numbers, generator: Generator) -> list[Numbers]:
        """Random sets of nodes, each node in one; all in their order where one set is enough."""
        count = -(-nodes.size // self.size)
        return [nodes] * count if count < 2 else np.array_split(generator.permutation(nodes), count)

    def visitors(self, parts: int, generator: Generator) -> list[Numbers]:
        """All of T_C, or a quarter of the batch size in turn where there are more."""
        trusted, most = self.batch.trusted.cpu().numpy(), max(1, self.size // 4)
        if trusted.size <= most:
            return [trusted] * parts
        turns = np.resize(generator.permutation(trusted), parts * most)
        return [np.sort(turn) for turn in np.split(turns, parts)]

    def part(self, own: Numbers, generator: Generator) -> tuple[GraphTensors, Numbers]:
        """The own nodes and the neighbours that were drawn for them."""
        sampled, whole = self.sampler.sample(own, generator), self.whole
        first = None if self.first is None else self.first[torch.from_numpy(sampled.nodes).to(whole.device)]
        return GraphPart(whole.graph, whole.scales, sampled, whole.device, first=first), sampled.nodes


class ClusterFeed(PartsFeed):
    """Several clusters, drawn anew in every epoch, with all links within and between them (Cluster-GCN).

    A part is a graph of its own: degrees are counted within it. Its own nodes are all its nodes.

    Reference: Chiang et al., *Cluster-GCN: an efficient algorithm for training deep and large graph convolutional
    networks*, KDD 2019.

    Args:
        batch: The whole graph.
        config: The method's configuration.
        clusters: Number of clusters that METIS cuts the graph into.
        together: Clusters of a part, at most.
    """

    def __init__(self, batch: Batch, config: MethodConfig, clusters: int, together: int) -> None:
        super().__init__(batch, config)
        self.together = together
        self.clusters = clusters_of(self.whole.graph.adjacency, clusters)
        self._cluster = np.empty(batch.node_count, np.int64)
        for number, nodes in enumerate(self.clusters):
            self._cluster[nodes] = number

    def divide(self, nodes: Numbers, generator: Generator) -> list[Numbers]:
        """Random sets of the clusters that have any of the nodes."""
        chosen = np.unique(self._cluster[nodes])
        count = -(-chosen.size // self.together)
        sets = [chosen] * count if count < 2 else np.array_split(generator.permutation(chosen), count)
        return [np.sort(np.concatenate([self.clusters[number] for number in numbers])) for numbers in sets]

    def part(self, own: Numbers, generator: Generator) -> tuple[GraphTensors, Numbers]:
        """The graph that these nodes make."""
        whole = self.whole.graph
        links = sorted_csr(whole.adjacency[own][:, own])
        within = replace(whole, adjacency=links, features=whole.features[own], node_ids=None)
        return GraphTensors(within, self.whole.device), own


def _mask(nodes: Tensor, count: int) -> Tensor:
    mask = torch.zeros(count, dtype=torch.bool, device=nodes.device)
    mask[nodes] = True
    return mask
