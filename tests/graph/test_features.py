from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler, normalize

from lnp.errors import ConfigError
from lnp.graph.features import _standardised, scale_features, suitable_scaling
from lnp.graph.graph import Graph


def graph_of(features):
    return Graph.from_edges([[0], [1]], features, class_count=2)


DENSE = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)


@pytest.mark.parametrize(("scaling", "norm"), [("row", "l1"), ("length", "l2")])
def test_scaling_of_rows_is_normalisation(scaling, norm):
    features = DENSE.copy()
    features[3] = 0
    scaled = scale_features(graph_of(features), scaling).features
    np.testing.assert_allclose(scaled, normalize(features, norm=norm), rtol=1e-6)
    assert not scaled[3].any()


@pytest.mark.parametrize("scaling", ["row", "length"])
def test_scaling_of_sparse_rows_stays_sparse_and_agrees_with_dense(scaling):
    features = sp.random_array((20, 9), density=0.2, rng=np.random.default_rng(0), format="csr")
    scaled = scale_features(graph_of(features), scaling).features
    assert isinstance(scaled, sp.csr_array)
    dense = scale_features(graph_of(features.toarray()), scaling).features
    np.testing.assert_allclose(scaled.toarray(), dense, rtol=1e-6)


def test_standard_scaling_is_that_of_scikit_learn():
    scaled = scale_features(graph_of(DENSE * 50 + 3), "standard").features
    np.testing.assert_allclose(scaled, StandardScaler().fit_transform(DENSE * 50 + 3), atol=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
def test_standard_scaling_holds_one_matrix_and_agrees_in_blocks(sparse, monkeypatch):
    monkeypatch.setattr("lnp.graph.features.BLOCK", 2**12)
    features = np.random.default_rng(1).normal(size=(20_000, 16)).astype(np.float32) * 7 + 2
    features[np.random.default_rng(2).random(features.shape) < 0.8] = 0
    graph = graph_of(sp.csr_array(features) if sparse else features)
    tracemalloc.start()
    scaled = _standardised(graph.features)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.25 * features.nbytes
    np.testing.assert_allclose(scaled, StandardScaler().fit_transform(features.astype(np.float64)), atol=1e-5)


def test_standard_scaling_counts_more_rows_than_single_precision_can():
    """A running sum of ones stops at 2²⁴ in single precision."""
    features = np.ones((2**24 + 2**23, 1), np.float32)
    features[: 2**23] = 4
    scaled = _standardised(features)
    mean, deviation = 2.0, np.sqrt(2.0)  # a third 4, the rest 1
    assert scaled[0, 0] == pytest.approx((4 - mean) / deviation, rel=1e-6)
    assert scaled[-1, 0] == pytest.approx((1 - mean) / deviation, rel=1e-6)


def test_a_constant_column_becomes_zero():
    features = np.c_[DENSE, np.full(6, 1e4)]
    assert not scale_features(graph_of(features), "standard").features[:, -1].any()


@pytest.mark.parametrize(
    ("features", "choice"),
    [
        (sp.csr_array(np.abs(DENSE)), "length"),
        (sp.csr_array((6, 4)), "length"),
        (sp.csr_array(DENSE), "standard"),
        (DENSE, "none"),  # one scale already
        (DENSE * [1, 1, 1, 1000], "standard"),  # one column in another unit
        (DENSE * 1000, "standard"),  # one scale, but far from that of the initial weights
        (DENSE / 1000, "standard"),
        (normalize(DENSE), "none"),  # embeddings of length 1
        (np.zeros((6, 4)), "none"),
    ],
)
def test_auto_chooses_by_sparsity_sign_and_scale(features, choice):
    graph = graph_of(features)
    assert suitable_scaling(graph.features) == choice
    assert scale_features(graph, "auto").checksum == scale_features(graph, choice).checksum


def test_none_changes_nothing():
    graph = graph_of(DENSE)
    assert scale_features(graph, "none") is graph


def test_an_unknown_scaling_lists_the_choices():
    with pytest.raises(
        ConfigError, match="`scaling` to be one of auto, length, none, row, standard, but got 'columns'"
    ):
        scale_features(graph_of(DENSE), "columns")
