"""Why a label is suspect: who is around the node, and which class it resembles."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnp.audit.posterior import Floats
from lnp.graph.graph import Graph
from lnp.graph.labels import UNKNOWN
from lnp.methods.base import Method
from lnp.methods.batch import Batch
from lnp.nn.backbone import Backbone

__all__ = ["embeddings", "neighbour_labels", "prototype_similarity"]

PREFERRED = ("classifier", "decoder")
"""Networks that predict the true label, by the names that methods give them."""


def neighbour_labels(graph: Graph, given: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """``(m, c)`` how many neighbours of each of ``nodes`` have each given label; unlabelled ones do not count."""
    pairs = graph.adjacency[nodes].tocoo()
    label = given[pairs.col]
    known = label != UNKNOWN
    place = pairs.row[known].astype(np.int64) * graph.class_count + label[known]
    counts = np.bincount(place, minlength=nodes.size * graph.class_count)
    return np.asarray(counts.reshape(nodes.size, graph.class_count))


@torch.no_grad()
def embeddings(method: Method, batch: Batch, probabilities: Tensor) -> Tensor:
    """``(n, h)`` the hidden vectors of the network that predicts; log-probabilities for a method without one.

    Where a method has several networks, one named "classifier" or "decoder" is taken, else the first.
    """
    width = batch.graph.features.shape[1]
    networks = {
        name: module
        for name, module in method.named_modules()
        if isinstance(module, Backbone) and next(module.parameters()).shape[0] == width
    }
    ranked = sorted(networks, key=lambda name: min((i for i, p in enumerate(PREFERRED) if _part(name, p)), default=9))
    if not ranked:
        return probabilities.clamp(min=1e-12).log()
    method.eval()
    hidden: object = networks[ranked[0]].embed(batch.graph)
    if isinstance(hidden, Tensor):
        return hidden
    outputs: Tensor = networks[ranked[0]](batch.graph)  # of a network of one layer, which has sparse features inside
    return outputs


def prototype_similarity(
    vectors: Floats, given: NDArray[np.int64], weights: Floats, nodes: NDArray[np.int64], class_count: int
) -> Floats:
    r"""``(m, c)`` cosine of each of ``nodes`` with the prototype of every class.

    .. math:: r_k = \frac{\sum_{i : \tilde y_i = k} q_i h_i}{\sum_{i : \tilde y_i = k} q_i}

    A trusted label counts in full, others by how likely they are right. Not a number for a class that has no label, and
    0 for a vector of length 0.

    Args:
        vectors: H, ``(n, h)``.
        given: Given labels, ``(n,)``, −1 where there is none.
        weights: q, ``(n,)``.
        nodes: Whose similarity, ``(m,)``.
        class_count: c.
    """
    labelled = np.flatnonzero((given != UNKNOWN) & (weights > 0))
    totals = np.bincount(given[labelled], weights=weights[labelled], minlength=class_count)
    sums = np.zeros((class_count, vectors.shape[1]))
    np.add.at(sums, given[labelled], weights[labelled, None] * vectors[labelled])
    lengths = np.linalg.norm(sums, axis=1)  # the cosine does not ask for the division by the total
    own = np.linalg.norm(vectors[nodes], axis=1)
    product = vectors[nodes] @ sums.T
    scale = own[:, None] * lengths[None, :]
    cosine = np.divide(product, scale, out=np.zeros_like(product), where=scale > 0)
    cosine[:, totals == 0] = np.nan
    return np.asarray(np.clip(cosine, -1, 1))


def _part(name: str, wanted: str) -> bool:
    return wanted in name.split(".")
