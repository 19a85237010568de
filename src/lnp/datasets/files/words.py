r"""Columns of text: TF-IDF weights of their words.

.. math:: x_{iw} = \frac{(1 + \log n_{iw}) \, (1 + \log\frac{1 + n}{1 + n_w})}{\lVert \cdot \rVert_2}

where word w occurs n_iw times in text i and in n_w of the n texts. These are the weights of scikit-learn's
``TfidfVectorizer`` with ``sublinear_tf``; words of one letter do not count.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer

__all__ = ["word_features"]


def word_features(texts: pl.Series, most: int) -> tuple[sp.csr_array, tuple[str, ...]]:
    """One column per word, the ``most`` frequent ones; words that occur in a single text are left out.

    Args:
        texts: One text per node, null where there is none.
        most: The largest number of words.

    Returns:
        ``(n, w)`` weights, every row of length 1 or 0, and the words. No word at all gives no column.
    """
    documents = texts.fill_null("").to_list()
    for rarest in (2, 1):  # in a handful of texts no word may occur twice
        try:
            vectoriser = TfidfVectorizer(max_features=most, min_df=rarest, sublinear_tf=True, dtype=np.float32)
            weights = vectoriser.fit_transform(documents)
        except ValueError:  # no word is left
            continue
        return sp.csr_array(weights), tuple(str(word) for word in vectoriser.get_feature_names_out())
    return sp.csr_array((len(documents), 0), dtype=np.float32), ()
