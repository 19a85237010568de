"""The most similar nodes of each node, exactly, in blocks.

Products are computed for a block of queries against all keys, so memory is one block, whatever the number of nodes.
Equal products (to six decimals) are ordered by position: the smaller comes first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnp.graph.graph import Features
from lnp.nn.sparse import SparseMatrix

__all__ = ["top_cosines", "top_products"]

BLOCK = 2**22
"""Entries of a block of products: 16 MiB, so that it is still in the cache when its largest entries are looked for."""
DECIMALS = 6
"""Products that agree to this many decimals count as equal."""


def top_products(
    queries: Tensor, keys: Tensor, count: int, *, skip: Tensor | None = None, block: int = BLOCK
) -> NDArray[np.int64]:
    """For every row of ``queries`` the ``count`` rows of ``keys`` with the largest dot product.

    Args:
        queries: ``(a, d)``.
        keys: ``(b, d)``.
        count: How many to find.
        skip: ``(a,)`` position of a key to leave out for each query, for instance the node itself; −1 for none.
        block: Products held at a time.

    Returns:
        ``(a, count)`` positions in ``keys``, best first, −1 where there are no more.
    """
    turned = keys.T.contiguous()
    return _in_blocks(
        queries.shape[0], keys.shape[0], count, lambda start, stop: queries[start:stop] @ turned, skip, -np.inf, block
    )


def top_cosines(
    features: Features,
    queries: NDArray[np.int64],
    keys: NDArray[np.int64],
    count: int,
    *,
    block: int = BLOCK,
) -> NDArray[np.int64]:
    """For every node of ``queries`` the ``count`` other nodes of ``keys`` with the largest cosine of their features.

    Only positive cosines count: nodes that share nothing are not similar, and a node without features has no similar
    node at all.

    Args:
        features: X, dense or sparse.
        queries: Node numbers.
        keys: Node numbers, each once.
        count: How many to find.
        block: Products held at a time.

    Returns:
        ``(len(queries), count)`` node numbers, best first, −1 where there are no more.

    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]], np.float32)
    >>> top_cosines(X, np.arange(4), np.array([0, 1, 3]), 2).tolist()
    [[1, -1], [0, -1], [1, -1], [-1, -1]]
    """
    if isinstance(features, np.ndarray):
        norms = np.linalg.norm(features, axis=1)
    else:
        norms = np.sqrt(np.asarray(features.multiply(features).sum(axis=1), np.float64).ravel())
    scale = np.divide(1.0, norms, out=np.zeros(norms.shape), where=norms > 0).astype(np.float32)
    product: Callable[[int, int], Tensor]
    if isinstance(features, np.ndarray):
        turned = torch.from_numpy(np.ascontiguousarray((features[keys] * scale[keys, None]).T))

        def product(start: int, stop: int) -> Tensor:
            nodes = queries[start:stop]
            return torch.from_numpy(features[nodes] * scale[nodes, None]) @ turned
    else:
        matrix = SparseMatrix.from_scipy(features[keys].multiply(scale[keys, None]).tocsr(), symmetric=True)

        def product(start: int, stop: int) -> Tensor:
            nodes = queries[start:stop]
            dense = (features[nodes].toarray() * scale[nodes, None]).T
            return (matrix @ torch.from_numpy(np.ascontiguousarray(dense))).T.contiguous()

    position = np.full(features.shape[0], -1, np.int64)
    position[keys] = np.arange(keys.size)
    skip = torch.from_numpy(position[queries])
    found = _in_blocks(queries.size, keys.size, count, product, skip, 10.0**-DECIMALS, block)
    return np.where(found >= 0, np.append(keys, -1)[found], -1)


def _in_blocks(
    query_count: int,
    key_count: int,
    count: int,
    product: Callable[[int, int], Tensor],
    skip: Tensor | None,
    smallest: float,
    block: int,
) -> NDArray[np.int64]:
    found = np.full((query_count, count), -1, np.int64)
    if key_count == 0 or count == 0:
        return found
    rows = max(1, block // key_count)
    for start in range(0, query_count, rows):
        stop = min(start + rows, query_count)
        values = product(start, stop)
        if skip is not None:
            left_out = skip[start:stop].to(values.device)
            present = (left_out >= 0).nonzero().squeeze(1)
            values[present, left_out[present]] = -torch.inf
        _largest(values, smallest, found[start:stop])
    return found


def _largest(values: Tensor, smallest: float, found: NDArray[np.int64]) -> None:
    """Writes the positions of each row's largest values into ``found``.

    The maxima of groups of columns bound the wanted value from below (each of the best groups holds one entry at least
    that large), so only groups that reach the bound are looked into, and only the few entries above it are sorted.
    """
    rows, columns = values.shape
    count = found.shape[1]
    group = max(1, columns // (8 * count))
    whole = columns // group * group
    grouped = values.unfold(1, group, group)  # a view; the last few columns are in no group
    maxima = grouped.amax(dim=2) if group > 1 else values
    if maxima.shape[1] > count:
        bound = maxima.topk(count, dim=1, sorted=False).values.amin(dim=1) - 2 * 10.0**-DECIMALS
    else:
        bound = torch.full((rows,), -torch.inf, dtype=values.dtype, device=values.device)
    bound = bound.clamp(min=max(smallest, torch.finfo(values.dtype).min)).unsqueeze(1)  # never a key left out
    row, place = (maxima >= bound).nonzero(as_tuple=True)
    one, offset = (grouped[row, place] >= bound[row]).nonzero(as_tuple=True)
    rest_row, rest = (values[:, whole:] >= bound).nonzero(as_tuple=True)
    row, column = torch.cat([row[one], rest_row]), torch.cat([place[one] * group + offset, rest + whole])
    above = values[row, column].double().round(decimals=DECIMALS).cpu().numpy()
    row_numbers, column_numbers = row.cpu().numpy(), column.cpu().numpy()
    order = np.lexsort((column_numbers, -above, row_numbers))
    row_numbers, column_numbers = row_numbers[order], column_numbers[order]
    rank = np.arange(row_numbers.size) - np.searchsorted(row_numbers, row_numbers)
    kept = rank < count
    found[row_numbers[kept], rank[kept]] = column_numbers[kept]
