from __future__ import annotations

import numpy as np
import pytest

from lnp.datasets.catalog import CATALOG, list_datasets, load_dataset
from lnp.datasets.synthetic import SyntheticConfig, synthetic
from lnp.errors import ConfigError, DataError, UnknownNameError
from lnp.graph.homophily import edge_homophily
from lnp.seeds import Seeds

LARGEST = {"ncbi-taxonomy", "ncbi-taxonomy-rank", "npm-downloads"}  # two files
PUBLISHED = [name for name, entry in CATALOG.items() if entry.build is None and name != "ogbn-arxiv"]


def need_file(name):
    if {row.name: row.origin for row in list_datasets()}[name] != "LNP_DATA":
        pytest.skip(f"needs the file of {name} in LNP_DATA")


def assert_numbers_agree(name):
    entry, dataset = CATALOG[name], load_dataset(name)
    graph = dataset.graph
    numbers = (graph.node_count, graph.edge_count, graph.feature_count, graph.class_count)
    assert numbers == (entry.nodes, entry.edges, entry.features, entry.classes)
    assert edge_homophily(graph, dataset.truth.labels) == pytest.approx(entry.homophily, abs=5.1e-4)
    assert (dataset.name, dataset.scaling) == (name, entry.scaling)


@pytest.mark.parametrize("name", ["digits", "synthetic"])
def test_the_table_agrees_with_built_in_graphs(name):
    assert_numbers_agree(name)


@pytest.mark.data
@pytest.mark.parametrize("name", sorted(set(PUBLISHED) - LARGEST))
def test_the_table_agrees_with_the_files(data_folder, name):
    need_file(name)
    assert_numbers_agree(name)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("cora", [(140, 500, 1000)]),
        ("citeseer", [(120, 500, 1000)]),
        ("pubmed", [(60, 500, 1000)]),
        ("squirrel", [(2496, 1664, 1041)] * 10),
        ("ogbn-arxiv-structural", [(90941, 29799, 48603)]),
        ("arxiv-year", [(84671, 42335, 42337)] * 5),
    ],
)
def test_public_splits_have_the_published_sizes(data_folder, name, sizes):
    need_file(name)
    splits = load_dataset(name).public_splits
    assert [(s.train.size, s.validation.size, s.test.size) for s in splits] == sizes


@pytest.mark.data
def test_citeseer_keeps_its_isolated_and_featureless_nodes(data_folder):
    need_file("citeseer")
    dataset = load_dataset("citeseer")
    graph = dataset.graph
    assert int((np.diff(graph.adjacency.indptr) == 0).sum()) == 48
    featureless = np.diff(graph.features.indptr) == 0
    assert int(featureless.sum()) == 15
    assert not dataset.truth.labels[featureless].any()  # label 0, as public code has it
    (split,) = dataset.public_splits
    assert not featureless[np.r_[split.train, split.validation, split.test]].any()


def test_options_reach_the_built_in_graphs():
    expected = synthetic(SyntheticConfig(nodes=300, homophily=0.2), Seeds(5).generator("synthetic"))
    by_keyword = load_dataset("synthetic", nodes=300, homophily=0.2, seed=5)
    by_text = load_dataset("synthetic:homophily=0.2,nodes=300,seed=5")
    assert by_keyword.graph.checksum == by_text.graph.checksum == expected.graph.checksum
    assert by_text.graph.notes["homophily"] == 0.2
    assert load_dataset("digits:k=3", mutual=True).source == "scikit-learn, mutual 3-nearest-neighbour graph"


def test_unknown_names_and_options_list_the_choices(monkeypatch):
    monkeypatch.delenv("LNP_DATA", raising=False)
    with pytest.raises(
        UnknownNameError,
        match=r"Unknown dataset 'corra'\. Did you mean 'cora'\? Choices: actor, .*twitch.*, or the folder",
    ):
        load_dataset("corra")
    with pytest.raises(UnknownNameError, match=r"Unknown option of synthetic 'homophilly'.*'homophily'.*seed"):
        load_dataset("synthetic", homophilly=0.2)
    with pytest.raises(ConfigError, match="no options for dataset 'cora', but got k"):
        load_dataset("cora", k=3)
    with pytest.raises(ConfigError, match=r"`homophily` to be in \[0, 1\], but got 2.0"):
        load_dataset("synthetic:homophily=2")


def test_a_graph_that_is_nowhere_says_which_file_it_wants(tmp_path, monkeypatch):
    monkeypatch.delenv("LNP_DATA", raising=False)
    with pytest.raises(DataError, match=r"folder with twitch_de\.npz, .* but it is not set"):
        load_dataset("twitch-de")
    monkeypatch.setenv("LNP_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"ogbn_arxiv\.npz and arxiv_year_labels\.npz, .* which has no such file"):
        load_dataset("arxiv-year")
    assert all(row.origin in ("built in", "nowhere", "download", "cache") for row in list_datasets())


def test_any_other_file_loads_by_its_stem(tmp_path, monkeypatch):
    monkeypatch.setenv("LNP_DATA", str(tmp_path))
    parts = {"edge_index": np.array([[0], [1]]), "x": np.eye(3), "y": np.array([0, 1, 1])}
    np.savez(tmp_path / "my_graph.npz", **parts)
    np.savez(tmp_path / "labels_only.npz", y=parts["y"])
    for name in ("my_graph", "my-graph", "My-Graph"):
        dataset = load_dataset(name)
        assert (dataset.name, dataset.graph.edge_count, dataset.scaling) == ("my_graph", 1, "auto")
    row = list_datasets()[-1]
    assert (row.name, row.nodes, row.available, row.summary) == ("my-graph", None, True, "the file my_graph.npz")
    with pytest.raises(UnknownNameError, match="my-graph"):
        load_dataset("labels_only")


def test_the_substitute_features_never_pass_for_the_official_ones(tmp_path, monkeypatch):
    monkeypatch.setenv("LNP_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    parts = {"edge_index": np.array([[0], [1]]), "x": np.eye(3), "y": np.array([0, 39, 1])}
    np.savez(tmp_path / "ogbn_arxiv.npz", **parts)
    assert load_dataset("ogbn-arxiv-structural").name == "ogbn-arxiv-structural"
    origins = {row.name: row.origin for row in list_datasets()}
    assert (origins["ogbn-arxiv"], origins["ogbn-arxiv-structural"]) == ("download", "LNP_DATA")
