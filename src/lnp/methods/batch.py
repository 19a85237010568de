"""What a method sees: a graph, the labels it may use, and nothing else.

A batch is the whole graph, or a part of it. Losses are written once for both: they take means with :meth:`Batch.mean`,
sums over the members of each class with :meth:`Batch.class_sums`, and smallest and largest values with
:meth:`Batch.extremes`. On the whole graph these are what their names say; on a part an :class:`Across` knows how the
rest of the graph enters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from lnp.errors import LabelError
from lnp.graph.graph import Graph
from lnp.graph.labels import UNKNOWN, ObservedLabels
from lnp.nn.graph_tensors import GraphTensors

__all__ = ["KINDS", "Across", "Batch", "full_batch"]

KINDS = ("all", "noisy", "trusted", "outside-noisy")
"""The sets of nodes that losses run over."""


class Across(Protocol):
    """How a part of the graph learns what is true of the whole.

    Attributes:
        node_count: The number of nodes of the whole graph.
    """

    node_count: int

    def mean(self, values: Tensor, over: str) -> Tensor:
        """From one value for each of the part's nodes of the kind ``over`` (perhaps none) to a scalar.

        Averaged over the parts of an epoch (or over processes that average their gradients) the scalars must give the
        mean over all nodes of that kind.
        """
        ...

    def class_sums(self, name: str, sums: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
        """From ``(c, d)`` sums and ``(c,)`` counts of the part's own members to those of the whole graph.

        Args:
            name: Whose members: a key of :meth:`lnp.methods.base.Method.remember`.
            sums: May carry gradient, which must reach the part's own rows.
            counts: How many members each sum is over.
        """
        ...

    def extremes(self, name: str, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """From the smallest and the largest value of the part's own members to those of the whole graph.

        A part without members gives plus and minus infinity.
        """
        ...


@dataclass(frozen=True, eq=False)
class Batch:
    """Nodes with features, connections and the labels to learn from.

    Args:
        graph: Features and propagation matrices.
        given: ``(n,)`` labels to learn from: noisy on ``noisy``, right on ``trusted``, −1 everywhere else.
        noisy: T_N as row numbers (node numbers where the batch is the whole graph).
        trusted: T_C as row numbers.
        class_count: The number of classes c.
        checks: ``(c, c)`` how many nodes of T_C in the whole graph are of class i and were given j before somebody
            checked them; ``None`` where nobody knows what any was given.
        nodes: Which node of the whole graph each row is; ``None``: row i is node i.
        own: The first ``own`` rows are the batch's own nodes, over which losses run. In the rows behind them trusted
            nodes may visit. Later rows are there only because they are neighbours, and networks may leave them out of
            their outputs: ``noisy`` holds own rows only, ``trusted`` own rows and visitors. ``None``: all are own.
        across: How sums over the whole graph are had where this batch is only a part; ``None``: it is the whole.
    """

    graph: GraphTensors
    given: Tensor
    noisy: Tensor
    trusted: Tensor
    class_count: int
    checks: Tensor | None = None
    nodes: Tensor | None = None
    own: int | None = None
    across: Across | None = None

    @property
    def node_count(self) -> int:
        """The number of rows, which is the number of nodes n where the batch is the whole graph."""
        return self.graph.node_count

    @property
    def population(self) -> int:
        """The number of nodes of the whole graph."""
        return self.node_count if self.across is None else self.across.node_count

    @property
    def own_count(self) -> int:
        """The number of own rows."""
        return self.node_count if self.own is None else self.own

    @cached_property
    def noisy_labels(self) -> Tensor:
        """Y_N, in the order of ``noisy``."""
        return self.given[self.noisy]

    @cached_property
    def trusted_labels(self) -> Tensor:
        """Y_C, in the order of ``trusted``."""
        return self.given[self.trusted]

    @cached_property
    def labelled(self) -> Tensor:
        """T_N, then T_C, as row numbers."""
        return torch.cat([self.noisy, self.trusted])

    @cached_property
    def trusted_divisors(self) -> Tensor:
        """What each node of T_C is divided by where every class counts as much: the inverses sum to 1.

        >>> import torch
        >>> given = torch.tensor([0, 2, 2, 2, 2, -1])
        >>> Batch(None, given, torch.tensor([]), torch.arange(5), 3).trusted_divisors.tolist()
        [2, 8, 8, 8, 8]
        """
        counts = self.trusted_labels.bincount()
        return counts[self.trusted_labels] * (counts > 0).sum()

    @cached_property
    def trusts_every_class(self) -> bool:
        """Whether T_C has a node of each class."""
        return bool(self.trusted_labels.bincount(minlength=self.class_count).all())

    @property
    def outside_noisy(self) -> Tensor:
        """The own rows outside T_N (T_C among them)."""
        outside = torch.ones(self.own_count, dtype=torch.bool, device=self.given.device)
        outside[self.noisy] = False
        return outside.nonzero().squeeze(1)

    def numbers(self, rows: Tensor) -> Tensor:
        """Node numbers in the whole graph of some rows, to index what a method keeps for every node."""
        return rows if self.nodes is None else self.nodes[rows]

    def own_rows(self, rows: Tensor) -> Tensor:
        """The rows of the batch's own nodes, of a network's outputs for instance."""
        return rows if self.own is None else rows[: self.own]

    def mean(self, values: Tensor, over: str) -> Tensor:
        """The mean of one value per node over all nodes of a kind, or this batch's share of it.

        Args:
            values: One value for each of the batch's nodes of that kind.
            over: One of :data:`KINDS`.
        """
        return values.mean() if self.across is None else self.across.mean(values, over)

    def class_sums(self, name: str, sums: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
        """Sums and counts over the members of each class: of this batch's own, made those of the whole graph."""
        return (sums, counts) if self.across is None else self.across.class_sums(name, sums, counts)

    def extremes(self, name: str, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """The smallest and the largest value over the members: of this batch's own, made those of the whole graph."""
        return (low, high) if self.across is None else self.across.extremes(name, low, high)


def full_batch(
    graph: Graph,
    observed: ObservedLabels,
    train: np.ndarray,
    *,
    device: torch.device | str = "cpu",
    tensors: GraphTensors | None = None,
) -> Batch:
    """The whole graph as one batch.

    Args:
        graph: The graph.
        observed: Given labels and trusted nodes.
        train: Node numbers of the training part; T_N is those with a given label that are not trusted.
        device: Where to compute.
        tensors: The graph on that device, if it is there already or is to be computed with in a way of its own.
    """
    if observed.node_count != graph.node_count or observed.class_count != graph.class_count:
        raise LabelError(
            f"Expected labels for {graph.node_count} nodes in {graph.class_count} classes, but got "
            f"{observed.node_count} nodes in {observed.class_count} classes."
        )
    noisy = np.intersect1d(train, observed.noisy_nodes)
    usable = observed.trusted.copy()
    usable[noisy] = True
    given, checks = np.where(usable, observed.given, UNKNOWN), observed.checks
    return Batch(
        graph=GraphTensors(graph, device) if tensors is None else tensors,
        given=torch.from_numpy(given).to(device),
        noisy=torch.from_numpy(noisy).to(device),
        trusted=torch.from_numpy(observed.trusted_nodes).to(device),
        class_count=graph.class_count,
        checks=torch.from_numpy(checks).to(device) if checks.any() else None,
    )
