from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler, normalize

from lnp.errors import ConfigError
from lnp.graph.features import scale_features
from lnp.graph.graph import Graph


def graph_of(features):
    return Graph.from_edges([[0], [1]], features, class_count=2)


DENSE = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)


def test_row_scaling_is_l1_normalisation():
    features = DENSE.copy()
    features[3] = 0
    scaled = scale_features(graph_of(features), "row").features
    np.testing.assert_allclose(scaled, normalize(features, norm="l1"), rtol=1e-6)
    assert not scaled[3].any()


def test_row_scaling_of_sparse_features_stays_sparse_and_agrees_with_dense():
    features = sp.random_array((20, 9), density=0.2, rng=np.random.default_rng(0), format="csr")
    scaled = scale_features(graph_of(features), "row").features
    assert isinstance(scaled, sp.csr_array)
    dense = scale_features(graph_of(features.toarray()), "row").features
    np.testing.assert_allclose(scaled.toarray(), dense, rtol=1e-6)


def test_standard_scaling_is_that_of_scikit_learn():
    scaled = scale_features(graph_of(DENSE * 50 + 3), "standard").features
    np.testing.assert_allclose(scaled, StandardScaler().fit_transform(DENSE * 50 + 3), atol=1e-5)


def test_a_constant_column_becomes_zero():
    features = np.c_[DENSE, np.full(6, 1e4)]
    assert not scale_features(graph_of(features), "standard").features[:, -1].any()


@pytest.mark.parametrize(
    ("features", "choice"),
    [
        (sp.csr_array(np.abs(DENSE)), "row"),
        (sp.csr_array((6, 4)), "row"),
        (sp.csr_array(DENSE), "standard"),
        (DENSE, "none"),  # one scale already
        (DENSE * [1, 1, 1, 1000], "standard"),  # one column in another unit
        (DENSE * 1000, "standard"),  # one scale, but far from that of the initial weights
        (np.zeros((6, 4)), "none"),
    ],
)
def test_auto_chooses_by_sparsity_sign_and_scale(features, choice):
    graph = graph_of(features)
    assert scale_features(graph, "auto").checksum == scale_features(graph, choice).checksum


def test_none_changes_nothing():
    graph = graph_of(DENSE)
    assert scale_features(graph, "none") is graph


def test_an_unknown_scaling_lists_the_choices():
    with pytest.raises(ConfigError, match="`scaling` to be one of auto, none, row, standard, but got 'columns'"):
        scale_features(graph_of(DENSE), "columns")
