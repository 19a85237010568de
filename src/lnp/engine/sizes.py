"""The numbers of a graph on which memory depends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lnp.graph.graph import Graph

__all__ = ["Sizes"]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What the memory of a run depends on besides method and configuration.

    Args:
        nodes: n.
        entries: e, the stored entries of A.
        features: d.
        feature_entries: ν of sparse features; ``None`` for dense ones.
        classes: c.
        copies: How many times the features are held: 2 where they were scaled and the original stays.
        two_hop_entries: Entries of the two-hop matrix (H2GCN).
    """

    nodes: int
    entries: int
    features: int
    feature_entries: int | None
    classes: int
    copies: int = 1
    two_hop_entries: int = 0

    @classmethod
    def of(cls, graph: Graph, *, copies: int = 1, two_hop: bool = False) -> Sizes:
        """The sizes of a graph; the two-hop entries are estimated as if paths ended anywhere alike."""
        n, expected = graph.node_count, 0.0
        if two_hop:
            degrees = np.diff(graph.adjacency.indptr).astype(np.float64)
            pattern = graph.adjacency.copy()
            pattern.data[:] = 1
            expected = float((-np.expm1(-(pattern @ degrees) / n) * n).sum())
        return cls(
            nodes=n,
            entries=int(graph.adjacency.nnz),
            features=graph.feature_count,
            feature_entries=None if isinstance(graph.features, np.ndarray) else int(graph.features.nnz),
            classes=graph.class_count,
            copies=copies,
            two_hop_entries=round(expected),
        )

    @property
    def propagation(self) -> int:
        """Bytes of S, without its transpose."""
        return 8 * (self.entries + self.nodes) + 4 * self.nodes
