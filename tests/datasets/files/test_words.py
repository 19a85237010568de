"""TF-IDF by the formula."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from lnp.datasets.files.words import word_features


def test_weights_are_those_of_the_formula() -> None:
    texts = ["red green red", "Green blue", None, "red blue blue blue rare"]
    matrix, words = word_features(pl.Series(texts), 10)
    assert words == ("blue", "green", "red")  # "rare" is in one text only
    counts = np.array([[0, 1, 2], [1, 1, 0], [0, 0, 0], [3, 0, 1]])
    expected = np.zeros((4, 3))
    for i in range(4):
        for w in range(3):
            if counts[i, w]:
                idf = 1 + math.log((1 + 4) / (1 + np.count_nonzero(counts[:, w])))
                expected[i, w] = (1 + math.log(counts[i, w])) * idf
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(
        matrix.toarray(), np.divide(expected, lengths, where=lengths > 0, out=expected), rtol=1e-6
    )


def test_the_most_frequent_words_stay() -> None:
    texts = pl.Series(["aa bb cc", "aa bb cc", "aa bb", "aa"])
    assert word_features(texts, 2)[1] == ("aa", "bb")


def test_few_texts_keep_words_that_occur_once_and_no_words_give_nothing() -> None:
    assert word_features(pl.Series(["one two", "three"]), 10)[1] == ("one", "three", "two")
    matrix, words = word_features(pl.Series(["", "! ?", None]), 10)
    assert (matrix.shape, words) == ((3, 0), ())
