r"""A made-up graph of the size of snap-patents, for measuring time and memory where the real one is not at hand.

Counts of nodes, edges, features and classes are those of snap-patents; homophily and degrees are like it. Nothing else
is: accuracy on this graph says nothing about patents.

- **Classes** stand for fifths of the years: 0, …, 4, equally many nodes of each.
- **Edges.** Exactly round(h m) of the m edges join two nodes of one class, the others nodes of two classes. Each end is
  drawn with probability proportional to a propensity θ_i, a rounded log-normal number; doubled edges and self-loops are
  drawn again. With the spread σ = 0.92 there are as many wedges, for the mean degree, as in the whole patent citation
  graph: :math:`E[d (d-1)] / E[d]^2 = e^{\sigma^2} \approx 2.3`.
- **Features** are like those of a form with 12 fields (country, category, …): the d columns are divided among the
  fields, and each node has a 1 in one column of every field. In a field, value v of a node of class k has probability

  .. math:: p(v \mid k) \propto \frac{1}{v} \exp(s \, t_k \, g_v), \qquad t_k = \frac{k - 2}{2}, \quad g_v \sim N(0, 1),

  so that values come and go over the years. The signal s = 0.3 is weak: who knew every p would name the class of 35 %
  of the nodes by their features. Kept sparse, they take 96 bytes a node instead of 1,076.

Time and memory are O(m + n), up to a logarithm for sorting.

References: Lim et al., *Large scale learning on non-homophilous graphs*, NeurIPS 2021 (snap-patents); Kunegis,
*KONECT*, WWW 2013 (3,774,768 patents, mean degree 8.75, 335,781,273 wedges).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lnp.datasets.dataset import Dataset
from lnp.datasets.distinct_pairs import distinct_pairs
from lnp.errors import check_range
from lnp.graph.graph import Graph
from lnp.graph.labels import Truth
from lnp.graph.split import random_split
from lnp.noise.corrupt import draw_classes
from lnp.seeds import Generator

__all__ = ["SHARES", "SyntheticPatentsConfig", "synthetic_patents"]

NODES, EDGES, FEATURES, CLASSES, HOMOPHILY = 2_923_922, 13_975_788, 269, 5, 0.073
"""Those of snap-patents."""

FIELDS = 12
"""Ones in a row of the features."""

DEGREE_SPREAD = 0.92
"""σ of the log-normal propensities."""

STUBS = 10
"""The mean propensity: large enough that rounding it changes little."""

SHARES = (0.5, 0.25, 0.25)
"""Training, validation, test, as the authors of snap-patents divide it."""

ADVICE = "Take fewer edges or more nodes."


@dataclass(frozen=True, kw_only=True)
class SyntheticPatentsConfig:
    """The knobs; all but the counts are for trying things out.

    Args:
        nodes: n.
        edges: m, undirected; ``None`` keeps the mean degree of snap-patents, 9.56.
        features: d.
        homophily: h, the share of edges within a class.
        signal: s, how much features tell of the class.
    """

    nodes: int = NODES
    edges: int | None = None
    features: int = FEATURES
    homophily: float = HOMOPHILY
    signal: float = 0.3

    def __post_init__(self) -> None:
        check_range("nodes", self.nodes, 2 * CLASSES, 2**31 - 1)
        check_range("edges", self.edge_count, 0, 2**31 - 1)
        check_range("features", self.features, 2, 2**31 - 1)
        check_range("homophily", self.homophily, 0, 1)
        check_range("signal", self.signal, 0, 10)

    @property
    def edge_count(self) -> int:
        """m, whole where it follows from n."""
        return (2 * self.nodes * EDGES + NODES) // (2 * NODES) if self.edges is None else self.edges


def synthetic_patents(config: SyntheticPatentsConfig, generator: Generator) -> Dataset:
    """Draws a graph with one split of 50/25/25 %."""
    labels = generator.permutation(np.arange(config.nodes) % CLASSES)
    edges = _draw_edges(config, labels, generator)
    features = _draw_features(config, labels, generator)
    notes = {**asdict(config), "edges": config.edge_count, "synthetic": True}
    graph = Graph.from_edges(edges, features, class_count=CLASSES, name="synthetic-patents", notes=notes)
    return Dataset(
        graph=graph,
        truth=Truth(labels, CLASSES),
        public_splits=(random_split(labels, generator, SHARES),),
        scaling="none",
        source="synthetic: a random graph of the size of snap-patents, not the patents",
    )


def _draw_edges(config: SyntheticPatentsConfig, labels: NDArray[np.int64], generator: Generator) -> NDArray[np.int32]:
    n, m = config.nodes, config.edge_count
    propensity = generator.lognormal(np.log(STUBS) - DEGREE_SPREAD**2 / 2, DEGREE_SPREAD, n)
    weights = np.maximum(1, np.rint(propensity)).astype(np.int64)
    order = np.argsort(labels, kind="stable")
    stubs = np.repeat(order.astype(np.int32), weights[order])  # class by class, each node as often as its propensity
    size = np.bincount(labels, weights, CLASSES).astype(np.int64)  # of the segment of each class
    start = np.cumsum(size) - size

    def within(count: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        first = stubs[generator.integers(stubs.size, size=count)]
        k = labels[first]
        return first, stubs[start[k] + (generator.random(count) * size[k]).astype(np.int64)]

    def across(count: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        first = stubs[generator.integers(stubs.size, size=count)]
        k = labels[first]
        place = (generator.random(count) * (stubs.size - size[k])).astype(np.int64)
        place += np.where(place >= start[k], size[k], 0)  # leave out the segment of the node's own class
        return first, stubs[place]

    members = np.bincount(labels, minlength=CLASSES)
    pairs_within = int((members * (members - 1)).sum()) // 2
    pairs_across = n * (n - 1) // 2 - pairs_within
    same = round(config.homophily * m)
    pairs = partial(distinct_pairs, n=n, knob="edges", advice=ADVICE)
    keys = np.concatenate([pairs(within, same, pairs_within), pairs(across, m - same, pairs_across)])
    edges = np.empty((2, m), np.int32)
    np.floor_divide(keys, n, out=edges[0], casting="unsafe")
    np.remainder(keys, n, out=edges[1], casting="unsafe")
    return edges


def _draw_features(config: SyntheticPatentsConfig, labels: NDArray[np.int64], generator: Generator) -> sp.csr_array:
    widths = field_widths(config.features)
    columns = np.empty((config.nodes, widths.size), np.int32)
    for field, (width, first) in enumerate(zip(widths, np.cumsum(widths) - widths, strict=True)):
        table = field_table(config, int(width), generator)
        columns[:, field] = first + draw_classes(labels, table, generator.random(config.nodes))
    pointer = np.arange(0, columns.size + 1, widths.size, dtype=np.int32 if columns.size < 2**31 else np.int64)
    ones = np.ones(columns.size, np.float32)
    return sp.csr_array((ones, columns.ravel(), pointer), shape=(config.nodes, config.features))


def field_widths(features: int) -> NDArray[np.int64]:
    """How many columns each field has: at least two, as even as can be.

    >>> field_widths(269).tolist()
    [23, 23, 23, 23, 23, 22, 22, 22, 22, 22, 22, 22]
    >>> field_widths(5).tolist()
    [3, 2]
    """
    fields = min(FIELDS, features // 2)
    return features // fields + (np.arange(fields) < features % fields)


def field_table(config: SyntheticPatentsConfig, width: int, generator: Generator) -> NDArray[np.float64]:
    """``(c, width)`` p(v | k) of one field."""
    trend = np.linspace(-1, 1, CLASSES)[:, None] * generator.standard_normal(width)
    table = np.exp(config.signal * trend) / np.arange(1, width + 1)
    shares: NDArray[np.float64] = table / table.sum(axis=1, keepdims=True)
    return shares
