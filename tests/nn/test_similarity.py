from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.metrics.pairwise import cosine_similarity

from lnp.nn.similarity import top_cosines, top_products


def brute_force(similarity, skip, count, *, positive):
    """A stable sort of the whole matrix."""
    found = np.full((similarity.shape[0], count), -1)
    for i, row in enumerate(np.round(similarity, 6)):
        order = [j for j in np.argsort(-row, kind="stable") if j != skip[i] and (row[j] > 0 or not positive)]
        found[i, : min(count, len(order))] = order[:count]
    return found


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("count", [1, 3, 40])
@pytest.mark.parametrize("block", [1, 70, 2**20])
def test_cosines_agree_with_a_full_sort(sparse, count, block):
    generator = np.random.default_rng(3)
    # Bags of words: many ties, empty rows, repeated rows.
    X = (generator.random((60, 6)) < 0.3).astype(np.float32)
    X[10], X[20] = 0, X[21]
    keys = np.sort(generator.permutation(60)[:25])
    queries = np.arange(60)
    skip = [np.flatnonzero(keys == q)[0] if q in keys else -1 for q in queries]
    expected = brute_force(cosine_similarity(X, X[keys]), skip, count, positive=True)
    expected = np.where(expected >= 0, keys[expected], -1)
    found = top_cosines(sp.csr_array(X) if sparse else X, queries, keys, count, block=block)
    np.testing.assert_array_equal(found, expected)
    assert (found[10] == -1).all()


@pytest.mark.parametrize("keys", [5, 200])
def test_products_agree_with_a_full_sort(keys):
    generator = np.random.default_rng(4)
    left, right = generator.normal(size=(30, 4)), generator.normal(size=(keys, 4))
    skip = generator.integers(-1, keys, size=30)
    expected = brute_force((left @ right.T), skip, 7, positive=False)
    found = top_products(torch.tensor(left), torch.tensor(right), 7, skip=torch.tensor(skip), block=keys * 4)
    np.testing.assert_array_equal(found, expected)


def test_nobody_to_find():
    X = np.ones((3, 2), np.float32)
    assert (top_cosines(X, np.arange(3), np.zeros(0, np.int64), 2) == -1).all()
    assert top_products(torch.ones(3, 2), torch.ones(4, 2), 0).shape == (3, 0)
