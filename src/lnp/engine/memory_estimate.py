r"""What memory a full-batch run will take at its peak.

Bytes, with n nodes, e stored entries of A (two for an edge), d features or :math:`\nu` stored entries of X, c classes,
hidden width h, :math:`\ell` layers and k networks that are trained together, in 32-bit numbers:

==============  ======================================================================================================
program         :data:`PROGRAM`: the libraries, and what the allocator holds back
graph           8 e + 4 n for A, :data:`LABELS` n for labels and splits
features        4 n d, or 8 ν + 4 n; twice where a scaled copy stands beside the original; 16 ν + 4 n more for
                products with sparse X
propagation     8 (e + n) + 4 n for S, twice where it is not symmetric; 4 n d for S X (:mod:`lnp.nn.graph_tensors`);
                for LNP on a large graph once more the rows of S that its decoder needs
hops            4 n d :math:`\ell` with the backbone sign, less where they stay sparse; nothing where they are in a file
                (:mod:`lnp.nn.hops`): pages of a file are given back when somebody needs memory
hidden layers   each kept once on a large graph and three times on a small one, by all networks or, where recomputed,
                by one; and one to three of them in the backward pass
predictions     4 n c for each of the matrices that the losses keep, and :data:`COLUMNS` n: by count and measurement
contrastive     16 n for each sampled negative on a small graph, whose exponentials are kept
diffusion       4 n c for what spreads behind a network, for where it starts, and for its gradient
path            of the links: weights with one row per node, their gradients, moments and copies, its activations, and A
==============  ======================================================================================================

For the other backbones the matrices and layers are counted likewise. Methods that build graphs of their own take more:
the sum is then a lower bound.
"""

from __future__ import annotations

from lnp.engine.sizes import Sizes
from lnp.losses.contrastive import BLOCK
from lnp.losses.contrastive import MANY as MANY_NEGATIVES
from lnp.methods.channel.config import ChannelConfig
from lnp.methods.config import MethodConfig
from lnp.methods.lnp.config import LNPConfig
from lnp.methods.lnp.large.terms import MANY, MOST, written_out
from lnp.nn import hops
from lnp.nn.graph_tensors import LARGE, WIDTHS
from lnp.nn.similar_links import COUNT

__all__ = [
    "COLUMNS",
    "LABELS",
    "PROGRAM",
    "TOGETHER",
    "contrastive_bytes",
    "estimate_memory",
    "hidden_bytes",
    "hops_file_bytes",
    "prediction_bytes",
]

PROGRAM = 350_000_000
"""Bytes before there is any graph."""

LABELS = 50
"""Bytes a node for given and true labels, node numbers of the parts, and masks."""

MATRICES = {"lnp-v1": 19, "lnp-v2": 34, "lnp-channel": 12}
"""``(n, c)`` matrices at the peak; others have :data:`PER_NETWORK` for each network."""

MATRICES_WRITTEN_OUT = {"lnp-v1": 11, "lnp-v2": 9}
"""The same where gradients are written out (:mod:`lnp.methods.lnp.large`)."""

COLUMNS = 300
"""Bytes a node that these methods keep besides, in one number or another a node."""

PER_NETWORK = 6

TOGETHER = {"lnp-v1": 3, "lnp-v2": 3, "coteaching-plus": 2, "nrgnn": 2, "rtgnn": 2, "pignn": 2}
"""Networks that are trained in one step; others train one at a time. The two of lnp-channel have half the width."""


def estimate_memory(name: str, config: MethodConfig, sizes: Sizes, *, recompute: bool = False) -> dict[str, int]:
    """Bytes at the peak of a full-batch run, by what takes them; see the table above.

    Args:
        name: The method.
        config: Its configuration.
        sizes: Those of the graph.
        recompute: Whether hidden layers are computed again instead of kept (GCN).
    """
    n, d, c, entries = sizes.nodes, sizes.features, sizes.classes, sizes.feature_entries
    features = sizes.copies * (4 * n * d if entries is None else 8 * entries + 4 * n)
    large = n >= MANY and isinstance(config, LNPConfig) and written_out(config)
    networks, known = TOGETHER.get(name, 1), _known(config, sizes)
    parts = {
        "program": PROGRAM,
        "graph": 8 * sizes.entries + (4 + LABELS) * n,
        "features": features if entries is None else features + 16 * entries + 4 * n,
        "propagation": _propagation(config, sizes, large),
        "hidden layers": hidden_bytes(config, n, networks, recompute=recompute, known=known),
        "predictions": prediction_bytes(name, n, c, large=large),
    }
    if config.backbone == "sign":
        parts["hops"] = _hops(config, sizes)
    if contrastive := contrastive_bytes(config, n):
        parts["contrastive"] = contrastive
    if config.diffusion_steps > 0:
        parts["diffusion"] = 4 * n * c * 3
    if isinstance(config, ChannelConfig):
        parts["path"] = _path(config, sizes)
    elif config.links_width > 0:  # weights, gradients, two moments, two copies of the best; three activations and two
        parts["path"] = 4 * n * config.links_width * (9 * networks + 2) + 8 * sizes.entries + 4 * n
    return parts


