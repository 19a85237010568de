r"""How far the given labels deserve to be learnt, told before any network is trained.

Two judges that need no training, both the nearest class mean of features averaged twice over neighbours (:math:`S^2 X`
with :math:`S = \tilde D^{-1} (A + I)`), are asked about T_C. One learnt the given labels of T_N, and is right about a
share :math:`a_N`; the other learnt T_C, and is right about a share :math:`a_C` of it, each node judged without its own
label. The odds ratio

.. math:: \rho = \min\!\left(\frac{a_N / (1 - a_N)}{a_C / (1 - a_C)},\; 1\right)

is 1 where the given labels are the better teachers. They are as long as right labels prevail among them, because wrong
ones cancel out over many nodes; where most labels of a class are one and the same wrong class, it falls to almost 0. On
graphs whose neighbours tell little both judges guess, and nothing is held against the labels. (Tried before: the odds
of the mean predicted probability of the given labels, which takes a weak network for wrong labels, and LNP then learnt
from T_C alone; and how often the second judge agrees with the given labels, which takes noise that cancels out for
noise that misleads.)
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from lnp.methods.batch import Batch
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.hops import HopRows

__all__ = ["MOST", "label_odds"]

MOST = 2000
"""Nodes of T_C and of T_N that are looked at: the shares are then known to 0.01."""

EACH = 400
"""Nodes of T_N for each class that are looked at where these are more: with 50 each, wrong labels do not cancel out."""

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]


def label_odds(batch: Batch) -> float:
    r""":math:`\rho`, from some nodes of T_C and of T_N where they are many; 1 where one of them is empty.

    Args:
        batch: The whole graph.
    """
    trusted, noisy = _some(batch.trusted, MOST), _some(batch.noisy, max(MOST, EACH * batch.class_count))
    if not trusted.numel() or not noisy.numel():
        return 1.0
    labels, given = batch.given[trusted].cpu().numpy(), batch.given[noisy].cpu().numpy()
    rows = _smoothed(batch.graph, torch.cat([trusted, noisy]).cpu().numpy())
    rows = _unit(rows - rows[labels.size :].mean(axis=0))
    asked, others = rows[: labels.size], rows[labels.size :]
    by_given = _answers(asked, _class_sums(others, given, batch.class_count))
    by_trusted = _answers(asked, _class_sums(asked, labels, batch.class_count), itself=labels)
    # The only trusted node of a class cannot be judged without itself.
    judged = np.bincount(labels, minlength=batch.class_count)[labels] > 1
    return min(_odds(by_given == labels) / _odds((by_trusted == labels)[judged]), 1.0)


def _odds(hits: NDArray[np.bool_]) -> float:
    """Of a hit, as if there had been one more hit and one more miss: finite, and 1 where nobody was judged."""
    count = int(hits.sum())
    return (count + 1) / (hits.size - count + 1)


def _class_sums(rows: Rows, labels: Labels, class_count: int) -> Rows:
    sums = np.zeros((class_count, rows.shape[1]))
    np.add.at(sums, labels, rows)
    return sums


def _answers(rows: Rows, sums: Rows, itself: Labels | None = None) -> NDArray[np.intp]:
    """The class whose mean is nearest to each row by cosine; one without members is never the answer.

    Args:
        rows: Unit rows.
        sums: Of the members of each class.
        itself: Of which class's sum each row is a part that is to be left out.
    """
    products = rows @ sums.T
    lengths = np.repeat(np.square(sums).sum(axis=1)[None], len(rows), axis=0)
    if itself is not None:
        own = np.arange(len(rows)), itself
        part = np.square(rows).sum(axis=1)  # 1, or 0 for a row without features
        lengths[own] += part - 2 * products[own]
        products[own] -= part
    cosines = products / np.sqrt(np.maximum(lengths, 1e-24))
    return np.asarray(np.where(lengths > 1e-12, cosines, -np.inf).argmax(axis=1))


def _smoothed(graph: GraphTensors | HopRows, nodes: Labels) -> Rows:
    """Some rows of S² X; nothing is computed for the other nodes."""
    if isinstance(graph, HopRows):  # made with the networks' own S, as many times as they ask for
        return graph.hops[min(2, len(graph.hops) - 1)][torch.from_numpy(nodes)].double().cpu().numpy()
    near = _means(graph.graph.adjacency, nodes)
    around = np.unique(near.indices)
    rows = near[:, around] @ (_means(graph.graph.adjacency, around) @ graph.graph.features)
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)


def _means(adjacency: sp.csr_array, nodes: Labels) -> sp.csr_array:
    """Some rows of S: weights of a node and its neighbours that sum to 1."""
    itself = sp.csr_array((np.ones(nodes.size), (np.arange(nodes.size), nodes)), shape=(nodes.size, adjacency.shape[1]))
    near = sp.csr_array(adjacency[nodes] + itself)
    return sp.csr_array(sp.diags_array(1 / np.asarray(near.sum(axis=1)).ravel()) @ near)


def _some(nodes: torch.Tensor, count: int) -> torch.Tensor:
    """At most so many of the nodes, evenly spread."""
    if nodes.numel() <= count:
        return nodes
    return nodes[torch.linspace(0, nodes.numel() - 1, count, device=nodes.device).long()]


def _unit(rows: Rows) -> Rows:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))
