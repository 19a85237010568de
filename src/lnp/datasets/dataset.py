"""A dataset: a graph, its true labels, and the customs that go with it."""

from __future__ import annotations

from dataclasses import dataclass

from lnp.errors import DataError, check_choice
from lnp.graph.features import SCALINGS
from lnp.graph.graph import Graph
from lnp.graph.labels import Truth
from lnp.graph.split import Split

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A graph and what benchmarks know about it.

    Args:
        graph: The graph, features as published (nothing is scaled).
        truth: The true labels; −1 where nobody knows. The 15 nodes of CiteSeer that have neither features nor a
            published label keep the 0 that public code gives them, because the paper's protocol counts them.
        public_splits: The splits published with the graph; empty where there is none.
        scaling: The customary scaling of the features, a name of :func:`~lnp.graph.features.scale_features`.
        source: Where it came from.
    """

    graph: Graph
    truth: Truth
    public_splits: tuple[Split, ...]
    scaling: str
    source: str

    def __post_init__(self) -> None:
        check_choice("scaling", self.scaling, SCALINGS)
        n, c = self.graph.node_count, self.graph.class_count
        if self.truth.labels.size != n or self.truth.class_count != c:
            raise DataError(
                f"Expected labels for {n} nodes in {c} classes, but got {self.truth.labels.size} nodes in "
                f"{self.truth.class_count} classes."
            )
        for number, split in enumerate(self.public_splits):
            for part in (split.train, split.validation, split.test):
                if part.size and not 0 <= part[0] <= part[-1] < n:
                    raise DataError(f"Expected split {number} to hold nodes 0 to {n - 1}, but it names another node.")

    @property
    def name(self) -> str:
        """The graph's name."""
        return self.graph.name
