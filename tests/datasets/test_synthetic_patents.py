from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from lnp.datasets.catalog import CATALOG, list_datasets, load_dataset
from lnp.datasets.synthetic_patents import (
    CLASSES,
    DEGREE_SPREAD,
    SyntheticPatentsConfig,
    field_table,
    field_widths,
    synthetic_patents,
)
from lnp.errors import ConfigError
from lnp.graph.homophily import edge_homophily
from lnp.seeds import Seeds


def draw(seed=0, **knobs):
    return synthetic_patents(SyntheticPatentsConfig(**knobs), Seeds(seed).generator("graph"))


@pytest.fixture(scope="module")
def medium():
    return draw(nodes=40_000)


def test_counts_are_those_of_snap_patents():
    config = SyntheticPatentsConfig()
    assert (config.nodes, config.edge_count, config.features, CLASSES) == (2_923_922, 13_975_788, 269, 5)
    entry, real = CATALOG["synthetic-patents"], CATALOG["snap-patents"]
    facts = (entry.nodes, entry.edges, entry.features, entry.classes, entry.homophily)
    assert facts == (real.nodes, real.edges, real.features, real.classes, real.homophily)
    assert facts == (config.nodes, config.edge_count, config.features, CLASSES, config.homophily)


@pytest.mark.slow
def test_the_whole_graph_has_exactly_these_counts():  # 25 s and 2.5 GiB
    dataset = load_dataset("synthetic-patents")
    graph, entry = dataset.graph, CATALOG["synthetic-patents"]
    assert (graph.node_count, graph.edge_count, graph.feature_count) == (entry.nodes, entry.edges, entry.features)
    assert edge_homophily(graph, dataset.truth.labels) == pytest.approx(entry.homophily, abs=1e-6)


@pytest.mark.parametrize(("nodes", "edges"), [(1000, 3000), (1000, 0), (500, 20_000), (37, 100)])
def test_edges_are_exactly_as_many_as_asked_for(nodes, edges):
    adjacency = draw(nodes=nodes, edges=edges).graph.adjacency
    assert adjacency.nnz == 2 * edges  # doubled ones would have been merged, self-loops dropped
    assert (adjacency.data == 1).all()


def test_without_a_number_the_mean_degree_is_kept():
    graph = draw(nodes=12_345).graph
    assert graph.edge_count == round(12_345 * 13_975_788 / 2_923_922)


@pytest.mark.parametrize("homophily", [0.0, 0.073, 0.5, 1.0])
def test_homophily_is_the_knob_to_one_edge(homophily):
    dataset = draw(nodes=2000, edges=9560, homophily=homophily)
    assert edge_homophily(dataset.graph, dataset.truth.labels) == pytest.approx(round(homophily * 9560) / 9560)


def test_degrees_are_spread_as_among_patents(medium):
    degree = np.diff(medium.graph.adjacency.indptr).astype(np.float64)
    # Poisson degrees with log-normal means: E[d (d − 1)] / E[d]² = exp(σ²). KONECT has 335,781,273 wedges among
    # 3,774,768 patents with 16,518,947 edges, and a Gini coefficient of 0.516.
    patents = 2 * 335_781_273 / 3_774_768 / (2 * 16_518_947 / 3_774_768) ** 2
    assert np.exp(DEGREE_SPREAD**2) == pytest.approx(patents, rel=0.01)
    assert (degree * (degree - 1)).mean() / degree.mean() ** 2 == pytest.approx(patents, rel=0.1)
    ordered, n = np.sort(degree), degree.size
    gini = (2 * np.arange(1, n + 1) - n - 1) @ ordered / (n * ordered.sum())
    assert gini == pytest.approx(0.516, abs=0.015)
    assert degree.max() > 20 * degree.mean()


def test_edges_between_classes_are_spread_evenly(medium):
    first, second = medium.truth.labels[medium.graph.edges]
    counts = np.zeros((5, 5))
    np.add.at(counts, (np.minimum(first, second), np.maximum(first, second)), 1)
    across, within = counts[np.triu_indices(5, 1)], np.diag(counts)
    # Hubs make the mass of a class vary by some per cent.
    np.testing.assert_allclose(across, across.mean(), rtol=0.06)
    np.testing.assert_allclose(within, within.mean(), rtol=0.1)


def test_every_row_has_a_one_in_each_field(medium):
    features = medium.graph.features
    widths = field_widths(269)
    assert (widths.size, widths.sum()) == (12, 269)
    assert (features.data == 1).all()
    columns = features.indices.reshape(40_000, 12)
    ends = np.cumsum(widths)
    assert (columns < ends).all()
    assert (columns >= ends - widths).all()


