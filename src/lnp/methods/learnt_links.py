"""What NRGNN and RTGNN share: a graph with links beyond its own, which an edge predictor finds and weighs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from lnp.errors import ConfigError, check_range
from lnp.methods.base import Method, Terms
from lnp.methods.batch import Batch
from lnp.methods.fine_tuning import FineTunedConfig
from lnp.nn.edge_predictor import EdgePredictor, edge_loss, link_weights
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.sparse import SparseMatrix
from lnp.nn.weighted_graph import Pairs, WeightedGraph, WeightedPairs, looped_adjacency, new_pairs
from lnp.seeds import Generator

__all__ = ["LearnsLinks", "LearntLinksConfig", "listed_pairs"]


@dataclass(frozen=True, kw_only=True)
class LearntLinksConfig(FineTunedConfig):
    """Options of methods that learn links; their networks are always GCNs.

    Args:
        link_threshold: Below it the weight of a link counts as 0.
        edge_term: Weight of the edge predictor's loss.
        negatives: Non-edges per node that the edge predictor learns from (half of them count).
        edge_hidden: Width of the edge predictor.
    """

    link_threshold: float = 0.1
    edge_term: float = 1.0
    negatives: int = 50
    edge_hidden: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__.removesuffix("Config")
        if self.backbone != "gcn":
            raise ConfigError(f"Expected `backbone` to be gcn, which {name} is made for, but got {self.backbone!r}.")
        if self.similar_weight > 0:
            raise ConfigError(
                f"Expected `similar_weight` to be 0 ({name} learns its links), but got {self.similar_weight}."
            )
        check_range("edge_term", self.edge_term, 0, math.inf)
        self.check_at_least(negatives=0, edge_hidden=1)

    def check_at_least(self, **least: int) -> None:
        """Raises where an option is below what it may be."""
        for name, bound in least.items():
            if getattr(self, name) < bound:
                raise ConfigError(f"Expected `{name}` to be at least {bound}, but got {getattr(self, name)}.")


class LearnsLinks(Method):
    """An edge predictor, and what is built once for each graph.

    Attributes:
        edge_predictor: Gives every node a vector; products of vectors weigh links.
    """

    config: LearntLinksConfig

    def prepare_links(self, batch: Batch, generator: Generator, *, unit_length: bool = False) -> None:
        """Makes the edge predictor; a step of construction.

        Args:
            batch: For its sizes.
            generator: Draws the initial weights.
            unit_length: Whether vectors have length one.
        """
        config = self.config
        self.edge_predictor = EdgePredictor(
            batch.graph.features.shape[1],
            config.edge_hidden,
            generator,
            normalisation=config.normalisation,
            loop_weight=config.loop_weight,
            unit_length=unit_length,
        )
        self._known: tuple[GraphTensors, SparseMatrix, Pairs] | None = None

    def weigh(self, pairs: Pairs, vectors: Tensor) -> WeightedPairs:
        """Links with the weights that the edge predictor's vectors give."""
        return pairs.weighted(link_weights(pairs.dots(vectors), self.config.link_threshold))

    def with_links(self, batch: Batch, *links: WeightedPairs) -> WeightedGraph:
        """A + λ I with further links."""
        parts = [part for part in links if len(part.pairs)]
        return WeightedGraph(self._fixed(batch)[0], parts, self.config.normalisation, self.config.loop_weight)

    def edge_terms(self, batch: Batch, vectors: Tensor) -> Terms:
        """The edge predictor's loss; nothing where its weight is 0."""
        config = self.config
        if config.edge_term == 0:
            return {}
        loss = edge_loss(vectors, self._fixed(batch)[1], config.negatives * batch.node_count)
        return {"edges": config.edge_term * loss}

    def _fixed(self, batch: Batch) -> tuple[SparseMatrix, Pairs]:
        """A + λ I and the edges, built once per graph."""
        if self._known is None or self._known[0] is not batch.graph:
            graph, device = batch.graph.graph, batch.graph.device
            edges = Pairs(graph.edges[0], graph.edges[1], graph.node_count, device)
            self._known = (batch.graph, looped_adjacency(graph.adjacency, device, self.config.loop_weight), edges)
        return self._known[1], self._known[2]


def listed_pairs(partners: Tensor, batch: Batch) -> Pairs:
    """The links from a table with one row of partners for each node, −1 for nobody, without those that A has."""
    table = partners.cpu().numpy()
    nodes, place = np.nonzero(table >= 0)
    return new_pairs(nodes, table[nodes, place], batch.graph.graph.adjacency, batch.graph.device)
