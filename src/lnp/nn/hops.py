r"""Hops: features averaged over ever wider neighbourhoods, computed once before training.

.. math:: X,\; S X,\; S^2 X,\; \dots,\; S^L X

They depend on no parameter, so a network that reads nothing else needs the graph no more: its rows are independent.

A hop of a small graph is kept in memory, as CSR while less than a quarter of its entries are other than 0 (with its
transpose, a stored entry takes four times the bytes of a dense one) and dense from then on: bags of words start sparse
and fill up hop by hop. Hops that would take more than :data:`IN_MEMORY` bytes are written to a file, dense and block by
block, and mapped into memory (:mod:`lnp.nn.hops_file`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnp.errors import ConfigError
from lnp.graph.graph import Features, Graph
from lnp.nn.graph_tensors import GraphTensors, InputFeatures, SideBySide
from lnp.nn.hops_file import HopsFile, hops_file, write_hops
from lnp.nn.linear import multiply
from lnp.nn.propagation import propagation_matrix
from lnp.nn.sparse import Multiplier, SparseMatrix

__all__ = ["IN_MEMORY", "HopRows", "build_hops", "hop_products", "hops_identity", "next_hop", "stored_hops"]

IN_MEMORY = 2**30
"""Bytes of dense hops up to which they stay in memory."""

SPARSE_BELOW = 0.25
"""The share of entries other than 0 below which a hop stays CSR."""

BLOCK = 2**16
"""Rows computed at a time."""


class HopRows:
    """Some rows of the hops, in place of a graph: all that a network needs which reads nothing else.

    Args:
        hops: ``(L + 1, rows, d)``: X, S X, …, S^L X.
        kind: Which S they were made with.

    Attributes:
        features: X of those rows.
        device: Where they are.
        lean: Networks make as few copies as they can: rows come in large numbers.
    """

    lean = True

    def __init__(self, hops: Tensor, kind: str) -> None:
        self.hops: Tensor = hops
        self.kind = kind
        self.features = hops[0]
        self.device = hops.device

    @property
    def node_count(self) -> int:
        """The number of rows."""
        return self.features.shape[0]

    def propagation(self, kind: str) -> Multiplier:
        """Rows without their neighbours cannot be propagated."""
        raise ConfigError("Expected a backbone whose rows are independent (sign), but got one that needs the graph.")

    def with_columns(self, extra: Tensor) -> HopRows:
        """Further columns would have to be propagated."""
        raise ConfigError(
            "Expected a method that adds no columns to the features, but got one. LNP needs `fusion` prototypes here."
        )


def hop_products(graph: GraphTensors | HopRows, kind: str, weights: Sequence[Tensor]) -> list[Tensor]:
    r""":math:`X W_0, S X W_1, \dots, S^L X W_L`.

    Columns that :meth:`~lnp.nn.graph_tensors.GraphTensors.with_columns` added may change from call to call, so for them
    S is applied to the products, which are narrow; so it is in a sampled part of a graph, whose S is drawn each time.
    """
    if isinstance(graph, HopRows):
        if (graph.kind, len(graph.hops)) != (kind, len(weights)):
            raise ConfigError(
                f"Expected {len(weights) - 1} hops with `normalisation` {kind}, but got {len(graph.hops) - 1} with "
                f"{graph.kind}."
            )
        return [multiply(hop, weight) for hop, weight in zip(graph.hops, weights, strict=True)]
    features = graph.features
    if type(graph) is not GraphTensors:
        return _propagated(graph, kind, features, weights)
    fixed = features.fixed if isinstance(features, SideBySide) else features
    hops = [fixed, *_hops_after_first(graph.graph, kind, len(weights) - 1, graph.device)]
    width = fixed.shape[1]
    products = [multiply(hop, weight[:width]) for hop, weight in zip(hops, weights, strict=True)]
    if not isinstance(features, SideBySide):
        return products
    extra = _propagated(graph, kind, features.extra, [weight[width:] for weight in weights])
    return [one + other for one, other in zip(products, extra, strict=True)]


def _propagated(graph: GraphTensors, kind: str, features: InputFeatures, weights: Sequence[Tensor]) -> list[Tensor]:
    products = []
    for times, weight in enumerate(weights):
        product = multiply(features, weight)
        for _ in range(times):
            product = graph.propagation(kind) @ product
        products.append(product)
    return products


_KNOWN: WeakKeyDictionary[Graph, dict[tuple[str, int, str], list[Tensor | SparseMatrix]]] = WeakKeyDictionary()
"""Hops of graphs in use: graphs do not change, and the networks of a method share theirs."""


def _hops_after_first(graph: Graph, kind: str, count: int, device: torch.device) -> list[Tensor | SparseMatrix]:
    """S X, …, S^count X, computed at the first call."""
    known, key = _KNOWN.setdefault(graph, {}), (kind, count, str(device))
    if key not in known:
        known[key] = build_hops(graph, kind, count, device)
    return known[key]


def build_hops(graph: Graph, kind: str, count: int, device: torch.device) -> list[Tensor | SparseMatrix]:
    """S X, …, S^count X, ready to be multiplied with.

    Args:
        graph: The graph.
        kind: Which S (see :mod:`lnp.nn.propagation`).
        count: L, how many times S is applied.
        device: Where the hops are put.
    """
    if count * graph.node_count * graph.feature_count * 4 > IN_MEMORY:
        return [torch.from_numpy(hop).to(device) for hop in stored_hops(graph, kind, count).checked()[1:]]
    hops: list[Tensor | SparseMatrix] = []
    matrix, current = propagation_matrix(graph.adjacency, kind, graph.features), graph.features
    for _ in range(count):
        current = next_hop(matrix, current)
        if isinstance(current, np.ndarray):
            hops.append(torch.from_numpy(current).to(device))
        else:
            hops.append(SparseMatrix.from_scipy(current, device=device))
    return hops


def next_hop(matrix: sp.csr_array, features: Features, *, block: int = BLOCK) -> Features:
    """S F, block by block; dense where F is dense or the product is not sparse enough."""
    rows, columns = matrix.shape[0], features.shape[1]
    if isinstance(features, np.ndarray):
        product = np.empty((rows, columns), np.float32)
        for part, values in _products(matrix, features, block):
            product[part] = values
        return product
    parts: list[Any] = []
    stored, most = 0, SPARSE_BELOW * rows * columns
    for _, values in _products(matrix, features, block):
        parts.append(values)
        stored += values.nnz
        if stored > most:  # counted before the rest is computed, so the sparse parts never outgrow the dense product
            break
    else:
        return sp.csr_array(sp.vstack(parts, format="csr"))
    product = np.empty((rows, columns), np.float32)
    done = 0
    while parts:
        values = parts.pop(0)
        product[done : done + values.shape[0]] = values.toarray()
        done += values.shape[0]
    for part, values in _products(matrix[done:], features, block):
        product[done:][part] = values.toarray()
    return product


def hops_identity(graph: Graph, kind: str, count: int) -> dict[str, object]:
    """What hops in a file are known by."""
    return {"graph": graph.checksum, "propagation": kind, "hops": count}


def stored_hops(graph: Graph, kind: str, count: int, *, block: int = BLOCK) -> HopsFile:
    """X and its hops in a file of the cache, which is written where there is none."""
    identity = hops_identity(graph, kind, count)
    present = hops_file(identity)
    if present is not None:
        return present
    shape = count + 1, graph.node_count, graph.feature_count
    return write_hops(identity, shape, lambda earlier: _blocks(graph, kind, earlier, block))


def _blocks(
    graph: Graph, kind: str, earlier: NDArray[np.float32], block: int
) -> Iterator[tuple[int, slice, NDArray[np.float32]]]:
    """Every hop, block of rows by block, X first; ``earlier`` holds what has been given so far."""
    for start in range(0, graph.node_count, block):
        part = slice(start, min(start + block, graph.node_count))
        values = graph.features[part]
        yield 0, part, values if isinstance(values, np.ndarray) else values.toarray()
    matrix = propagation_matrix(graph.adjacency, kind, graph.features)
    for hop in range(1, earlier.shape[0]):
        sparse = hop == 1 and not isinstance(graph.features, np.ndarray)
        for part, values in _products(matrix, graph.features if sparse else earlier[hop - 1], block):
            yield hop, part, values.toarray() if sparse else values


def _products(matrix: sp.csr_array, features: Features, block: int) -> Iterator[tuple[slice, Any]]:
    for start in range(0, matrix.shape[0], block):
        part = slice(start, min(start + block, matrix.shape[0]))
        yield part, matrix[part] @ features
