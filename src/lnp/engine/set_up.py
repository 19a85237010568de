"""From a graph with its labels to a method that can be trained, for a run of a table and for a classifier alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lnp.engine.batching import Batching, make_feed
from lnp.engine.feed import Feed
from lnp.engine.memory import preflight
from lnp.engine.memory_parts import preflight_parts
from lnp.graph.graph import Graph
from lnp.graph.labels import ObservedLabels
from lnp.methods.base import Method
from lnp.methods.config import MethodConfig
from lnp.methods.registry import create_method
from lnp.seeds import Seeds

__all__ = ["Ready", "set_up"]


@dataclass(frozen=True, eq=False)
class Ready:
    """What :func:`~lnp.engine.fit.fit` needs.

    Args:
        method: With its first weights.
        feed: The batches.
        needed: Bytes that a full batch is expected to hold at its peak; 0 where that is not known.
    """

    method: Method
    feed: Feed
    needed: int


def set_up(
    name: str,
    config: MethodConfig,
    graph: Graph,
    observed: ObservedLabels,
    train: np.ndarray,
    seeds: Seeds,
    *,
    original: Graph,
    batching: Batching,
    device: str = "cpu",
    keeps: bool = False,
    announce: Callable[[str], None] | None = None,
) -> Ready:
    """Looks at the memory first, then cuts the graph into batches and builds the method.

    Args:
        name: The method.
        config: Its configuration.
        graph: The graph, its features scaled.
        observed: Given labels and trusted nodes.
        train: Node numbers of the training part.
        seeds: Of the run; the first weights are drawn from "initialisation".
        original: The graph before its features were scaled, which is held as well.
        batching: How the graph is cut.
        device: Where to compute.
        keeps: Whether the process will keep what it frees where there is room (:mod:`lnp.engine.allocator`).
        announce: Takes lines on the memory of a large run.

    Raises:
        ConfigError: It cannot fit into memory; with advice.
    """
    copies = 1 if graph.features is original.features else 2
    trusted = observed.trusted_nodes.size
    preflight_parts(name, config, batching, graph, trusted=trusted, device=device, copies=copies, announce=announce)
    feed = make_feed(batching, config, graph, observed, train, device=device)
    needed = 0
    if batching.kind == "full":
        needed = preflight(name, config, feed.batch, copies=copies, keeps=keeps, announce=announce)
    return Ready(create_method(name, config, feed.batch, seeds.generator("initialisation")), feed, needed)
