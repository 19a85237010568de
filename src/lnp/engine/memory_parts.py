"""Before a run in mini-batches: whether the memory that it will take can be had."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lnp.engine.available import LIMIT, format_bytes, memory_limit
from lnp.engine.batching import Batching
from lnp.engine.memory import WORTH_SAYING, largest_parts
from lnp.engine.memory_estimate_parts import BatchSizes, batch_sizes, estimate_parts
from lnp.engine.sizes import Sizes
from lnp.errors import ConfigError
from lnp.graph.graph import Graph
from lnp.methods.config import MethodConfig

__all__ = ["preflight_parts"]


def preflight_parts(
    name: str,
    config: MethodConfig,
    batching: Batching,
    graph: Graph,
    *,
    trusted: int = 0,
    device: str = "cpu",
    copies: int = 1,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Refuses a run in mini-batches that cannot fit, before anything is computed for it.

    Args:
        name: The method.
        config: Its configuration.
        batching: How the graph is cut; a full batch has a check of its own (:mod:`lnp.engine.memory`).
        graph: The whole graph.
        trusted: Nodes of T_C.
        device: Where to compute; only the memory of a CPU is looked at.
        copies: How many times the features are held.
        announce: Takes one line for the user.
    """
    if batching.kind == "full" or device != "cpu":
        return
    sizes = Sizes.of(graph, copies=copies)
    degrees = np.diff(graph.adjacency.indptr).astype(np.int64)
    batch = batch_sizes(config, sizes, batching, degrees, trusted)
    parts = estimate_parts(name, config, sizes, batching, batch)
    total, limit = sum(parts.values()), memory_limit()
    if total < WORTH_SAYING:
        return
    one = f"{format_rows(batch)} in {batching.text}"
    if limit is not None and total > limit:
        raise ConfigError(
            f"Expected a run that fits into {format_bytes(limit)} of memory, but {name} on {graph.name} "
            f"({sizes.nodes:,} nodes, a batch with about {one}) takes about {format_bytes(total)} "
            f"({largest_parts(parts)}). {_advice(config, batching, parts)}"
        )
    if announce is not None:
        room = "" if limit is None else f" of {format_bytes(limit)} that can be had"
        announce(
            f"Memory at the peak: about {format_bytes(total)}{room} ({largest_parts(parts)}); a batch has about {one}."
        )


def format_rows(batch: BatchSizes) -> str:
    """How many rows a batch has.

    >>> format_rows(BatchSizes((4096.0, 260684.2), 1e6))
    '260,684 rows'
    """
    return f"{round(batch.rows[-1]):,} rows"


def _advice(config: MethodConfig, batching: Batching, parts: dict[str, int]) -> str:
    """What makes that smaller which takes most of what changes with the settings."""
    smaller = f"fewer hidden units (--set hidden={max(1, config.hidden // 2)})"
    if "batch" in parts and batching.kind == "neighbours":
        ways = [f"smaller batches (--batch-size {max(1, batching.size // 2)})", "a smaller --fan-out"]
    elif "batch" in parts:
        ways = [f"smaller batches (--clusters-per-batch {max(1, batching.together // 2)}, or more --clusters)"]
    elif "evaluation" in parts:
        ways = [smaller]
        if config.backbone != "sign":
            ways.append("the backbone sign, which needs no neighbours")
    elif batching.kind == "clusters":
        ways = ["--batch neighbours, which cuts nothing beforehand"]
    else:
        ways = ["a smaller graph, or a machine with more memory"]
    return f"Use {', '.join(ways)}, or set {LIMIT} to what it may take."
