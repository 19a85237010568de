from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from lnp.datasets.digits import DigitsConfig, digits
from lnp.errors import ConfigError
from lnp.graph.homophily import edge_homophily


def distances_from(node):
    pixels = load_digits().data
    return ((pixels - pixels[node]) ** 2).sum(axis=1)  # whole numbers: exact


def test_pictures_labels_and_notes_are_those_of_scikit_learn():
    dataset = digits()
    bunch = load_digits()
    np.testing.assert_allclose(dataset.graph.features * 16, bunch.data)
    np.testing.assert_array_equal(dataset.truth.labels, bunch.target)
    assert dataset.graph.notes["picture_shape"] == (8, 8)
    assert dataset.graph.class_names == tuple("0123456789")


@pytest.mark.parametrize("node", [0, 700, 1796])
def test_every_picture_is_joined_to_its_nearest(node):
    adjacency = digits(DigitsConfig(k=6)).graph.adjacency
    distances = distances_from(node)
    distances[node] = np.inf
    sixth = np.sort(distances)[5]
    joined = np.zeros(1797, bool)
    joined[adjacency[[node]].indices] = True
    assert joined[distances < sixth].all()  # a tie at the sixth place may go either way
    # Whoever else is joined named this node: it is among their own six nearest.
    for other in np.flatnonzero(joined & (distances > sixth)):
        back = distances_from(other)
        assert (back < back[node]).sum() - 1 < 6


def test_mutual_edges_are_those_that_both_name():
    either, mutual = (digits(DigitsConfig(k=5, mutual=choice)).graph for choice in (False, True))
    # n·k arrows: each mutual edge uses two of them, every other edge one.
    assert either.edge_count + mutual.edge_count == 1797 * 5
    assert (mutual.adjacency - mutual.adjacency.multiply(either.adjacency)).nnz == 0
    assert np.diff(mutual.adjacency.indptr).max() <= 5
    assert np.diff(either.adjacency.indptr).min() >= 5


def test_neighbours_mostly_agree():
    dataset = digits()
    assert edge_homophily(dataset.graph, dataset.truth.labels) > 0.95


@pytest.mark.parametrize("k", [0, 1797])
def test_k_out_of_range_is_named(k):
    with pytest.raises(ConfigError, match=rf"`k` to be in \[1, 1796\], but got {k}"):
        DigitsConfig(k=k)
