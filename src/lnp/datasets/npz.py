"""Graphs in npz files: a folder of them is named by the environment variable ``LNP_DATA``.

=========================================  =========================================================
``edge_index``                             ``(2, m)`` node numbers, in either direction
``x``                                      ``(n, d)`` dense features, or instead the parts of a CSR matrix:
``x_data, x_indices, x_indptr, x_shape``
``y``                                      ``(n,)`` classes from 0; −1 where unknown
``train_mask, val_mask, test_mask``        optional, boolean, ``(n,)`` or ``(n, splits)``
``class_names``                            optional, ``(c,)`` text
=========================================  =========================================================

Files are read without pickle, and everything in them is checked.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lnp.datasets.dataset import Dataset
from lnp.errors import DataError, InputError
from lnp.graph.convert import MASKS, splits_from_masks
from lnp.graph.graph import Features, Graph
from lnp.graph.labels import UNKNOWN, Truth

__all__ = ["SPARSE_KEYS", "data_folder", "features_of", "is_graph_file", "load_npz", "read_arrays", "save_npz"]

VARIABLE = "LNP_DATA"
SPARSE_KEYS = ("x_data", "x_indices", "x_indptr", "x_shape")

Arrays = dict[str, NDArray[np.generic]]


def data_folder() -> Path | None:
    """The folder that ``LNP_DATA`` names; ``None`` where it is not set."""
    name = os.environ.get(VARIABLE, "")
    if not name:
        return None
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise DataError(f"Expected {VARIABLE} to name a folder with npz files, but {folder} is none.")
    return folder


def is_graph_file(path: Path) -> bool:
    """Whether an npz file holds edges (its table of contents alone is read)."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "edge_index.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def read_arrays(path: Path, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> Arrays:
    """Those arrays of a file, by key; optional ones only where they are."""
    if not path.is_file():
        raise DataError(f"Expected a data file at {path}, but there is none.")
    try:
        with path.open("rb") as file:
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError("it holds a single array")
            missing = [key for key in required if key not in archive.files]
            if not missing:
                return {key: archive[key] for key in (*required, *optional) if key in archive.files}
    except (OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"Expected {path} to be a readable npz file, but got: {_reason(path, error)}") from error
    raise DataError(f"Expected {path} to have `{missing[0]}`, but it has only {', '.join(sorted(archive.files))}.")


def _reason(path: Path, error: Exception) -> str:
    """What is wrong and what to do; numpy itself would advise to unpickle whatever it does not know."""
    if "pickle" not in str(error):
        return f"{error}. It may be truncated; fetch it again."
    if zipfile.is_zipfile(path):
        return (
            "an array of Python objects, which are never read. Save numbers with −1, or strings with an empty one, "
            "where a value is unknown."
        )
    return "something else, by its first bytes. Write it with `numpy.savez`."


def load_npz(
    path: Path,
    *,
    name: str | None = None,
    labels_key: str = "y",
    labels_file: Path | None = None,
    class_names: tuple[str, ...] | None = None,
    scaling: str = "auto",
) -> Dataset:
    """The graph of a file.

    Args:
        path: The file.
        name: What to call the graph; the file's stem by default.
        labels_key: The key of the labels.
        labels_file: Another file with labels and masks for the same nodes.
        class_names: Their names; those in the file, then numbers, by default.
        scaling: The customary scaling of the features.
    """
    graph_keys = ("edge_index",) if labels_file else ("edge_index", labels_key)
    arrays = read_arrays(path, graph_keys, ("x", *SPARSE_KEYS, *MASKS, "class_names"))
    described = arrays if labels_file is None else read_arrays(labels_file, (labels_key,), (*MASKS, "class_names"))
    try:
        labels = described[labels_key]
        if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
            raise DataError(
                f"Expected `{labels_key}` to be one whole number per node, but got shape {labels.shape} of "
                f"{labels.dtype}."
            )
        if class_names is None and "class_names" in described:
            class_names = tuple(str(item) for item in described["class_names"])
        class_count = max(2, int(labels.max(initial=UNKNOWN)) + 1)
        graph = Graph.from_edges(
            arrays["edge_index"],
            features_of(arrays),
            class_names=class_names,
            class_count=class_count,
            name=name or path.stem,
        )
        masks = [described[key] for key in MASKS if key in described]
        if len(masks) not in (0, len(MASKS)):
            raise DataError(f"Expected all of {', '.join(MASKS)} or none, but got {len(masks)} of them.")
        if masks and len(masks[0]) != graph.node_count:
            raise DataError(f"Expected masks of {graph.node_count} nodes, but got shape {masks[0].shape}.")
        return Dataset(
            graph=graph,
            truth=Truth(labels, graph.class_count),
            public_splits=splits_from_masks(*masks) if masks else (),
            scaling=scaling,
            source=str(path if labels_file is None else labels_file),
        )
    except InputError as error:
        raise DataError(f"{path}: {error}") from error


def save_npz(dataset: Dataset, path: Path) -> None:
    """Writes a dataset as such a file, whole or not at all. Node ids, edge weights and notes are not kept."""
    graph = dataset.graph
    arrays: Arrays = {
        "edge_index": graph.edges.astype(np.int32),
        "y": dataset.truth.labels.astype(np.int32),
        "class_names": np.array(graph.class_names),
    }
    if isinstance(graph.features, np.ndarray):
        arrays["x"] = graph.features
    else:
        parts = (graph.features.data, graph.features.indices, graph.features.indptr, np.array(graph.features.shape))
        arrays |= dict(zip(SPARSE_KEYS, parts, strict=True))
    if dataset.public_splits:
        shape = (graph.node_count, len(dataset.public_splits))
        for key, part in zip(MASKS, ("train", "validation", "test"), strict=True):
            mask = np.zeros(shape, bool)
            for column, split in enumerate(dataset.public_splits):
                mask[getattr(split, part), column] = True
            arrays[key] = mask
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def features_of(arrays: Arrays) -> Features:
    """The features, dense or CSR, among the arrays of a file."""
    if "x" in arrays:
        return arrays["x"]
    missing = [key for key in SPARSE_KEYS if key not in arrays]
    if missing:
        raise DataError(f"Expected features, `x` or {', '.join(SPARSE_KEYS)}, but `{missing[0]}` is missing.")
    data, indices, indptr, shape = (arrays[key] for key in SPARSE_KEYS)
    try:
        matrix = sp.csr_array((data.astype(np.float32), indices, indptr), shape=tuple(int(size) for size in shape))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise DataError(f"Expected {', '.join(SPARSE_KEYS)} to be a CSR matrix, but got: {error}.") from error
    return matrix
