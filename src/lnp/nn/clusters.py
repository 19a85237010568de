"""A graph cut into clusters with few links between them, by METIS."""

from __future__ import annotations

import hashlib
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lnp.datasets.download import cache_folder
from lnp.errors import ConfigError

__all__ = ["clusters_of", "metis_clusters"]

KEPT_NODES = 50_000
"""Number of nodes from which on a partition is kept in the user's cache, because making it takes seconds."""

SEED = 1
"""METIS draws, too; with a fixed seed it cuts the same graph in the same way."""


def clusters_of(adjacency: sp.csr_array, count: int, *, kept_nodes: int = KEPT_NODES) -> list[NDArray[np.int64]]:
    """The nodes of each cluster that is not empty, sorted.

    Args:
        adjacency: A, symmetric CSR.
        count: How many clusters to cut the graph into.
        kept_nodes: Number of nodes from which on the partition is read from a file, where there is one, and kept there.
    """
    n = int(adjacency.shape[0])
    path = _path(adjacency, count) if n >= kept_nodes else None
    numbers = None if path is None else _read(path, n, count)
    if numbers is None:
        numbers = metis_clusters(adjacency, count)
        if path is not None:
            _write(path, numbers)
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=count))
    return [nodes for nodes in np.split(order, ends[:-1]) if nodes.size]


def metis_clusters(adjacency: sp.csr_array, count: int) -> NDArray[np.int64]:
    """The number of each node's cluster, from 0: about equally many nodes in each, and few edges cut."""
    n = int(adjacency.shape[0])
    if not 1 <= count <= n:
        raise ConfigError(f"Expected `clusters` to be from 1 to {n}, the number of nodes, but got {count}.")
    if count == 1:
        return np.zeros(n, np.int64)
    pymetis = _pymetis()
    options = pymetis.Options(seed=SEED)
    links = pymetis.CSRAdjacency(adjacency.indptr, adjacency.indices)
    cut = pymetis.part_graph(count, links, recursive=False, options=options)
    return np.asarray(cut.vertex_part, np.int64)


def _pymetis() -> Any:
    try:
        import pymetis
    except ImportError as error:
        raise ConfigError(
            "Expected the package pymetis, which cuts graphs into clusters, but it is not installed. Install it with "
            "`pip install 'lnp[scale]'`, or train with neighbours instead of clusters."
        ) from error
    return pymetis


def _path(adjacency: sp.csr_array, count: int) -> Path:
    _pymetis()
    digest = hashlib.sha256(f"{adjacency.shape} {count} {SEED} {version('pymetis')}".encode())
    digest.update(np.ascontiguousarray(adjacency.indptr, np.int64).data)
    digest.update(np.ascontiguousarray(adjacency.indices, np.int32).data)
    return cache_folder() / "clusters" / f"clusters-{digest.hexdigest()[:16]}.npy"


def _read(path: Path, nodes: int, count: int) -> NDArray[np.int64] | None:
    try:
        numbers = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):  # no file, or not one of ours: it is made again
        return None
    whole = numbers.shape == (nodes,) and np.issubdtype(numbers.dtype, np.integer)
    return numbers.astype(np.int64) if whole and numbers.min() >= 0 and numbers.max() < count else None


def _write(path: Path, numbers: NDArray[np.int64]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            np.save(file, numbers.astype(np.int32), allow_pickle=False)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
