"""The graph: who is connected to whom, and what is known of each node besides its label."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from lnp.errors import GraphError

__all__ = ["Features", "Graph"]

Features: TypeAlias = NDArray[np.float32] | Any
"""Dense, or a ``scipy.sparse.csr_array`` (scipy has no types of its own)."""


@dataclass(frozen=True, eq=False)
class Graph:
    """An undirected graph with node features. It holds no label.

    Build one with :meth:`from_edges`; the constructor takes parts that already obey the contract and checks them.

    Args:
        adjacency: A, symmetric ``(n, n)`` CSR with positive weights (1 for an unweighted edge) and no self-loops.
        features: X, ``(n, d)``, dense or CSR, float32, finite.
        node_ids: One name per node, as the user knows it; ``0 … n-1`` when omitted.
        class_names: One name per class; their number is the class count c.
        name: What to call the graph in tables.
        notes: Facts about the graph that a page may show (for instance the shape of a picture).
    """

    adjacency: sp.csr_array
    features: Features
    class_names: tuple[str, ...]
    node_ids: tuple[str, ...] | None = None
    name: str = "graph"
    notes: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = self.adjacency.shape[0]
        if n == 0:
            raise GraphError(f"Expected graph {self.name!r} to have at least one node, but it is empty.")
        if self.adjacency.shape != (n, n):
            raise GraphError(f"Expected `adjacency` to be square, but got shape {self.adjacency.shape}.")
        if self.features.ndim != 2 or self.features.shape[0] != n:
            raise GraphError(
                f"Expected `features` to have one row for each of the {n} nodes, but got shape "
                f"{tuple(self.features.shape)}."
            )
        if self.node_ids is not None and len(self.node_ids) != n:
            raise GraphError(f"Expected {n} `node_ids`, but got {len(self.node_ids)}.")
        if len(self.class_names) < 2:
            raise GraphError(f"Expected at least two classes, but got {list(self.class_names)}.")
        _check_finite(self.features)
        if self.adjacency.diagonal().any():
            raise GraphError("Expected `adjacency` to have no self-loops; build the graph with Graph.from_edges.")
        if abs(self.adjacency - self.adjacency.T).max() > 0:
            raise GraphError(
                "Expected `adjacency` to be symmetric; build the graph with Graph.from_edges, which makes it so."
            )

    @classmethod
    def from_edges(
        cls,
        edges: ArrayLike,
        features: ArrayLike | sp.sparray | sp.spmatrix,
        *,
        class_names: tuple[str, ...] | None = None,
        class_count: int | None = None,
        weights: ArrayLike | None = None,
        node_ids: tuple[str, ...] | None = None,
        name: str = "graph",
        notes: dict[str, object] | None = None,
    ) -> Graph:
        """Builds a graph from a ``(2, m)`` array of edges in either direction.

        Edges are made undirected, doubled ones are merged (the larger weight stays) and self-loops dropped; isolated
        nodes stay. Give the classes by name or by number.
        """
        table = np.asarray(edges)
        if table.size == 0:
            table = table.reshape(2, 0).astype(np.int64)
        if table.ndim != 2 or table.shape[0] != 2 or not np.issubdtype(table.dtype, np.integer):
            raise GraphError(
                f"Expected `edges` to be a (2, m) array of node numbers, but got shape {table.shape} of {table.dtype}."
            )
        matrix = as_features(features)
        n = matrix.shape[0]
        outside = (table < 0) | (table >= n)
        if outside.any():
            row, column = (int(i) for i in np.argwhere(outside)[0])
            raise GraphError(
                f"Expected edges between nodes 0 to {n - 1}, but edge {column} names node {int(table[row, column])}."
            )
        values = np.ones(table.shape[1], np.float32) if weights is None else np.asarray(weights, np.float32)
        if values.shape != (table.shape[1],) or not (values > 0).all() or not np.isfinite(values).all():
            raise GraphError(f"Expected `weights` to be {table.shape[1]} positive numbers, one for each edge.")
        if class_names is None:
            if class_count is None:
                raise GraphError("Expected `class_names` or `class_count`, but got neither.")
            class_names = tuple(str(k) for k in range(class_count))
        return cls(
            adjacency=_undirected(table, values, n),
            features=matrix,
            class_names=tuple(class_names),
            node_ids=node_ids,
            name=name,
            notes=dict(notes or {}),
        )

    @property
    def node_count(self) -> int:
        """The number of nodes n."""
        return int(self.adjacency.shape[0])

    @property
    def edge_count(self) -> int:
        """The number of undirected edges m."""
        return int(self.adjacency.nnz) // 2

    @property
    def feature_count(self) -> int:
        """The number of features d."""
        return int(self.features.shape[1])

    @property
    def class_count(self) -> int:
        """The number of classes c."""
        return len(self.class_names)

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """Every undirected edge once, ``(2, m)`` with the smaller node first."""
        upper = sp.triu(self.adjacency, 1).tocoo()
        return np.stack([upper.row, upper.col]).astype(np.int64)

    @cached_property
    def checksum(self) -> str:
        """A digest of nodes, edges and features: equal graphs have equal checksums."""
        digest = hashlib.sha256(f"{self.adjacency.shape}{self.features.shape}{self.class_count}".encode())
        for matrix in (self.adjacency, self.features):
            if isinstance(matrix, np.ndarray):
                digest.update(np.ascontiguousarray(matrix, np.float32).tobytes())
            else:
                digest.update(matrix.indptr.astype(np.int64).tobytes())
                digest.update(matrix.indices.astype(np.int64).tobytes())
                digest.update(matrix.data.astype(np.float32).tobytes())
        return digest.hexdigest()[:16]

    def with_features(self, features: ArrayLike | sp.sparray | sp.spmatrix) -> Graph:
        """The same graph with other features."""
        return replace(self, features=as_features(features))

    def permuted(self, order: NDArray[np.int64]) -> Graph:
        """The graph whose node ``i`` is node ``order[i]`` of this one."""
        ids = None if self.node_ids is None else tuple(self.node_ids[i] for i in order)
        adjacency = sorted_csr(self.adjacency[order][:, order])
        return replace(self, adjacency=adjacency, features=self.features[order], node_ids=ids)

    def __repr__(self) -> str:
        return (
            f"Graph({self.name!r}, {self.node_count:,} nodes, {self.edge_count:,} edges, "
            f"{self.feature_count:,} features, {self.class_count} classes)"
        )


def as_features(features: ArrayLike | sp.sparray | sp.spmatrix) -> Features:
    """The features as float32, dense or CSR (bags of words stay sparse)."""
    if isinstance(features, sp.sparray | sp.spmatrix):
        return sorted_csr(sp.csr_array(features).astype(np.float32))
    dense = np.ascontiguousarray(features, dtype=np.float32)
    if dense.ndim != 2:
        raise GraphError(f"Expected `features` to be a (nodes, features) matrix, but got shape {dense.shape}.")
    return dense


def sorted_csr(matrix: sp.csr_array) -> sp.csr_array:
    """CSR with sorted column indices and no stored zeros, so that equal matrices have equal parts."""
    matrix = sp.csr_array(matrix)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _undirected(edges: NDArray[np.int64], weights: NDArray[np.float32], n: int) -> sp.csr_array:
    source, target = edges
    apart = source != target
    source, target, weights = source[apart], target[apart], weights[apart]
    low, high = np.minimum(source, target).astype(np.int64), np.maximum(source, target).astype(np.int64)
    key = low * n + high
    order = np.lexsort((weights, key))  # by edge, the larger weight last
    key, low, high, weights = key[order], low[order], high[order], weights[order]
    last = np.r_[key[1:] != key[:-1], True] if key.size else np.zeros(0, bool)
    low, high, weights = low[last], high[last], weights[last]
    both = (np.r_[weights, weights], (np.r_[low, high], np.r_[high, low]))
    return sorted_csr(sp.coo_array(both, shape=(n, n), dtype=np.float32).tocsr())


def _check_finite(features: Features) -> None:
    values = features if isinstance(features, np.ndarray) else features.data
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    if isinstance(features, np.ndarray):
        row, column = (int(i) for i in np.argwhere(bad)[0])
    else:
        position = int(np.flatnonzero(bad)[0])
        row = int(np.searchsorted(features.indptr, position, side="right")) - 1
        column = int(features.indices[position])
    raise GraphError(
        f"Expected finite features, but node {row}, feature {column} is not a number or infinite "
        f"({int(bad.sum())} such values in all)."
    )