def test_values_have_the_frequencies_of_their_table():
    generator = Seeds(1).generator("graph")
    config = SyntheticPatentsConfig(nodes=50_000, features=4, edges=0)
    dataset = synthetic_patents(config, Seeds(1).generator("graph"))
    labels = generator.permutation(np.arange(50_000) % 5)  # draw again what was drawn before the first table
    generator.lognormal(0, 1, 50_000)
    table = field_table(config, 2, generator)
    np.testing.assert_array_equal(labels, dataset.truth.labels)
    np.testing.assert_allclose(table.sum(axis=1), 1)
    for k in range(5):
        found = dataset.graph.features[labels == k].sum(axis=0)[:2] / 10_000
        np.testing.assert_allclose(found, table[k], atol=4 * 0.5 / 100)


def test_the_table_is_the_formula():
    config, generator = SyntheticPatentsConfig(signal=0.7), Seeds(2).generator("table")
    g = Seeds(2).generator("table").standard_normal(4)
    expected = [[np.exp(0.7 * (k - 2) / 2 * g[v]) / (v + 1) for v in range(4)] for k in range(5)]
    expected = [[p / sum(row) for p in row] for row in expected]
    np.testing.assert_allclose(field_table(config, 4, generator), expected)


def test_features_tell_a_little_of_the_class(medium):
    # Naive Bayes is the best there is, for fields are independent given the class. Its tables are counted on one half.
    labels, features = medium.truth.labels, medium.graph.features
    learn, judge = np.arange(0, 40_000, 2), np.arange(1, 40_000, 2)
    counts = np.stack([features[learn[labels[learn] == k]].sum(axis=0) for k in range(5)]) + 1.0
    scores = features[judge] @ np.log(counts / counts.sum(axis=1, keepdims=True)).T
    assert 0.31 < (scores.argmax(axis=1) == labels[judge]).mean() < 0.38
    none = draw(nodes=20_000, signal=0.0)
    shares = np.stack([none.graph.features[none.truth.labels == k].mean(axis=0) for k in range(5)])
    assert np.abs(shares - shares.mean(axis=0)).max() < 5 * 0.5 / np.sqrt(4000)


def test_classes_and_the_split_are_even(medium):
    assert np.bincount(medium.truth.labels).tolist() == [8000] * 5
    (split,) = medium.public_splits
    for part, share in ((split.train, 0.5), (split.validation, 0.25), (split.test, 0.25)):
        np.testing.assert_allclose(np.bincount(medium.truth.labels[part]), share * 8000, atol=1)
    halves = np.bincount(medium.truth.labels[:20_000])
    assert np.abs(halves - 4000).max() < 5 * np.sqrt(20_000 * 0.2 * 0.8 / 2)  # node order tells nothing


def test_same_seed_same_bits_and_options_reach_it():
    first = load_dataset("synthetic-patents:nodes=500,edges=1500,features=30,homophily=0.3,seed=4")
    again = load_dataset("synthetic-patents", nodes=500, edges=1500, features=30, homophily=0.3, seed=4)
    other = load_dataset("synthetic-patents", nodes=500, edges=1500, features=30, homophily=0.3)
    assert first.graph.checksum == again.graph.checksum != other.graph.checksum
    np.testing.assert_array_equal(first.public_splits[0].test, again.public_splits[0].test)
    assert (first.graph.node_count, first.graph.edge_count, first.graph.feature_count) == (500, 1500, 30)


def test_it_says_that_it_is_synthetic():
    dataset = draw(nodes=100)
    assert "synthetic" in dataset.source
    assert "synthetic" in dataset.name
    assert dataset.graph.notes["synthetic"] is True
    row = next(row for row in list_datasets() if row.name == "synthetic-patents")
    assert "SYNTHETIC" in row.summary
    assert row.origin == "built in"


def test_memory_grows_with_the_graph_and_not_with_its_square():
    def peak(nodes):
        tracemalloc.start()
        draw(nodes=nodes)
        largest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return largest

    assert peak(40_000) < 13 * peak(4000)


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"nodes": 3}, "`nodes` to be in"),
        ({"edges": -1}, "`edges` to be in"),
        ({"features": 1}, "`features` to be in"),
        ({"homophily": 1.1}, r"`homophily` to be in \[0, 1\], but got 1.1"),
        ({"signal": float("nan")}, "`signal` to be in"),
    ],
)
def test_knobs_out_of_range_are_named(knobs, message):
    with pytest.raises(ConfigError, match=message):
        SyntheticPatentsConfig(**knobs)


def test_more_edges_than_pairs_are_refused():
    with pytest.raises(ConfigError, match=r"`edges` to leave room for .* different edges among .* pairs.*more nodes"):
        draw(nodes=20, edges=150)
