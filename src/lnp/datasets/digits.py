"""Handwritten digits as a graph: nothing to download, and a person can see whether a label is right.

Nodes are the 1,797 pictures of scikit-learn's digits (8 × 8 pixels, 10 classes), and each is joined to the k most
similar ones by Euclidean distance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lnp.datasets.dataset import Dataset
from lnp.errors import check_range
from lnp.graph.graph import Graph
from lnp.graph.labels import Truth

__all__ = ["PICTURE_SHAPE", "DigitsConfig", "digits"]

PICTURE_SHAPE = (8, 8)
"""Rows and columns of pixels; the graph's notes have it as ``picture_shape``."""

NODES = 1797
BRIGHTEST = 16


@dataclass(frozen=True, kw_only=True)
class DigitsConfig:
    """Options of the digits graph.

    Args:
        k: Neighbours that each picture names.
        mutual: Whether an edge needs both pictures to name each other, or (the default) either.
    """

    k: int = 10
    mutual: bool = False

    def __post_init__(self) -> None:
        check_range("k", self.k, 1, NODES - 1)


def digits(config: DigitsConfig | None = None) -> Dataset:
    """The graph, with pixels divided by 16 as features."""
    # Half of the start-up time of a command that needs neither, if it were imported with this module.
    from sklearn.datasets import load_digits
    from sklearn.neighbors import NearestNeighbors

    config = config or DigitsConfig()
    bunch = load_digits()
    pixels = bunch.data / BRIGHTEST
    search = NearestNeighbors(n_neighbors=config.k, algorithm="brute").fit(pixels)
    named = search.kneighbors_graph()  # row i: the k nearest of i, itself left out
    arrows = (named.multiply(named.T) if config.mutual else named).tocoo()
    graph = Graph.from_edges(
        np.stack([arrows.row, arrows.col]),
        pixels,
        class_names=tuple(str(k) for k in range(10)),
        name="digits",
        notes={"picture_shape": PICTURE_SHAPE},
    )
    kind = "mutual " if config.mutual else ""
    return Dataset(
        graph=graph,
        truth=Truth(bunch.target, graph.class_count),
        public_splits=(),
        scaling="none",
        source=f"scikit-learn, {kind}{config.k}-nearest-neighbour graph",
    )
