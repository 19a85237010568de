from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics.pairwise import cosine_similarity

from lnp.nn.similar_links import similar_links


def by_hand(similarity: np.ndarray, count: int) -> np.ndarray:
    """The same from the whole matrix of cosines."""
    links = np.zeros_like(similarity)
    for i, row in enumerate(np.round(similarity, 6)):
        order = [j for j in np.argsort(-row, kind="stable") if j != i and row[j] > 0]
        links[i, order[:count]] = 1 / count
    return links


@pytest.mark.parametrize("count", [1, 4, 10])
def test_dense_features_by_their_cosine(count: int) -> None:
    X = np.random.default_rng(0).normal(size=(30, 5)).astype(np.float32)
    found = similar_links(X, count)
    np.testing.assert_allclose(found.toarray(), by_hand(cosine_similarity(X), count), rtol=1e-6)
    assert found.dtype == np.float32


@pytest.mark.parametrize("count", [1, 4])
def test_words_count_the_less_the_more_nodes_have_them(count: int) -> None:
    X = sp.csr_array((np.random.default_rng(1).random((40, 12)) < 0.3).astype(np.float32))
    # scikit-learn adds 1 to the logarithm; without it the weight of a word is log(n / n_j).
    logarithm = TfidfTransformer(smooth_idf=False, norm=None).fit(X).idf_ - 1
    expected = by_hand(cosine_similarity(X.toarray() * logarithm), count)
    np.testing.assert_allclose(similar_links(X, count).toarray(), expected, rtol=1e-6)


def test_a_word_that_everybody_has_makes_nobody_similar() -> None:
    X = sp.csr_array(np.array([[1, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 0]], np.float32))
    links = similar_links(X, 2).toarray()
    assert links[0].tolist() == [0, 0.5, 0, 0]
    assert not links[2:].any()  # nothing else in common; and the last has no other word


def test_scaled_rows_have_the_same_links() -> None:
    X = (np.random.default_rng(2).random((25, 8)) < 0.4).astype(np.float32)
    scaled = sp.csr_array(X / np.maximum(X.sum(axis=1, keepdims=True), 1))
    np.testing.assert_array_equal(similar_links(scaled, 3).toarray(), similar_links(sp.csr_array(X), 3).toarray())


def test_stored_zeros_are_no_words() -> None:
    X = sp.csr_array(np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 1, 0]], np.float32))
    stored = X.copy()
    stored.data[0] = 0  # the first node no longer has the first word
    np.testing.assert_array_equal(
        similar_links(stored, 1).toarray(), similar_links(sp.csr_array(stored.toarray()), 1).toarray()
    )
