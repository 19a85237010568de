r"""Before a run that many processes share: whether every machine has the memory that its processes will take.

With :math:`n_r` own nodes of n, and the letters of :mod:`lnp.engine.memory_estimate`, a process takes

==============  ====================================================================================================
program         the libraries
labels          :data:`~lnp.engine.memory_estimate.LABELS` n: labels and masks of all nodes
hops            4 :math:`n_r` d (ℓ + 1): the own rows, X among them
hidden layers   of the own nodes; for methods that look at the whole graph between stages at least those of all nodes
predictions     of the own nodes; in the end 4 n c twice, when all are gathered
graph           process 0 alone, which has A and X, too
==============  ====================================================================================================

Processes on one machine share its memory, so what they need is added up. Every process hears all numbers and comes to
the same verdict: nobody is left waiting for one that has given up.
"""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from lnp.engine.allocator import SPARE
from lnp.engine.available import LIMIT, format_bytes, memory_limit, resident_bytes
from lnp.engine.distributed import share
from lnp.engine.memory import WORTH_SAYING, largest_parts
from lnp.engine.memory_estimate import (
    LABELS,
    PROGRAM,
    TOGETHER,
    contrastive_bytes,
    hidden_bytes,
    prediction_bytes,
)
from lnp.engine.process_group import ProcessGroup
from lnp.engine.sizes import Sizes
from lnp.errors import ConfigError
from lnp.methods.config import MethodConfig

__all__ = ["Demand", "estimate_share", "preflight_together", "verdict"]

LOOK_AT_ALL = ("forward", "dgnn")
"""Methods that predict the whole graph between their stages, on every process."""

UNKNOWN = -1


def estimate_share(name: str, config: MethodConfig, sizes: Sizes, rank: int, size: int) -> dict[str, int]:
    """Bytes at the peak of one process, by what takes them.

    Args:
        name: The method.
        config: Its configuration, with the backbone sign.
        sizes: Those of the whole graph.
        rank: The process.
        size: How many there are.
    """
    n, d, c, rows = sizes.nodes, sizes.features, sizes.classes, share(sizes.nodes, rank, size).size
    hidden = hidden_bytes(config, rows, TOGETHER.get(name, 1), lean=True)
    if name in LOOK_AT_ALL:
        hidden = max(hidden, 2 * 4 * n * config.hidden * (config.layers + 1))
    parts = {
        "program": PROGRAM,
        "labels": LABELS * n,
        "hops": 4 * rows * d * (config.layers + 1),
        "hidden layers": hidden,
        "predictions": max(prediction_bytes(name, rows, c, large=False), 4 * c * (2 * n + rows)),
    }
    if contrastive := contrastive_bytes(config, rows):
        parts["contrastive"] = contrastive
    if rank == 0:
        features = 4 * n * d if sizes.feature_entries is None else 8 * sizes.feature_entries + 4 * n
        parts["graph"] = 8 * sizes.entries + 4 * n + sizes.copies * features
    return parts


@dataclass(frozen=True)
class Demand:
    """What a process tells the others, in bytes.

    Args:
        machine: A number that the processes of one machine share.
        needed: What it will hold at its peak.
        held: What it holds now.
        left: What the machine has left; −1 where nobody knows.
        allowed: What the user allows this process; −1 where the machine decides.
    """

    machine: int
    needed: int
    held: int
    left: int
    allowed: int

    @classmethod
    def of_this_process(cls, needed: int) -> Demand:
        """With what the system says."""
        held, limit, wish = resident_bytes(), memory_limit(), os.environ.get(LIMIT, "").strip()
        allowed = UNKNOWN if limit is None or not wish else limit
        left = UNKNOWN if limit is None or wish else limit - held
        return cls(_machine(), needed, held, left, allowed)


