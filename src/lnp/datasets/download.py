"""Published graphs by download, where no file is at hand.

PyTorch Geometric fetches into a temporary folder; what arrives is converted, checked and kept as one npz file in the
user's cache (``$XDG_CACHE_HOME/lnp`` or ``~/.cache/lnp``), so that a failed download leaves nothing behind and the
next use needs neither the network nor PyTorch Geometric.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from lnp.datasets.dataset import Dataset
from lnp.datasets.npz import save_npz
from lnp.errors import DataError, InputError
from lnp.graph.convert import MASKS, from_pyg, import_optional, splits_from_masks

__all__ = ["DOWNLOADS", "cache_folder", "cached_file", "dataset_from_pyg", "download", "read_ogb_folder"]

ARXIV_URL = "https://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip"
SPARSE_BELOW = 0.25
"""Features with a smaller share of entries other than 0 are kept as CSR."""


def cache_folder() -> Path:
    """Where downloads are kept."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base else Path.home() / ".cache") / "lnp"


def cached_file(name: str) -> Path:
    """The file in the cache, there or not."""
    return cache_folder() / f"{name}.npz"


def download(name: str, *, class_names: tuple[str, ...] | None, scaling: str) -> Dataset:
    """Fetches a graph of :data:`DOWNLOADS`, keeps it in the cache and returns it."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=f".{name}-") as temporary:
            data = DOWNLOADS[name](Path(temporary))
            dataset = dataset_from_pyg(data, name=name, class_names=class_names, scaling=scaling)
    except InputError:
        raise
    except Exception as error:  # the network, a proxy, a server's page in place of a file: anything can happen
        raise DataError(
            f"Expected to download {name} with torch_geometric, but got {type(error).__name__}: {error}. Check the "
            "network, or set LNP_DATA to a folder with npz files of the graphs."
        ) from error
    save_npz(dataset, cached_file(name))
    return dataset


def dataset_from_pyg(data: Any, *, name: str, class_names: tuple[str, ...] | None, scaling: str) -> Dataset:
    """A dataset from a PyG ``Data``: undirected, without self-loops, bags of words as CSR, all columns of its masks."""
    data = data.clone()
    data.name = name
    graph, truth, _ = from_pyg(data, class_names)
    if truth is None:
        raise DataError(f"Expected the download of {name} to have labels `y`, but it has none.")
    if isinstance(graph.features, np.ndarray) and np.count_nonzero(graph.features) < SPARSE_BELOW * graph.features.size:
        graph = graph.with_features(sp.csr_array(graph.features))
    masks = [data.get(key) for key in MASKS]
    splits = () if any(mask is None for mask in masks) else splits_from_masks(*(mask.numpy() for mask in masks))
    return Dataset(graph=graph, truth=truth, public_splits=splits, scaling=scaling, source=f"download of {name}")


def _fetch(collection: str, **options: object) -> Callable[[Path], Any]:
    def fetch(folder: Path) -> Any:
        module = import_optional("torch_geometric.datasets", "the download of a graph")
        return getattr(module, collection)(root=str(folder), **options)[0]

    return fetch


def _fetch_arxiv(folder: Path) -> Any:
    module = import_optional("torch_geometric.data", "the download of ogbn-arxiv")
    archive = module.download_url(ARXIV_URL, str(folder))
    module.extract_zip(archive, str(folder))
    return read_ogb_folder(folder / "arxiv", split="time")


def read_ogb_folder(folder: Path, split: str) -> Any:
    """A PyG ``Data`` from the raw tables of an OGB node-classification graph.

    Args:
        folder: With ``raw/{edge,node-feat,node-label}.csv.gz`` and ``split/<split>/{train,valid,test}.csv.gz``.
        split: The name of the official split.
    """
    features = _table(folder / "raw" / "node-feat.csv.gz", np.float32)
    masks = {}
    for key, part in zip(MASKS, ("train", "valid", "test"), strict=True):
        mask = torch.zeros(len(features), dtype=torch.bool)
        mask[torch.from_numpy(_table(folder / "split" / split / f"{part}.csv.gz", np.int64).ravel())] = True
        masks[key] = mask
    return import_optional("torch_geometric.data", "the download of a graph").Data(
        x=torch.from_numpy(features),
        edge_index=torch.from_numpy(_table(folder / "raw" / "edge.csv.gz", np.int64).T.copy()),
        y=torch.from_numpy(_table(folder / "raw" / "node-label.csv.gz", np.int64)),
        **masks,
    )


def _table(path: Path, kind: type[np.generic]) -> NDArray[Any]:
    return np.loadtxt(path, dtype=kind, delimiter=",", ndmin=2)


DOWNLOADS: dict[str, Callable[[Path], Any]] = {
    "cora": _fetch("Planetoid", name="Cora"),
    "citeseer": _fetch("Planetoid", name="CiteSeer"),
    "pubmed": _fetch("Planetoid", name="PubMed"),
    "chameleon": _fetch("WikipediaNetwork", name="chameleon", geom_gcn_preprocess=True),
    "squirrel": _fetch("WikipediaNetwork", name="squirrel", geom_gcn_preprocess=True),
    "actor": _fetch("Actor"),
    "ogbn-arxiv": _fetch_arxiv,
}
"""Name → what fetches it into a folder and returns a PyG ``Data``."""
