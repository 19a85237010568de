"""How a run cuts its graph into batches: read, checked and written as text, so that it can be recorded with the run.

======================================  =====================================================================
``full``                                the whole graph in every step
``neighbours:size=1024,fan_out=10/10``  1,024 nodes with up to 10 neighbours each, and 10 of each of these
``clusters:count=1000,together=20``     20 of 1,000 clusters that METIS cuts the graph into
======================================  =====================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from lnp.datasets.options import parse_name
from lnp.engine.feed import Feed, FullFeed
from lnp.engine.parts import ClusterFeed, NeighbourFeed
from lnp.errors import ConfigError, UnknownNameError, check_choice
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.methods.batch import full_batch
from lnp.methods.config import MethodConfig
from lnp.methods.registry import METHODS, entry
from lnp.nn.layerwise import Layerwise

__all__ = ["BATCHES", "Batching", "check_in_parts", "make_feed"]

BATCHES = ("full", "neighbours", "clusters")
"""The kinds of batches."""

CLUSTER_NODES = 160
"""Nodes of a cluster where their number is not given; with 20 clusters to a part, what the Cluster-GCN paper uses."""

OPTIONS = {"full": (), "neighbours": ("size", "fan_out"), "clusters": ("count", "together")}


@dataclass(frozen=True, kw_only=True)
class Batching:
    """How a graph is cut.

    Args:
        kind: One of :data:`BATCHES`.
        size: Own nodes of a batch of neighbours.
        fan_out: Neighbours drawn per node, one number for every layer from the last to the first or one for all;
            ``None`` for all neighbours.
        count: Number of clusters; ``None`` for one to about 160 nodes.
        together: Clusters of a batch.
    """

    kind: str = "full"
    size: int = 1024
    fan_out: tuple[int | None, ...] = (10,)
    count: int | None = None
    together: int = 20

    def __post_init__(self) -> None:
        check_choice("batch", self.kind, BATCHES)
        numbers = {"size": self.size, "count": self.count, "together": self.together}
        for name, value in [*numbers.items(), *(("fan_out", value) for value in self.fan_out)]:
            if value is not None and value < 1:
                raise ConfigError(f"Expected `{name}` of the batches to be at least 1, but got {value}.")
        if not self.fan_out:
            raise ConfigError("Expected `fan_out` to be one number or one for every layer, but got none.")

    @classmethod
    def parse(cls, text: str) -> Batching:
        """From text, for instance of a record.

        >>> Batching.parse("neighbours:size=512,fan_out=10/all").fan_out
        (10, None)
        """
        kind, given = parse_name(text)
        check_choice("batch", kind, BATCHES)
        values: dict[str, object] = {}
        for name, value in given.items():
            if name not in OPTIONS[kind]:
                raise UnknownNameError(f"option of {kind}", name, OPTIONS[kind])
            if name == "fan_out":
                values[name] = tuple(None if one == "all" else _whole(name, one) for one in value.split("/"))
            elif not (name == "count" and value == "auto"):
                values[name] = _whole(name, value)
        return cls(kind=kind, **values)  # type: ignore[arg-type]

    @property
    def text(self) -> str:
        """The same as text, every option of the kind written out.

        >>> Batching(kind="neighbours").text
        'neighbours:size=1024,fan_out=10'
        """
        written = {
            "size": self.size,
            "fan_out": "/".join("all" if one is None else str(one) for one in self.fan_out),
            "count": "auto" if self.count is None else self.count,
            "together": self.together,
        }
        options = ",".join(f"{name}={written[name]}" for name in OPTIONS[self.kind])
        return f"{self.kind}:{options}" if options else self.kind


def check_in_parts(name: str) -> None:
    """Raises unless the method of that name can be trained on parts of the graph."""
    if not entry(name).method.in_parts:
        able = ", ".join(sorted(other for other, row in METHODS.items() if row.method.in_parts))
        raise ConfigError(
            f"Expected a method that can be trained in parts, but {name} needs the whole graph at once. Use batch "
            f"'full', or one of {able}."
        )


def make_feed(
    batching: Batching,
    config: MethodConfig,
    graph: Graph,
    observed: ObservedLabels,
    train: np.ndarray,
    *,
    device: torch.device | str = "cpu",
) -> Feed:
    """The batches of a graph, for :func:`~lnp.engine.fit.fit`.

    Args:
        batching: How to cut it.
        config: The method's configuration.
        graph: The graph.
        observed: Given labels and trusted nodes.
        train: Node numbers of the training part.
        device: Where to compute.
    """
    if batching.kind == "full":
        return FullFeed(full_batch(graph, observed, train, device=device))
    if config.similar_weight > 0:
        raise ConfigError(
            f"Expected `similar_weight` to be 0 with batch {batching.kind!r}, which follows the graph's own links, but "
            f"got {config.similar_weight}. Use batch 'full'."
        )
    for name in ("diffusion_steps", "links_width"):
        if getattr(config, name) > 0:
            raise ConfigError(
                f"Expected `{name}` to be 0 with batch {batching.kind!r}, which does not see all links of a node, but "
                f"got {getattr(config, name)}. Use batch 'full'."
            )
    batch = full_batch(graph, observed, train, device=device, tensors=Layerwise(graph, device=device))
    if batching.kind == "neighbours":
        return NeighbourFeed(batch, config, batching.size, batching.fan_out)
    count = batching.count or math.ceil(graph.node_count / CLUSTER_NODES)
    return ClusterFeed(batch, config, count, batching.together)


def _whole(name: str, text: str) -> int:
    if not text.isdecimal():
        raise ConfigError(f"Expected `{name}` of the batches to be a whole number, but got {text!r}.")
    return int(text)
