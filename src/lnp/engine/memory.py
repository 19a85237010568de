r"""Before a full-batch run: what memory it will take at its peak, and whether that can be had.

Bytes, with n nodes, e stored entries of A (two for an edge), d features or :math:`\nu` stored entries of X, c classes,
hidden width h, :math:`\ell` hidden layers and k networks that are trained together, in 32-bit numbers:

==============  ======================================================================================================
program         :data:`PROGRAM`: the libraries, and what the allocator holds back
graph           8 e + 4 n for A, :data:`LABELS` n for labels and splits
features        4 n d, or 8 ν + 4 n; twice where a scaled copy stands beside the original; 16 ν + 4 n more for
                products with sparse X
propagation     8 (e + n) + 4 n for S, twice where it is not symmetric; 4 n d for S X (:mod:`lnp.nn.graph_tensors`)
hidden layers   each kept once on a large graph and three times on a small one, by all networks or, where recomputed,
                by one; and two (three) of them in the backward pass
predictions     4 n c for each of the matrices that the losses keep: :data:`MATRICES` of them, by count and measurement
contrastive     16 n for each sampled negative on a small graph, whose exponentials are kept
==============  ======================================================================================================

For the other backbones the matrices and layers are counted likewise. Methods that build graphs of their own
(:data:`BUILDERS`) take more: the sum is then a lower bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lnp.engine.available import LIMIT, format_bytes, memory_limit
from lnp.errors import ConfigError
from lnp.graph.graph import Graph
from lnp.losses.contrastive import BLOCK, MANY
from lnp.methods.base import MethodConfig
from lnp.methods.batch import Batch
from lnp.methods.lnp.config import LNPConfig
from lnp.nn.graph_tensors import LARGE, WIDTHS

__all__ = ["Sizes", "estimate_memory", "preflight"]

PROGRAM = 350_000_000
"""Bytes before there is any graph."""

LABELS = 50
"""Bytes a node for given and true labels, node numbers of the parts, and masks."""

MATRICES = {"lnp-v1": 31, "lnp-v2": 43}
"""``(n, c)`` matrices at the peak; others have :data:`PER_NETWORK` for each network."""

PER_NETWORK = 6

TOGETHER = {"lnp-v1": 3, "lnp-v2": 3, "coteaching-plus": 2, "nrgnn": 2, "rtgnn": 2, "pignn": 2}
"""Networks that are trained in one step; others train one at a time."""

BUILDERS = ("nrgnn", "rtgnn", "pignn", "lpm")

WORTH_SAYING = 2**30
"""Estimates below this are neither announced nor refused."""


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


def estimate_memory(name: str, config: MethodConfig, sizes: Sizes, *, recompute: bool = False) -> dict[str, int]:
    """Bytes at the peak of a full-batch run, by what takes them; see the table above.

    Args:
        name: The method.
        config: Its configuration.
        sizes: Those of the graph.
        recompute: Whether hidden layers are computed again instead of kept (GCN).
    """
    n, d, c, entries = sizes.nodes, sizes.features, sizes.classes, sizes.feature_entries
    dense = entries is None
    features = sizes.copies * (4 * n * d if entries is None else 8 * entries + 4 * n)
    parts = {
        "program": PROGRAM,
        "graph": 8 * sizes.entries + (4 + LABELS) * n,
        "features": features if entries is None else features + 16 * entries + 4 * n,
        "propagation": _propagation(config, sizes, dense),
        "hidden layers": _hidden(config, n, TOGETHER.get(name, 1), recompute),
        "predictions": 4 * n * c * MATRICES.get(name, PER_NETWORK * TOGETHER.get(name, 1)),
    }
    if isinstance(config, LNPConfig) and config.lambda_3 > 0:
        if config.negatives == 0:  # both directions of a block of rows with two predictions of every node
            parts["contrastive"] = 2 * 8 * n * min(n, BLOCK)
        elif n < MANY:
            parts["contrastive"] = 16 * n * config.negatives
    return parts


def preflight(
    name: str,
    config: MethodConfig,
    batch: Batch,
    *,
    copies: int = 1,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Refuses a full-batch run that cannot fit; has hidden layers recomputed where it fits only so.

    Args:
        name: The method.
        config: Its configuration.
        batch: The whole graph; ``batch.graph.recompute`` is set where memory asks for it.
        copies: How many times the features are held.
        announce: Takes one line for the user.
    """
    graph = batch.graph
    if graph.device.type != "cpu":
        return
    sizes = Sizes.of(graph.graph, copies=copies, two_hop=config.backbone == "h2gcn")
    parts = estimate_memory(name, config, sizes, recompute=graph.recompute)
    if sum(parts.values()) < WORTH_SAYING:
        return
    limit = memory_limit()
    if limit is not None and sum(parts.values()) > limit and config.backbone == "gcn" and config.layers > 1:
        parts = estimate_memory(name, config, sizes, recompute=True)
        graph.recompute = True
    total = sum(parts.values())
    about = "at least" if name in BUILDERS else "about"
    if limit is not None and total > limit:
        raise ConfigError(
            f"Expected a run that fits into {format_bytes(limit)} of memory, but {name} on the whole of "
            f"{graph.graph.name} ({sizes.nodes:,} nodes, {sizes.entries // 2:,} edges) takes {about} "
            f"{format_bytes(total)} ({_largest(parts)}). Train in parts (--batch neighbours), use fewer hidden units "
            f"(--set hidden={max(1, config.hidden // 2)}) or the backbone sign, or set {LIMIT} to what it may take."
        )
    if announce is not None:
        room = "" if limit is None else f" of {format_bytes(limit)} that can be had"
        spared = "; hidden layers are recomputed" if graph.recompute else ""
        announce(f"Memory at the peak: {about} {format_bytes(total)}{room} ({_largest(parts)}){spared}.")


