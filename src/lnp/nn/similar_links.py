r"""Links between nodes with similar features, beside those of the graph.

.. math:: K_{ij} = \tfrac1k \quad\text{where } j \text{ is one of the } k \text{ nodes whose features have the largest
          cosine with those of } i, \qquad k = 10.

A node without similar nodes has a row of zeros, every other row sums to at most 1: all similar nodes of a node together
count as one neighbour. On graphs with few links a node, most of all where labels are wrong, ten nodes that are about
the same say more than the one or two that happen to be linked.

Sparse features are words, or like words: one that most nodes have says little of who is similar. So columns are weighed
by :math:`\log(n / n_j)`, with :math:`n_j` the nodes that have feature j. Dense features are taken as they are.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from lnp.graph.graph import Features, sorted_csr
from lnp.nn.similarity import top_cosines

__all__ = ["COUNT", "similar_links"]

COUNT = 10
"""k, how many similar nodes a node has."""


def similar_links(features: Features, count: int = COUNT) -> sp.csr_array:
    """K, ``(n, n)`` with up to ``count`` entries a row.

    Args:
        features: X, dense or sparse.
        count: k.

    >>> similar_links(np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]], np.float32), count=1).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    n = features.shape[0]
    nodes = np.arange(n)
    found = top_cosines(_weighed(features), nodes, nodes, count)
    present = found >= 0
    rows = np.repeat(nodes, count)[present.ravel()]
    weights = np.full(rows.size, 1 / count, np.float32)
    return sorted_csr(sp.csr_array((weights, (rows, found[present])), shape=(n, n)))


def _weighed(features: Features) -> Features:
    if isinstance(features, np.ndarray):
        return features
    n, columns = features.shape
    having = np.bincount(features.indices[features.data != 0], minlength=columns)
    weight = np.log(n / np.maximum(having, 1)).astype(np.float32)
    return sp.csr_array(features.multiply(weight[None, :]))
