from __future__ import annotations

import gzip
import urllib.error
from pathlib import Path

import numpy as np
import pytest
import torch

from lnp.datasets import download as module
from lnp.datasets.catalog import CATALOG, list_datasets, load_dataset
from lnp.errors import DataError
from lnp.graph.convert import import_optional


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache and no LNP_DATA."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("LNP_DATA", raising=False)
    return tmp_path / "lnp"


def fake_data(splits=2):
    generator = torch.Generator().manual_seed(0)
    masks = torch.randint(0, 3, (20, splits), generator=generator)
    return import_optional("torch_geometric.data", "this test").Data(
        x=(torch.rand(20, 30, generator=generator) < 0.1).float(),
        edge_index=torch.cat([torch.randint(0, 20, (2, 40), generator=generator), torch.tensor([[3], [3]])], dim=1),
        y=torch.arange(20) % 5,
        train_mask=masks == 0,
        val_mask=masks == 1,
        test_mask=masks == 2,
    )


def refuse(folder: Path):
    (folder / "half").write_text("written")
    raise urllib.error.URLError("Name or service not known")


def test_a_download_is_converted_and_kept(cache, monkeypatch):
    calls = []
    data = fake_data()
    monkeypatch.setitem(module.DOWNLOADS, "chameleon", lambda folder: calls.append(folder) or data)
    first = load_dataset("chameleon")
    dense = np.zeros((20, 20))
    dense[tuple(data.edge_index.numpy())] = 1
    dense = np.maximum(dense, dense.T)
    np.fill_diagonal(dense, 0)
    np.testing.assert_array_equal(first.graph.adjacency.toarray(), dense)
    np.testing.assert_array_equal(first.graph.features.toarray(), data.x.numpy())  # a bag of words: CSR
    np.testing.assert_array_equal(first.truth.labels, data.y.numpy())
    assert (first.name, first.scaling, len(first.public_splits)) == ("chameleon", "none", 2)
    for column, split in enumerate(first.public_splits):
        np.testing.assert_array_equal(split.test, np.flatnonzero(data.test_mask[:, column]))

    second = load_dataset("chameleon")  # from the cache
    assert len(calls) == 1
    assert second.graph.checksum == first.graph.checksum
    np.testing.assert_array_equal(second.public_splits[1].train, first.public_splits[1].train)
    assert [path.name for path in cache.iterdir()] == ["chameleon.npz"]  # nothing else stays
    row = next(row for row in list_datasets() if row.name == "chameleon")
    assert (row.available, row.origin) == (True, "cache")


def test_without_a_network_the_message_says_what_to_do(cache, monkeypatch):
    monkeypatch.setitem(module.DOWNLOADS, "cora", refuse)
    with pytest.raises(DataError, match=r"Expected to download cora .*Name or service not known.* set LNP_DATA"):
        load_dataset("cora")
    assert list(cache.iterdir()) == []
    row = next(row for row in list_datasets() if row.name == "cora")
    assert (row.available, row.origin) == (False, "download")


def test_dense_features_stay_dense():
    data = fake_data()
    data.x = data.x + 1
    dataset = module.dataset_from_pyg(data, name="ogbn-arxiv", class_names=None, scaling="auto")
    np.testing.assert_array_equal(dataset.graph.features, data.x.numpy())


def test_a_download_without_labels_is_named():
    data = fake_data()
    del data.y
    with pytest.raises(DataError, match="download of cora to have labels `y`"):
        module.dataset_from_pyg(data, name="cora", class_names=("a", "b"), scaling="row")


def test_downloads_are_in_the_catalog_and_use_loaders_that_exist(monkeypatch, tmp_path):
    assert set(module.DOWNLOADS) == {"cora", "citeseer", "pubmed", "chameleon", "squirrel", "actor", "ogbn-arxiv"}
    assert set(module.DOWNLOADS) <= set(CATALOG)
    datasets = import_optional("torch_geometric.datasets", "this test")
    seen = {}
    for collection in ("Planetoid", "WikipediaNetwork", "Actor"):
        loader = getattr(datasets, collection)

        def record(self, *, collection=collection, **options):
            seen[options.pop("name", "actor").lower()] = (collection, options.pop("geom_gcn_preprocess", None))
            assert options == {"root": str(tmp_path)}

        monkeypatch.setattr(loader, "__init__", record)
        monkeypatch.setattr(loader, "__getitem__", lambda self, index: index)
    for name in set(module.DOWNLOADS) - {"ogbn-arxiv"}:
        assert module.DOWNLOADS[name](tmp_path) == 0
    assert seen == {
        "cora": ("Planetoid", None),
        "citeseer": ("Planetoid", None),
        "pubmed": ("Planetoid", None),
        "chameleon": ("WikipediaNetwork", True),
        "squirrel": ("WikipediaNetwork", True),
        "actor": ("Actor", None),
    }


def write_ogb(folder, features, edges, labels, parts):
    tables = {"raw/node-feat": features, "raw/edge": edges, "raw/node-label": labels}
    tables |= {f"split/time/{name}": nodes for name, nodes in parts.items()}
    for name, table in tables.items():
        path = folder / f"{name}.csv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(path, "wt") as file:
            np.savetxt(file, table, delimiter=",", fmt="%s")


def test_ogbn_arxiv_is_read_from_its_tables(cache, monkeypatch):
    features = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    edges = np.array([[0, 1], [1, 0], [2, 3], [4, 4]])
    labels = np.array([[39], [1], [2], [3], [0], [5]])
    parts = {"train": [0, 1, 5], "valid": [2], "test": [3, 4]}

    def fetch(url, folder):
        assert url == "https://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip"
        write_ogb(Path(folder) / "arxiv", features, edges, labels, parts)
        return "archive"

    data_module = import_optional("torch_geometric.data", "this test")
    monkeypatch.setattr(data_module, "download_url", fetch)
    monkeypatch.setattr(data_module, "extract_zip", lambda archive, folder: None)
    dataset = load_dataset("ogbn-arxiv")
    np.testing.assert_array_equal(dataset.graph.features, features)
    assert dataset.graph.edges.tolist() == [[0, 2], [1, 3]]
    assert dataset.truth.labels.tolist() == labels.ravel().tolist()
    (split,) = dataset.public_splits
    assert [p.tolist() for p in (split.train, split.validation, split.test)] == list(parts.values())
    assert dataset.graph.class_names[39] == "cs.DM"