def _propagation(config: MethodConfig, sizes: Sizes, dense: bool) -> int:
    n, d, e = sizes.nodes, sizes.features, sizes.entries
    if config.backbone == "h2gcn":
        return 8 * (e + sizes.two_hop_entries) + 8 * n
    if config.backbone == "sign":
        return 4 * n * d * config.layers
    if config.backbone != "gcn":
        return 0
    matrix = (8 * (e + n) + 4 * n) * (2 if config.normalisation == "row" else 1)
    width = config.hidden if config.layers > 1 else sizes.classes
    once = dense and n >= LARGE and d <= WIDTHS * width
    return matrix + (4 * n * d if once else 0)


def _hidden(config: MethodConfig, n: int, networks: int, recompute: bool) -> int:
    """What is kept of all layers, and what the backward pass of one adds."""
    h, layers = config.hidden, config.layers
    if config.backbone == "gcn":
        lean = n >= LARGE
        columns, added = (1 if lean else 3) * h * (layers - 1), (2 if lean else 3) * h * (layers > 1)
    elif config.backbone == "mlp":  # relu, normalised, factors of dropout, dropped
        columns, added = 4 * h * (layers - 1), 3 * h * (layers > 1)
    elif config.backbone == "sign":  # side by side, relu, factors of dropout, dropped
        columns, added = 4 * h * (layers + 1), 3 * h * (layers + 1)
    else:  # of each round its factors of dropout and its result, before and after BatchNorm or dropout; all once more
        rounds = sum(h * 2**k * (1 + (4 if k < layers - 1 else 6)) for k in range(layers))
        columns, added = h + rounds + h * (2 ** (layers + 1) - 1), h * 2 ** (layers + 1)
    return 4 * n * (columns * (1 if recompute else networks) + added)


def _largest(parts: dict[str, int], count: int = 3) -> str:
    """The parts that take most.

    >>> _largest({"graph": 2**30, "features": 3 * 2**30, "program": 2**20, "predictions": 2**31})
    'features 3.0 GiB, predictions 2.0 GiB, graph 1.0 GiB'
    """
    order = sorted(parts, key=lambda name: -parts[name])
    return ", ".join(f"{name} {format_bytes(parts[name])}" for name in order[:count])