def contrastive_bytes(config: MethodConfig, rows: int) -> int:
    """Exponentials of the contrastive loss of so many rows."""
    if not isinstance(config, LNPConfig) or config.lambda_3 == 0:
        return 0
    if config.negatives == 0:  # both directions of a block of rows with two predictions of every node
        return 2 * 8 * rows * min(rows, BLOCK)
    return 16 * rows * config.negatives if rows < MANY_NEGATIVES else 0


def prediction_bytes(name: str, rows: int, classes: int, *, large: bool) -> int:
    """What the losses of so many rows keep; ``large`` where their gradients are written out."""
    if name not in MATRICES:
        return 4 * rows * classes * PER_NETWORK * TOGETHER.get(name, 1)
    matrices = (MATRICES_WRITTEN_OUT if large else MATRICES)[name]
    return rows * (4 * classes * matrices + COLUMNS)


def hidden_bytes(
    config: MethodConfig,
    rows: int,
    networks: int,
    *,
    recompute: bool = False,
    known: bool = False,
    lean: bool | None = None,
) -> int:
    """What is kept of all layers, and what the backward pass of one adds.

    Args:
        config: The configuration.
        rows: How many nodes.
        networks: How many networks keep their layers.
        recompute: Whether only one does.
        known: Whether S X is (GCN).
        lean: Whether layers are kept once; ``None`` decides by the number of rows.
    """
    h, layers = config.hidden, config.layers
    lean = rows >= LARGE if lean is None else lean
    if config.backbone == "gcn":
        in_place = lean and known and layers == 2  # lnp.nn.two_layers
        columns, added = (1 if lean else 3) * h * (layers - 1), (1 if in_place else 2 if lean else 3) * h * (layers > 1)
    elif config.backbone == "mlp":  # relu, normalised, factors of dropout, dropped
        columns, added = 4 * h * (layers - 1), 3 * h * (layers > 1)
    elif config.backbone == "sign":  # side by side, relu, factors of dropout, dropped
        columns, added = (1 if lean else 4) * h * (layers + 1), (2 if lean else 3) * h * (layers + 1)
    else:  # of each round its factors of dropout and its result, before and after BatchNorm or dropout; all once more
        rounds = sum(h * 2**k * (1 + (4 if k < layers - 1 else 6)) for k in range(layers))
        columns, added = h + rounds + h * (2 ** (layers + 1) - 1), h * 2 ** (layers + 1)
    return 4 * rows * (columns * (1 if recompute else networks) + added)


def hops_file_bytes(config: MethodConfig, sizes: Sizes) -> int:
    """X and its hops in a file, dense."""
    return 4 * sizes.nodes * sizes.features * (config.layers + 1)


def _known(config: MethodConfig, sizes: Sizes) -> bool:
    """Whether S X is computed once."""
    width = config.hidden if config.layers > 1 else sizes.classes
    return sizes.feature_entries is None and sizes.nodes >= LARGE and sizes.features <= WIDTHS * width


def _propagation(config: MethodConfig, sizes: Sizes, large: bool) -> int:
    turned = 2 if config.normalisation == "row" else 1
    if config.backbone == "h2gcn":
        total = 8 * (sizes.entries + sizes.two_hop_entries) + 8 * sizes.nodes
    elif config.backbone == "gcn":
        similar = 8 * COUNT * sizes.nodes if config.similar_weight > 0 else 0
        total = turned * (sizes.propagation + similar) + (
            4 * sizes.nodes * sizes.features if _known(config, sizes) else 0
        )
        total += round(MOST * 2 * sizes.propagation) if large else 0
    else:
        total = 0
    if config.diffusion_steps > 0 and config.backbone != "gcn":  # which has S already
        total += turned * sizes.propagation
    if isinstance(config, ChannelConfig):
        candidates = config.candidates(sizes.nodes)
        total += turned * sizes.propagation if "smooth" in candidates and config.backbone != "gcn" else 0
        total += turned * (sizes.propagation + 8 * COUNT * sizes.nodes) if "similar" in candidates else 0
    return total


def _hops(config: MethodConfig, sizes: Sizes) -> int:
    """S X, …, in memory: a hop is dense, or CSR with its transpose where that takes less."""
    n, dense = sizes.nodes, 4 * sizes.nodes * sizes.features
    if config.layers * dense > hops.IN_MEMORY:
        return 0
    if sizes.feature_entries is None:
        return config.layers * dense
    # A row of S has so many entries on average, so a hop has about so many times those of the last one, or fewer.
    fill = 1 + sizes.entries / n
    return sum(min(dense, round(16 * sizes.feature_entries * fill**k) + 8 * n) for k in range(1, config.layers + 1))


def _path(config: ChannelConfig, sizes: Sizes) -> int:
    """What stands beside the backbones of lnp-channel, in matrices of one row per node and the width of the path."""
    candidates, adjacency = config.candidates(sizes.nodes), 0
    count = 3 + 2 * 3  # three networks have weights for "links" in any variant; and the best epoch's, old and new
    if {"links", "features"} & set(candidates):
        count += 2 * 3 + 2  # two networks keep three activations, and the backward pass adds two
    if "links" in candidates:
        count += 2 * 3 - 3  # gradients and moments of two networks, while there is no best epoch
        adjacency = 8 * sizes.entries + 4 * sizes.nodes
    return 4 * sizes.nodes * config.path_width * count + adjacency