def verdict(demands: list[Demand]) -> tuple[int, list[int], int] | None:
    """Who does not fit: a process, all processes it shares memory with, and what they may hold; ``None`` if all fit."""
    for rank, demand in enumerate(demands):
        if demand.allowed != UNKNOWN:
            if demand.needed > demand.allowed:
                return rank, [rank], demand.allowed
            continue
        together = _beside(demands, rank)
        room = _room(demands, together)
        if room is not None and sum(demands[other].needed for other in together) > room:
            return rank, together, room
    return None


def preflight_together(
    group: ProcessGroup,
    name: str,
    config: MethodConfig,
    sizes: Sizes,
    *,
    graph: str,
    announce: Callable[[str], None] | None = None,
) -> int | None:
    """Refuses a run that cannot fit, on all processes alike.

    Args:
        group: All processes.
        name: The method.
        config: Its configuration.
        sizes: Those of the whole graph.
        graph: Its name.
        announce: Takes one line for the user.

    Returns:
        Bytes that this process will hold, if there is room enough for all to keep what they free
        (:mod:`lnp.engine.allocator`).
    """
    if group.device.type != "cpu":
        return None
    own = Demand.of_this_process(sum(estimate_share(name, config, sizes, group.rank, group.size).values()))
    row = torch.tensor([[own.machine, own.needed, own.held, own.left, own.allowed]], device=group.device)
    demands = [Demand(*one[0].tolist()) for one in group.gather(row, [1] * group.size)]
    found = verdict(demands)
    if found is not None and sum(demands[rank].needed for rank in found[1]) >= WORTH_SAYING:
        rank, together, room = found
        total = format_bytes(sum(demands[other].needed for other in together))
        those = (
            f"process {rank}" if len(together) == 1 else f"{len(together)} processes on the machine of process {rank}"
        )
        parts = largest_parts(estimate_share(name, config, sizes, rank, group.size))
        raise ConfigError(
            f"Expected a run that fits into {format_bytes(room)} of memory, but {those} of {group.size} that share "
            f"{name} on {graph} ({sizes.nodes:,} nodes) would take about {total} (process {rank}: {parts}). Use more "
            f"machines, fewer hidden units (--set hidden={max(1, config.hidden // 2)}), or set {LIMIT} to what each "
            "process may take."
        )
    if announce is not None and max(demand.needed for demand in demands) >= WORTH_SAYING:
        announce(_line(demands, estimate_share(name, config, sizes, 0, group.size)))
    roomy = verdict([replace(demand, needed=SPARE * demand.needed) for demand in demands]) is None
    return own.needed if roomy else None


def _line(demands: list[Demand], parts: dict[str, int]) -> str:
    """What is said of a run that fits; ``parts`` are those of process 0."""
    first, *others = demands
    who = f" in process 0 and {format_bytes(max(one.needed for one in others))} in each other" if others else ""
    beside = _beside(demands, 0)
    had, total = _room(demands, beside), sum(demands[rank].needed for rank in beside)
    if first.allowed != UNKNOWN:
        room = f"; process 0 may take {format_bytes(first.allowed)}"
    elif had is None:
        room = ""
    else:
        room = f"; together {format_bytes(total)} of {format_bytes(had)} that can be had on its machine"
    return f"Memory at the peak: about {format_bytes(first.needed)}{who} ({largest_parts(parts)}){room}."


def _beside(demands: list[Demand], rank: int) -> list[int]:
    """The processes whose memory the machine of ``rank`` decides."""
    machine = demands[rank].machine
    return [other for other, one in enumerate(demands) if one.machine == machine and one.allowed == UNKNOWN]


def _room(demands: list[Demand], together: list[int]) -> int | None:
    """What these processes of one machine may hold in all; ``None`` where nobody knows."""
    left = [demands[rank].left for rank in together if demands[rank].left != UNKNOWN]
    return sum(demands[rank].held for rank in together) + max(0, min(left)) if left else None


def _machine() -> int:
    """A number for this machine."""
    try:
        start = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8")
    except OSError:
        start = ""
    digest = hashlib.sha256(f"{socket.gethostname()} {start}".encode()).digest()
    return int.from_bytes(digest[:7], "big")
