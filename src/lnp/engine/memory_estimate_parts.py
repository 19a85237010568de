r"""What memory a run in mini-batches will take at its peak.

With the letters of :mod:`lnp.engine.memory_estimate`, :math:`m_k` the rows of a batch up to hop k and E its links:

==============  ======================================================================================================
program         the libraries
graph           A, labels and splits, and :data:`NUMBERS` n for the sampler and the order of an epoch
features        as they are; no copy is made of them
propagation     S, and 4 n d for S X where that is kept (:mod:`lnp.nn.layerwise`)
predictions     4 n c for each of the matrices that an epoch keeps of the whole graph: embeddings behind the prototypes,
                and the last outputs of every network
==============  ======================================================================================================

Besides, one of these at a time, of which the largest counts, with a tenth for the gaps that it leaves:

==============  ======================================================================================================
preparation     S while it is made, in double precision; METIS, where no partition is kept from an earlier run
evaluation      the pass over the whole graph: the widest two layers side by side, 4 n h for a GCN of two, and the
                matrices on the way to probabilities
batch           features and links of a batch, the hidden layers of its rows, what the losses of its own nodes keep
==============  ======================================================================================================

Rows of a batch are those expected: a link that is drawn at random leads to node j with a probability proportional to
its degree :math:`d_j`, so after D such links node j is there with probability
:math:`1 - (1 - m_0 / n) \exp(-D d_j / e)`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lnp.engine.batching import CLUSTER_NODES, Batching
from lnp.engine.memory_estimate import (
    LABELS,
    PROGRAM,
    TOGETHER,
    contrastive_bytes,
    hidden_bytes,
    prediction_bytes,
)
from lnp.engine.sizes import Sizes
from lnp.methods.config import MethodConfig
from lnp.nn.graph_tensors import WIDTHS
from lnp.nn.layerwise import BLOCK, KEPT_ENTRIES, PROPAGATED_BYTES

__all__ = ["BatchSizes", "batch_sizes", "estimate_parts", "expected_rows"]

NUMBERS = 60
"""Bytes a node for the row pointer and places of the sampler, the two factors of S, the order of an epoch and masks."""

KEPT = {"lnp-v1": 4, "lnp-v2": 6}
"""``(n, c)`` matrices of the whole graph during an epoch; others have one for each network and one more."""

KEPT_COLUMNS = 60
"""Bytes a node that LNP keeps besides: labels of members, and how far they are believed."""

ON_THE_WAY = 6
"""``(n, c)`` matrices between the outputs of networks and probabilities."""

LINK = 64
"""Bytes a link: as drawn, as a matrix in double precision, and as one in single precision with its transpose."""

MADE = 28
"""Bytes an entry of S while it is made."""

CUT = 110
"""Bytes an entry of A that METIS takes."""

HELD_BACK = 1.1
"""What comes and goes leaves gaps, which the allocator keeps."""


@dataclass(frozen=True)
class BatchSizes:
    """How large a batch is expected to be.

    Args:
        rows: Nodes up to each hop, from 0: own nodes with those that visit, then with their neighbours, ….
        links: Entries of its S.
    """

    rows: tuple[float, ...]
    links: float


def expected_rows(degrees: NDArray[np.int64], own: int, fan_out: Sequence[int | None], walks: int = 1) -> BatchSizes:
    """Rows and links of a batch of sampled neighbours.

    Args:
        degrees: Of every node.
        own: Own nodes of a batch.
        fan_out: Neighbours drawn per node, hop by hop; ``None`` takes all.
        walks: How many times a node draws: 2 where two-hop sets are sampled, too.
    """
    n, entries = degrees.size, max(1, int(degrees.sum()))
    outside = 1 - min(own, n) / n
    there = np.full(n, 1 - outside)
    newest, drawn = there, 0.0
    rows = [there.sum()]
    for count in fan_out:
        taken = degrees if count is None else np.minimum(degrees, count)
        drawn += walks * float(newest @ taken)
        following = 1 - outside * np.exp(-drawn / entries * degrees)
        newest, there = following - there, following
        rows.append(there.sum())
    return BatchSizes(tuple(float(one) for one in rows), drawn)


def batch_sizes(
    config: MethodConfig, sizes: Sizes, batching: Batching, degrees: NDArray[np.int64], trusted: int = 0
) -> BatchSizes:
    """How large the batches of a run are expected to be.

    Args:
        config: The method's configuration.
        sizes: Those of the graph.
        batching: How it is cut.
        degrees: Of every node.
        trusted: Nodes of T_C, which visit every batch of neighbours.
    """
    if batching.kind == "clusters":
        count = batching.count or math.ceil(sizes.nodes / CLUSTER_NODES)
        part = min(1.0, batching.together / count)
        return BatchSizes((sizes.nodes * part,), sizes.entries * part)
    own = min(sizes.nodes, batching.size + min(trusted, max(1, batching.size // 4)))
    if config.backbone not in ("gcn", "h2gcn"):
        return BatchSizes((own,), 0)
    fan_out = batching.fan_out * config.layers if len(batching.fan_out) == 1 else batching.fan_out
    hops = config.layers - (config.backbone == "gcn" and _known(config, sizes))
    return expected_rows(degrees, own, fan_out[:hops], 2 if config.backbone == "h2gcn" else 1)


def estimate_parts(
    name: str, config: MethodConfig, sizes: Sizes, batching: Batching, batch: BatchSizes, *, cut: bool = True
) -> dict[str, int]:
    """Bytes at the peak of a run in mini-batches, by what takes them; see the tables above.

    Args:
        name: The method.
        config: Its configuration.
        sizes: Those of the graph.
        batching: How it is cut.
        batch: How large a batch is.
        cut: Whether METIS still has to cut the graph.
    """
    n, c = sizes.nodes, sizes.classes
    kept = KEPT.get(name, 1 + TOGETHER.get(name, 1))
    propagates = config.backbone in ("gcn", "h2gcn")
    parts = {
        "program": PROGRAM,
        "graph": 8 * sizes.entries + (4 + LABELS + NUMBERS) * n,
        "features": sizes.copies * _rows_bytes(sizes, n),
        "propagation": (sizes.propagation if propagates else 0)
        + (4 * n * sizes.features if _known(config, sizes) else 0),
        "predictions": n * (4 * c * kept + (KEPT_COLUMNS if name in KEPT else 0)),
    }
    moments = {
        "preparation": _preparation(sizes, batching, propagates or config.backbone == "sign", cut=cut),
        "evaluation": _evaluation(config, sizes),
        "batch": _batch(name, config, sizes, batching, batch),
    }
    largest = max(moments, key=lambda moment: moments[moment])
    return {**parts, largest: round(HELD_BACK * moments[largest])}


def _preparation(sizes: Sizes, batching: Batching, makes: bool, *, cut: bool) -> int:
    metis = CUT * sizes.entries if cut and batching.kind == "clusters" else 0
    return max(metis, (MADE - 8) * (sizes.entries + sizes.nodes) if makes else 0)


def _evaluation(config: MethodConfig, sizes: Sizes) -> int:
    n, d, h, c, layers = sizes.nodes, sizes.features, config.hidden, sizes.classes, config.layers
    way = 4 * n * c * ON_THE_WAY
    if config.backbone == "gcn":
        wide = max(0, layers - 1 - _known(config, sizes))  # hidden layers that have a row for every node
        return max(way, 4 * n * (h * min(2, wide) + 4 * c)) + 4 * 4 * BLOCK * h
    if config.backbone == "h2gcn":
        # Layers of two rounds side by side, and the two-hop rows that are kept or computed.
        widest = h if layers == 1 else 3 * h << (layers - 2)
        return max(way, 4 * n * (widest + 4 * c)) + 8 * min(KEPT_ENTRIES, sizes.two_hop_entries)
    if config.backbone == "sign":
        return way + 4 * BLOCK * (2 * d + 2 * h) * (layers + 1)
    return way + 4 * BLOCK * (d + 4 * h)


def _batch(name: str, config: MethodConfig, sizes: Sizes, batching: Batching, batch: BatchSizes) -> int:
    """Of a part: features, links, layers and losses."""
    networks, own, most = TOGETHER.get(name, 1), round(batch.rows[0]), round(batch.rows[-1])
    lost = prediction_bytes(name, own, sizes.classes, large=False) + contrastive_bytes(config, own)
    if config.backbone == "sign":
        rows = 2 * 4 * own * sizes.features * (config.layers + 1)
        return round(rows + hidden_bytes(config, own, networks, lean=True) + lost)
    features = _rows_bytes(sizes, most) * (1 if sizes.feature_entries is None else 3)
    links = round(LINK * batch.links)
    if batching.kind == "clusters" or config.backbone == "mlp":
        return features + links + hidden_bytes(config, most, networks) + lost
    return features + links + _sampled_layers(config, batch.rows, networks, _known(config, sizes)) + lost


def _sampled_layers(config: MethodConfig, rows: tuple[float, ...], networks: int, known: bool) -> int:
    """Every layer has one hop less than the one before."""
    h, hops = config.hidden, len(rows) - 1
    if config.backbone == "gcn":
        inner = rows[:hops] if not known else rows  # rows of the hidden layers; the own ones have the outputs
        kept = 3 * h * sum(inner[1:])
        added = 2 * h * rows[-1] if not known else 3 * h * rows[-1]
        return round(4 * (kept * networks + added))
    kept = h * rows[-1] + h * ((2 << hops) - 1) * rows[0]
    for k in range(hops):  # as in the full batch, with the rows that are left
        kept += (h << k) * (1 + (4 if k < hops - 1 else 6)) * rows[hops - k - 1]
    return round(4 * (kept * networks + (2 * h << hops) * rows[0] + 2 * h * rows[-1]))


def _known(config: MethodConfig, sizes: Sizes) -> bool:
    """Whether S X is kept for the whole graph."""
    width = config.hidden if config.layers > 1 else sizes.classes
    fits = 4 * sizes.nodes * sizes.features <= PROPAGATED_BYTES
    return config.backbone == "gcn" and sizes.feature_entries is None and sizes.features <= WIDTHS * width and fits


def _rows_bytes(sizes: Sizes, rows: int) -> int:
    """So many rows of X."""
    if sizes.feature_entries is None:
        return 4 * rows * sizes.features
    return round(8 * sizes.feature_entries * rows / max(1, sizes.nodes)) + 4 * rows
