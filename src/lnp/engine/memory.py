"""Before a full-batch run: whether the memory that it will take can be had."""

from __future__ import annotations

from collections.abc import Callable

from lnp.engine.allocator import has_room
from lnp.engine.available import LIMIT, format_bytes, memory_limit
from lnp.engine.memory_estimate import estimate_memory, hops_file_bytes
from lnp.engine.sizes import Sizes
from lnp.errors import ConfigError
from lnp.methods.batch import Batch
from lnp.methods.config import MethodConfig
from lnp.methods.registry import entry

__all__ = ["WORTH_SAYING", "largest_parts", "preflight"]

BUILDERS = ("nrgnn", "rtgnn", "pignn", "lpm")
"""Methods that build graphs of their own and take more than the estimate."""

WORTH_SAYING = 2**30
"""Estimates below this are neither announced nor refused."""


def preflight(
    name: str,
    config: MethodConfig,
    batch: Batch,
    *,
    copies: int = 1,
    keeps: bool = False,
    announce: Callable[[str], None] | None = None,
) -> int:
    """Refuses a full-batch run that cannot fit; has hidden layers recomputed where it fits only so.

    Args:
        name: The method.
        config: Its configuration.
        batch: The whole graph; ``batch.graph.recompute`` is set where memory asks for it.
        copies: How many times the features are held.
        keeps: Whether the process keeps what it frees where there is room (:mod:`lnp.engine.allocator`).
        announce: Takes one line for the user.

    Returns:
        Bytes that it is expected to hold at its peak; 0 on other devices than the CPU.
    """
    graph = batch.graph
    if graph.device.type != "cpu":
        return 0
    sizes = Sizes.of(graph.graph, copies=copies, two_hop=config.backbone == "h2gcn")
    parts = estimate_memory(name, config, sizes, recompute=graph.recompute)
    if sum(parts.values()) < WORTH_SAYING:
        return sum(parts.values())
    limit = memory_limit()
    if limit is not None and sum(parts.values()) > limit and config.backbone == "gcn" and config.layers > 1:
        parts = estimate_memory(name, config, sizes, recompute=True)
        graph.recompute = True
    total = sum(parts.values())
    about = "at least" if name in BUILDERS else "about"
    if limit is not None and total > limit:
        raise ConfigError(
            f"Expected a run that fits into {format_bytes(limit)} of memory, but {name} on the whole of "
            f"{graph.graph.name} ({sizes.nodes:,} nodes, {sizes.entries // 2:,} edges) takes {about} "
            f"{format_bytes(total)} ({largest_parts(parts)}). {_advice(name, config)}"
        )
    if announce is not None:
        room = "" if limit is None else f" of {format_bytes(limit)} that can be had"
        notes = ["hidden layers are recomputed"] if graph.recompute else []
        if keeps and has_room(total):
            notes.append("up to twice that where freed memory is kept, as there is room")
        if parts.get("hops") == 0:
            notes.append(f"{format_bytes(hops_file_bytes(config, sizes))} of hops stay in a file")
        said = "".join(f"; {note}" for note in notes)
        announce(f"Memory at the peak: {about} {format_bytes(total)}{room} ({largest_parts(parts)}){said}.")
    return total


def _advice(name: str, config: MethodConfig) -> str:
    """What to do about a run that is too large."""
    able = entry(name).method.in_parts
    ways = ["Train in parts (--batch neighbours, which is fastest with the backbone sign), use"] if able else ["Use"]
    ways.append(f"fewer hidden units (--set hidden={max(1, config.hidden // 2)}),")
    if not able:
        ways.append("another method, one that can be trained in parts (lnp-v2 for instance),")
    return f"{' '.join(ways)} or set {LIMIT} to what it may take."


def largest_parts(parts: dict[str, int], count: int = 3) -> str:
    """The parts that take most.

    >>> largest_parts({"graph": 2**30, "features": 3 * 2**30, "program": 2**20, "predictions": 2**31})
    'features 3.0 GiB, predictions 2.0 GiB, graph 1.0 GiB'
    """
    order = sorted(parts, key=lambda name: -parts[name])
    return ", ".join(f"{name} {format_bytes(parts[name])}" for name in order[:count])
