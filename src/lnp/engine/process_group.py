"""The processes of one job, as ``torchrun`` starts them, and what they tell each other.

Every call here is made by all processes, in the same order. Numbers go over gloo on the CPU and NCCL on a GPU; nothing
is pickled. A process that is killed or cut off makes the next call fail in all others: with a
:class:`LostProcessError`, whose message is one sentence, and never with a hang beyond :data:`PATIENCE`.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from lnp.errors import ConfigError, LNPError

__all__ = ["PATIENCE", "LostProcessError", "ProcessGroup", "process_group"]

PATIENCE = timedelta(minutes=30)
"""How long a process waits for the others, for instance while one of them computes hops."""

VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""What torchrun tells a process."""


class LostProcessError(LNPError):
    """Another process of the job has gone. What was computed since the last checkpoint is lost."""


class ProcessGroup:
    """All processes of the job.

    Args:
        rank: This process's number, from 0.
        size: How many there are.
        device: Where this process computes.
    """

    def __init__(self, rank: int, size: int, device: torch.device) -> None:
        self.rank = rank
        self.size = size
        self.device = device

    def sum(self, values: Tensor) -> Tensor:
        """The sum over the processes of tensors of one shape, the same bits on each; without gradient."""
        return self._reduced(values, dist.ReduceOp.SUM)

    def least(self, values: Tensor) -> Tensor:
        """The smallest of each entry."""
        return self._reduced(values, dist.ReduceOp.MIN)

    def greatest(self, values: Tensor) -> Tensor:
        """The largest of each entry."""
        return self._reduced(values, dist.ReduceOp.MAX)

    def gather(self, rows: Tensor, counts: list[int]) -> list[Tensor]:
        """The rows of every process, in the order of their ranks; ``counts`` says how many each has."""
        most = max(counts)
        padded = rows.detach().new_zeros((most, *rows.shape[1:]))
        padded[: rows.shape[0]] = rows.detach()
        parts = [torch.empty_like(padded) for _ in counts]
        with self._all_there():
            dist.all_gather(parts, padded)
        return [part[:count] for part, count in zip(parts, counts, strict=True)]

    def wait(self) -> None:
        """Until all processes are here."""
        self.sum(torch.zeros(1, device=self.device))

    def send(self, message: dict[str, Any], tensors: list[Tensor]) -> None:
        """Process 0 tells all others something: JSON values, and tensors on the CPU."""
        about = {"message": message, "tensors": [[str(one.dtype), list(one.shape)] for one in tensors]}
        text = torch.frombuffer(bytearray(json.dumps(about).encode()), dtype=torch.uint8)
        self._spread(torch.tensor([text.numel()]))
        self._spread(text)
        for one in tensors:
            self._spread(one)

    def receive(self) -> tuple[dict[str, Any], list[Tensor]]:
        """What process 0 sent."""
        length = self._spread(torch.zeros(1, dtype=torch.int64))
        text = self._spread(torch.zeros(int(length), dtype=torch.uint8))
        about = json.loads(bytes(text.tolist()))
        shapes = [(getattr(torch, dtype.removeprefix("torch.")), shape) for dtype, shape in about["tensors"]]
        return about["message"], [self._spread(torch.zeros(shape, dtype=dtype)) for dtype, shape in shapes]

    def _reduced(self, values: Tensor, operation: Any) -> Tensor:
        total = values.detach().clone(memory_format=torch.contiguous_format)
        with self._all_there():
            dist.all_reduce(total, operation)
        return total

    def _spread(self, values: Tensor) -> Tensor:
        there = values.contiguous().to(self.device)
        with self._all_there():
            dist.broadcast(there, src=0)
        return there.cpu()

    @contextmanager
    def _all_there(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:  # gloo and NCCL have no other word for a lost connection or a timeout
            raise LostProcessError(
                f"Process {self.rank} of {self.size} has lost another process of the job, which was stopped, killed or "
                f"cut off ({_reason(error)})."
            ) from error


@contextmanager
def process_group(device: str = "cpu") -> Iterator[ProcessGroup]:
    """Joins the processes that torchrun started with this one.

    Args:
        device: "cpu", or "cuda" for one GPU per process.
    """
    missing = [name for name in VARIABLES if not os.environ.get(name)]
    if missing:
        raise ConfigError(
            f"Expected many processes to be started by torchrun, but {missing[0]} is not set. Start them as: torchrun "
            "--nproc-per-node 2 -m lnp train …"
        )
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    place = torch.device(device)
    # Imported while the group is there, as torch's compiler does, this keeps the group in default arguments. Threads
    # then outlive it, and one that still lets go of a tensor while the interpreter ends aborts the process.
    importlib.import_module("torch.distributed.nn.functional")
    if place.type == "cuda":
        place = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(place)
    try:
        dist.init_process_group("nccl" if place.type == "cuda" else "gloo", timeout=PATIENCE)
    except (RuntimeError, ValueError) as error:
        raise LostProcessError(
            f"Process {rank} of {size} did not meet the others at {os.environ['MASTER_ADDR']}:"
            f"{os.environ['MASTER_PORT']} ({_reason(error)})."
        ) from error
    before = signal.signal(signal.SIGTERM, partial(_told_to_stop, rank, size))
    group = ProcessGroup(rank, size, place)
    try:
        yield group
        group.wait()  # nobody closes a connection that another process still reads from
    finally:
        signal.signal(signal.SIGTERM, before)
        dist.destroy_process_group()


def _told_to_stop(rank: int, size: int, *_: object) -> None:
    """When a process has gone, torchrun tells the others to stop, perhaps before they notice for themselves."""
    raise LostProcessError(f"Process {rank} of {size} was told to stop, as when another process of the job has gone.")


def _reason(error: Exception) -> str:
    """The first sentence of an error, without the place in somebody else's source that gloo puts before it.

    >>> _reason(RuntimeError("[/gloo/tcp/pair.cc:537] Read error [127.0.0.1]:55: Connection reset. Check the logs."))
    'Read error [127.0.0.1]:55: Connection reset'
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return re.sub(r"^\[\S+:\d+\] ", "", lines[0]).split(". ")[0].rstrip(".")
