r"""A contextual stochastic block model: a graph whose homophily, degrees and features are knobs.

Each of m = n · degree / 2 edges joins two nodes of one class with probability h and nodes of two classes otherwise.
Given that, the first end i is drawn with probability proportional to its propensity θ_i, and the second likewise among
the allowed classes; pairs that are already joined are drawn again. So the expected edge homophily is h exactly and the
mean degree is exact. Features are

.. math:: x_i = \frac{s}{\sqrt 2} \, u_{y_i} + \varepsilon_i, \qquad \varepsilon_i \sim N(0, I_d),

with orthonormal directions u_k: any two class means are s noise standard deviations apart. Time and memory are
O(m + n d), up to a logarithm for sorting.

Reference: Deshpande et al., *Contextual stochastic block models*, NeurIPS 2018.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lnp.datasets.dataset import Dataset
from lnp.datasets.distinct_pairs import distinct_pairs
from lnp.errors import ConfigError, check_range
from lnp.graph.graph import Graph
from lnp.graph.labels import Truth
from lnp.seeds import Generator

__all__ = ["SyntheticConfig", "synthetic"]

ADVICE = "Take fewer neighbours, more nodes or a smaller `degree_spread`."


@dataclass(frozen=True, kw_only=True)
class SyntheticConfig:
    """The knobs.

    Args:
        nodes: n.
        classes: c.
        mean_degree: Mean number of neighbours.
        homophily: h, the expected share of edges within a class.
        features: d, at least c.
        signal: s, the distance between class means over the standard deviation of the noise.
        degree_spread: σ of the log-normal propensities θ; 0 makes all nodes alike, 1 gives a few hubs.
        balance: The share of each class, in any unit; ``None`` for equal shares.
    """

    nodes: int = 2000
    classes: int = 5
    mean_degree: float = 10.0
    homophily: float = 0.8
    features: int = 32
    signal: float = 2.0
    degree_spread: float = 0.0
    balance: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        check_range("homophily", self.homophily, 0, 1)
        check_range("classes", self.classes, 2, self.nodes)
        check_range("degree_spread", self.degree_spread, 0, 3)
        if self.features < self.classes:
            raise ConfigError(
                f"Expected `features` to be at least the number of classes, {self.classes}, but got {self.features}."
            )
        for name in ("mean_degree", "signal"):
            value = getattr(self, name)
            if not 0 <= value < float("inf"):
                raise ConfigError(f"Expected `{name}` to be a number from 0, but got {value}.")
        shares = self.balance
        if shares is not None and (len(shares) != self.classes or not all(0 < s < float("inf") for s in shares)):
            raise ConfigError(f"Expected `balance` to be {self.classes} positive numbers, but got {shares}.")


def synthetic(config: SyntheticConfig, generator: Generator) -> Dataset:
    """Draws a graph."""
    labels = _draw_labels(config, generator)
    edges = _draw_edges(config, labels, generator)
    features = _draw_features(config, labels, generator)
    notes = {name: value for name, value in asdict(config).items() if value is not None}
    graph = Graph.from_edges(edges, features, class_count=config.classes, name="synthetic", notes=notes)
    return Dataset(
        graph=graph,
        truth=Truth(labels, config.classes),
        public_splits=(),
        scaling="none",
        source="contextual stochastic block model",
    )


def _draw_labels(config: SyntheticConfig, generator: Generator) -> NDArray[np.int64]:
    shares = np.asarray(config.balance or [1.0] * config.classes, dtype=np.float64)
    # Every class gets a node; the others are cut at the cumulative shares.
    cuts = np.rint(np.cumsum(shares) / shares.sum() * (config.nodes - config.classes)).astype(np.int64)
    sizes = 1 + np.diff(cuts, prepend=0)
    return generator.permutation(np.repeat(np.arange(config.classes), sizes))


def _draw_features(config: SyntheticConfig, labels: NDArray[np.int64], generator: Generator) -> NDArray[np.float32]:
    directions = np.linalg.qr(generator.standard_normal((config.features, config.classes)))[0].T
    means = (config.signal / np.sqrt(2) * directions).astype(np.float32)
    features = generator.standard_normal((config.nodes, config.features), dtype=np.float32)
    features += means[labels]
    return features


def _draw_edges(config: SyntheticConfig, labels: NDArray[np.int64], generator: Generator) -> NDArray[np.int64]:
    n = config.nodes
    order = np.argsort(labels, kind="stable")  # nodes class by class, so that a class is a segment
    propensity = generator.lognormal(0.0, config.degree_spread, n) if config.degree_spread else np.ones(n)
    cumulative = np.r_[0.0, np.cumsum(propensity[order])]
    bounds = np.searchsorted(labels[order], np.arange(config.classes + 1))
    start, stop = cumulative[bounds[:-1]], cumulative[bounds[1:]]
    total = cumulative[-1]

    def node_at(mass: NDArray[np.float64]) -> NDArray[np.int64]:
        if not config.degree_spread:
            return order[np.minimum(mass.astype(np.int64), n - 1)]  # every node has mass 1
        return order[np.minimum(np.searchsorted(cumulative, mass, side="right") - 1, n - 1)]

    def within(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        first = node_at(generator.random(count) * total)
        low, high = start[labels[first]], stop[labels[first]]
        return first, node_at(low + generator.random(count) * (high - low))

    def across(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        first = node_at(generator.random(count) * total)
        low, high = start[labels[first]], stop[labels[first]]
        mass = generator.random(count) * (total - (high - low))
        return first, node_at(np.where(mass >= low, mass + (high - low), mass))

    sizes = np.bincount(labels, minlength=config.classes)
    pairs_within = int((sizes * (sizes - 1)).sum()) // 2
    pairs_across = n * (n - 1) // 2 - pairs_within
    edge_count = round(n * config.mean_degree / 2)
    same = int(generator.binomial(edge_count, config.homophily))
    pairs = partial(distinct_pairs, n=n, knob="mean_degree", advice=ADVICE)
    keys = np.concatenate([pairs(within, same, pairs_within), pairs(across, edge_count - same, pairs_across)])
    return np.stack(np.divmod(keys, n))
