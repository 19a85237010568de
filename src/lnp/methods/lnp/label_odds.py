r"""Whether the given labels mean what they say, told before any network is trained.

Two judges that need no training, both the nearest class mean of features averaged twice over neighbours (:math:`S^2 X`
with :math:`S = \tilde D^{-1} (A + I)`), give evidence of two kinds. One has learnt T_C, the other the given labels of
T_N.

**Who knows T_C better?** The second judge is right about a share :math:`a_N` of T_C, the first about :math:`a_C`, each
node judged without its own label. The odds ratio

.. math:: A = \frac{a_N / (1 - a_N)}{a_C / (1 - a_C)}

is 1 or more where given labels are the better teachers. T_C is small, so chance has a large say in it.

**What do given labels stand for?** The first judge says of each node of T_N which class it takes it for. It is often
wrong, but it has not seen the given labels, and there are hundreds. Let :math:`N_{kj}` be the number of nodes that it
takes for class k and that were given j, and :math:`X_{kj} = N_{kj} - N_{k\cdot} N_{\cdot j} / N` what that is beyond
chance. Labels as they are, and labels that are renamed as suits the judge best, have in common with it

.. math:: a = \sum_k X_{kk}, \qquad b = \min\Big(\sum_k X_{k \sigma(k)},\; \sum_j X_{\tau(j) j}\Big), \qquad
    B = \frac{\max(a + 3 s, 0)}{b + 3 s} \text{ if } b > 10 s \text{, else } 1,

where each class is renamed by :math:`\sigma`, or each label by :math:`\tau`, to what it has most in common with. Both
are found on one half of T_N and counted on the other, so that b gains nothing by chance. The smaller of the two counts
because a judge that takes many nodes of a large class for a small one suggests a :math:`\sigma` for the small class,
but no :math:`\tau` for the large one, and a class that it never recognises a :math:`\tau` but no :math:`\sigma`.
:math:`s = (\sum_k N_{k\cdot} N_{\cdot k} / N)^{1/2}` is the standard deviation of a if there is nothing but chance and
nodes are judged one by one. Answers about neighbours are alike, and so are labels: up to ten of it tell nothing.

Together :math:`\rho = \min(A B^3, 1)`. It is 1 as long as right labels prevail, because wrong ones that go everywhere
cancel out and make no other name fit better; where most labels of a class are one and the same wrong class, it falls to
almost 0; on graphs whose neighbours tell little, both judges guess, and only A can hold something against the labels.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from lnp.methods.batch import Batch
from lnp.nn.graph_tensors import GraphTensors
from lnp.nn.hops import HopRows

__all__ = ["MOST", "evidence", "joined", "label_odds", "names_ratio"]

MOST = 2000
"""Nodes of T_C and of T_N that are looked at: the shares are then known to 0.01."""

EACH = 400
"""Nodes of T_N for each class that are looked at where these are more: with 50 each, wrong labels do not cancel out."""

CHANCE = 3
"""How many standard deviations are added above and below, so that a ratio of small counts is near 1."""

ENOUGH = 10
"""How many standard deviations a judge and the labels must have in common to be compared at all."""

GOLDEN = 0.6180339887498949
"""Multiples of it, without their whole part, fill [0, 1) evenly and never repeat."""

Rows = NDArray[np.float64]
Labels = NDArray[np.int64]


def label_odds(batch: Batch) -> float:
    r""":math:`\rho`, from some nodes of T_C and of T_N where they are many; 1 where one of them is empty.

    Args:
        batch: The whole graph.
    """
    return joined(*evidence(batch))


def joined(teachers: float, names: float) -> float:
    r""":math:`\rho` of A and B.

    >>> joined(2.0, 0.5), joined(2.0, 1.0)
    (0.25, 1.0)
    """
    return min(teachers * names**3, 1.0)


def evidence(batch: Batch) -> tuple[float, float]:
    """A and B, 1 where T_C or T_N is empty."""
    trusted, noisy = _some(batch.trusted, MOST), _some(batch.noisy, max(MOST, EACH * batch.class_count))
    if not trusted.numel() or not noisy.numel():
        return 1.0, 1.0
    labels, given = batch.given[trusted].cpu().numpy(), batch.given[noisy].cpu().numpy()
    rows = _smoothed(batch.graph, torch.cat([trusted, noisy]).cpu().numpy())
    rows = _unit(rows - rows[labels.size :].mean(axis=0))
    checked, others = rows[: labels.size], rows[labels.size :]
    by_trusted, by_given = (_class_sums(*one, batch.class_count) for one in ((checked, labels), (others, given)))
    # The only trusted node of a class cannot be judged without itself.
    judged = np.bincount(labels, minlength=batch.class_count)[labels] > 1
    itself = _answers(checked, by_trusted, itself=labels)[judged] == labels[judged]
    teachers = _odds(_answers(checked, by_given) == labels) / _odds(itself)
    return teachers, names_ratio(_answers(others, by_trusted), given, batch.class_count)


def _odds(hits: NDArray[np.bool_]) -> float:
    """Of a hit, as if there had been one more hit and one more miss: finite, and 1 where nobody was judged."""
    count = int(hits.sum())
    return (count + 1) / (hits.size - count + 1)


def names_ratio(judged: Labels, given: Labels, class_count: int) -> float:
    """B of given labels, by what a judge takes their nodes for.

    >>> judged = np.tile([0, 0, 0, 1, 1, 1], 100)
    >>> names_ratio(judged, np.tile([0, 0, 1, 1, 1, 0], 100), 2)
    1.0
    >>> names_ratio(judged, 1 - judged, 2)
    0.0
    """
    first = np.arange(judged.size) * GOLDEN % 1 < 0.5  # halves in step with no order that the nodes may have
    halves = (_in_common(judged[half], given[half], class_count) for half in (first, ~first))
    common, expected = zip(*halves, strict=True)
    classes = np.arange(class_count)
    by_class = sum(other[classes, one.argmax(axis=1)].sum() for one, other in (common, common[::-1]))
    by_label = sum(other[one.argmax(axis=0), classes].sum() for one, other in (common, common[::-1]))
    as_they_are, renamed = sum(np.trace(one) for one in common), min(by_class, by_label)
    chance = np.sqrt(sum(np.trace(one) for one in expected))
    if renamed <= ENOUGH * chance:
        return 1.0
    return float(max(as_they_are + CHANCE * chance, 0.0) / (renamed + CHANCE * chance))


def _in_common(judged: Labels, given: Labels, class_count: int) -> tuple[Rows, Rows]:
    """X, and what chance would put in its place in N."""
    together = np.zeros((class_count, class_count))
    np.add.at(together, (judged, given), 1)
    expected = np.outer(together.sum(axis=1), together.sum(axis=0)) / max(judged.size, 1)
    return together - expected, expected


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
