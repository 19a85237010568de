r"""One graph, many processes: each has a share of the rows, and all have the same method.

Every process computes the losses of its own nodes. With :math:`n_r` own nodes of a kind on process r of R, and
:math:`\ell_i` the loss of a node, the mean over the whole graph and its gradient are

.. math::
    \frac1n \sum_i \ell_i, \qquad
    \frac1R \sum_r \nabla \Big( \frac{R}{n} \sum_{i \text{ own of } r} \ell_i \Big)

so the value is summed over the processes, and gradients are averaged: in one flat vector, once a step. Sums over the
members of a class (prototypes) are summed over the processes, and so is their gradient in the backward pass. All
processes then take the same step, bit by bit, and their weights stay equal without being sent.

*Randomness.* Networks start from the same draws everywhere. In each epoch every process draws dropout and negatives
from streams of its own, derived from the common stream and its rank; the common stream alone is in a checkpoint, so a
run can go on with any number of processes (with another number, other masks are drawn). One process draws what a run
without processes draws. Negatives of the contrastive loss are nodes of the process's own share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lnp.engine.process_group import ProcessGroup
from lnp.errors import ConfigError
from lnp.methods.base import Method
from lnp.methods.batch import Batch
from lnp.methods.lnp.model import LNP
from lnp.nn.hops_file import BLOCK
from lnp.seeds import Generator, Randomness

__all__ = ["AcrossProcesses", "DistributedFeed", "share"]


def share(node_count: int, rank: int, size: int) -> NDArray[np.int64]:
    """The nodes of a process: blocks of neighbouring numbers, dealt out in turn.

    Blocks can be read from a file without reading what lies between, and dealing them out gives every process nodes
    from everywhere, whatever order the graph's nodes are in.

    >>> [share(20, rank, 2).tolist() for rank in range(2)]
    [[0, 2, 4, 6, 8, 10, 12, 14, 16, 18], [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]]
    """
    block = max(1, min(BLOCK, node_count // (8 * size)))
    starts = np.arange(rank * block, node_count, size * block, dtype=np.int64)
    nodes = (starts[:, None] + np.arange(block)).ravel()
    return nodes[nodes < node_count]


class AcrossProcesses:
    """Means, sums and extremes over the whole graph, each process giving those of its own nodes."""

    def __init__(self, group: ProcessGroup, whole: Batch) -> None:
        self.group = group
        self.node_count = whole.node_count
        labelled = whole.noisy.numel()
        self.counts = {
            "all": whole.node_count,
            "noisy": labelled,
            "trusted": whole.trusted.numel(),
            "outside-noisy": whole.node_count - labelled,
        }

    def mean(self, values: Tensor, over: str) -> Tensor:
        """The mean over all nodes of the kind, the same on every process; its gradient is that of the own share."""
        mean: Tensor = _Mean.apply(values, self.group, max(1, self.counts[over]))  # type: ignore[no-untyped-call]
        return mean

    def class_sums(self, name: str, sums: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
        """Sums and counts over all processes."""
        total: Tensor = _Sum.apply(sums, self.group)  # type: ignore[no-untyped-call]
        return total, self.group.sum(counts)

    def extremes(self, name: str, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """The smallest and the largest value on any process."""
        return self.group.least(low), self.group.greatest(high)


class _Mean(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, group: ProcessGroup, count: int) -> Tensor:
        ctx.shape, ctx.factor = values.shape, group.size / count
        return group.sum(values.sum()) / count

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return (gradient * ctx.factor).expand(ctx.shape), None, None


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, group: ProcessGroup) -> Tensor:
        ctx.group = group
        return group.sum(values)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return ctx.group.sum(gradient), None


class DistributedFeed:
    """The share of this process as the only batch of an epoch.

    Args:
        group: All processes.
        whole: The whole graph with all labels; its features may be mapped from a file and need not be in memory.
        own: What takes the place of ``whole.graph`` for this process's rows (:func:`share`).
        watched: Nodes whose probabilities every process needs in every epoch, for the selection; ``None``: all nodes.
    """

    def __init__(self, group: ProcessGroup, whole: Batch, own: Any, watched: Tensor | None = None) -> None:
        n = whole.node_count
        if n < group.size:
            raise ConfigError(f"Expected at most one process for each of {n} nodes, but got {group.size} processes.")
        self.group = group
        self.batch = whole
        nodes = torch.from_numpy(share(n, group.rank, group.size)).to(whole.given.device)
        self.own = Batch(
            graph=own,
            given=whole.given[nodes],
            noisy=_rows_of(whole.noisy, nodes, n),
            trusted=_rows_of(whole.trusted, nodes, n),
            class_count=whole.class_count,
            nodes=nodes,
            across=AcrossProcesses(group, whole),
        )
        self.watched: list[Tensor] | None = None
        if watched is not None:
            asked = torch.zeros(n, dtype=torch.bool, device=whole.given.device)
            asked[watched] = True
            self.watched = [part[asked[part]] for part in map(self._nodes, range(group.size))]

    def epoch(self, method: Method, randomness: Randomness, nodes: str = "all") -> Iterator[Batch]:
        """One batch: the own share. The streams are the process's own until the epoch's last step is taken."""
        self._check(method)
        if self.group.size == 1:
            yield self.own
            return
        streams = (randomness.dropout, randomness.sampling)
        keys = [int(stream.integers(2**63)) for stream in streams]
        common = [stream.bit_generator.state for stream in streams]
        for stream, key in zip(streams, keys, strict=True):
            stream.bit_generator.state = _own_state(key, self.group.rank)
        yield self.own
        for stream, state in zip(streams, common, strict=True):
            stream.bit_generator.state = state

    def predict(self, method: Method) -> Tensor:
        """``(n, c)`` probabilities: all of them, or where nodes are watched those and the own ones, 0 elsewhere."""
        # LNP's end of an epoch reads no probabilities, the common one does nothing; others may read any of them.
        reads_all = type(method).end_epoch is not Method.end_epoch and not isinstance(method, LNP)
        if self.watched is None or reads_all:
            return self.predict_all(method)
        own, nodes = self._predict_own(method), self._nodes(self.group.rank)
        # Pages that nobody writes to take no memory: what is neither watched nor own costs nothing.
        whole = torch.from_numpy(np.zeros((self.batch.node_count, own.shape[1]), np.float32)).to(own.device)
        whole[nodes] = own
        counts = [part.numel() for part in self.watched]
        if any(counts):
            rows = self.group.gather(whole[self.watched[self.group.rank]], counts)
            for part, values in zip(self.watched, rows, strict=True):
                whole[part] = values
        return whole

    def predict_all(self, method: Method) -> Tensor:
        """``(n, c)`` probabilities of every node, on every process."""
        return self._whole(self._predict_own(method))

    def reduce_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """The mean over the processes, in one message. A gradient that nobody has stays absent."""
        moved = list(parameters)
        if self.group.size == 1 or not moved:
            return
        present = torch.tensor([p.grad is not None for p in moved], dtype=moved[0].dtype, device=moved[0].device)
        flat = [(torch.zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in moved]
        total = self.group.sum(torch.cat([*flat, present]))
        there = (total[-len(moved) :] > 0).tolist()
        means = torch.split(total[: -len(moved)] / self.group.size, [p.numel() for p in moved])
        for parameter, mean, is_there in zip(moved, means, there, strict=True):
            if is_there and parameter.grad is not None:
                parameter.grad.copy_(mean.view_as(parameter))  # where it is: what stays behind cuts free memory up
            else:
                parameter.grad = mean.view_as(parameter).clone() if is_there else None

    def synchronise(self, method: Method) -> None:
        """What a method keeps for every node (T_C and its growth): each process gives the entries of its own nodes."""
        if self.group.size == 1:
            return
        for buffer in method.buffers():
            if buffer.shape != (self.batch.node_count,):
                continue
            rows = buffer[self._nodes(self.group.rank)]
            buffer.copy_(self._whole_mask(rows) if buffer.dtype == torch.bool else self._whole(rows))

    def _check(self, method: Method) -> None:
        if not method.in_parts:
            raise ConfigError(
                f"Expected a method that can be trained in parts, but {type(method).__name__} needs the whole graph."
            )
        method.check_parts()

    def _nodes(self, rank: int) -> Tensor:
        if rank == self.group.rank and self.own.nodes is not None:
            return self.own.nodes
        return torch.from_numpy(share(self.batch.node_count, rank, self.group.size)).to(self.batch.given.device)

    def _whole(self, rows: Tensor) -> Tensor:
        """From one row for each own node to one for each node."""
        parts = [self._nodes(rank) for rank in range(self.group.size)]
        whole = rows.new_empty((self.batch.node_count, *rows.shape[1:]))
        for part, values in zip(parts, self.group.gather(rows, [part.numel() for part in parts]), strict=True):
            whole[part] = values
        return whole

    def _whole_mask(self, rows: Tensor) -> Tensor:
        """The same for true and false, eight to a byte on the way."""
        parts = [self._nodes(rank) for rank in range(self.group.size)]
        packed = torch.from_numpy(np.packbits(rows.cpu().numpy())).to(rows.device)
        whole = rows.new_empty(self.batch.node_count)
        received = self.group.gather(packed, [-(-part.numel() // 8) for part in parts])
        for part, values in zip(parts, received, strict=True):
            bits = np.unpackbits(values.cpu().numpy(), count=part.numel())
            whole[part] = torch.from_numpy(bits).bool().to(rows.device)
        return whole

    @torch.no_grad()
    def _predict_own(self, method: Method) -> Tensor:
        method.eval()
        return method.predict(self.own)


def _rows_of(members: Tensor, nodes: Tensor, node_count: int) -> Tensor:
    """Which of the nodes, by their place, are members."""
    mask = torch.zeros(node_count, dtype=torch.bool, device=nodes.device)
    mask[members] = True
    return mask[nodes].nonzero().squeeze(1)


def _own_state(key: int, rank: int) -> Any:
    return Generator(np.random.SFC64(np.random.SeedSequence([key, rank]))).bit_generator.state
