"""What a method sees: a graph, the labels it may use, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lnp.errors import LabelError
from lnp.graph.graph import Graph
from lnp.graph.labels import UNKNOWN, ObservedLabels
from lnp.nn.graph_tensors import GraphTensors

__all__ = ["Batch", "full_batch"]


@dataclass(frozen=True, eq=False)
class Batch:
    """Nodes with features, connections and the labels to learn from.

    Args:
        graph: Features and propagation matrices.
        given: ``(n,)`` labels to learn from: noisy on ``noisy``, right on ``trusted``, −1 everywhere else.
        noisy: T_N as node numbers.
        trusted: T_C as node numbers.
        class_count: The number of classes c.
    """

    graph: GraphTensors
    given: Tensor
    noisy: Tensor
    trusted: Tensor
    class_count: int

    @property
    def node_count(self) -> int:
        """The number of nodes n."""
        return self.graph.node_count

    @property
    def noisy_labels(self) -> Tensor:
        """Y_N, in the order of ``noisy``."""
        return self.given[self.noisy]

    @property
    def trusted_labels(self) -> Tensor:
        """Y_C, in the order of ``trusted``."""
        return self.given[self.trusted]

    @property
    def outside_noisy(self) -> Tensor:
        """The nodes outside T_N (T_C among them)."""
        outside = torch.ones(self.node_count, dtype=torch.bool, device=self.given.device)
        outside[self.noisy] = False
        return outside.nonzero().squeeze(1)


def full_batch(
    graph: Graph, observed: ObservedLabels, train: np.ndarray, *, device: torch.device | str = "cpu"
) -> Batch:
    """The whole graph as one batch.

    Args:
        graph: The graph.
        observed: Given labels and trusted nodes.
        train: Node numbers of the training part; T_N is those with a given label that are not trusted.
        device: Where to compute.
    """
    if observed.node_count != graph.node_count or observed.class_count != graph.class_count:
        raise LabelError(
            f"Expected labels for {graph.node_count} nodes in {graph.class_count} classes, but got "
            f"{observed.node_count} nodes in {observed.class_count} classes."
        )
    noisy = np.intersect1d(train, observed.noisy_nodes)
    usable = observed.trusted.copy()
    usable[noisy] = True
    given = np.where(usable, observed.given, UNKNOWN)
    return Batch(
        graph=GraphTensors(graph, device),
        given=torch.from_numpy(given).to(device),
        noisy=torch.from_numpy(noisy).to(device),
        trusted=torch.from_numpy(observed.trusted_nodes).to(device),
        class_count=graph.class_count,
    )
