"""A graph from arrays: edges and labels, and features where there are any."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from lnp.datasets.files.build import Parts, build
from lnp.datasets.files.edge_table import EdgeList
from lnp.datasets.files.import_options import ImportOptions
from lnp.datasets.files.label_column import encode_labels
from lnp.datasets.files.table import Table
from lnp.datasets.import_summary import Finding
from lnp.datasets.npz import SPARSE_KEYS, features_of, read_arrays
from lnp.datasets.own_graph import OwnGraph
from lnp.errors import DataError, InputError, LabelError
from lnp.graph.graph import Features, as_features
from lnp.graph.labels import UNKNOWN

__all__ = ["from_arrays", "read_npz"]

OPTIONAL = ("trusted", "class_names", "node_ids", "edge_weight", "picture_shape", "feature_names")


def from_arrays(
    edges: NDArray[Any],
    labels: ArrayLike,
    *,
    nodes: int | None = None,
    features: Features | None = None,
    trusted: ArrayLike | None = None,
    node_ids: Sequence[object] | None = None,
    class_names: Sequence[str] | None = None,
    weights: NDArray[Any] | None = None,
    feature_names: Sequence[str] = (),
    picture: tuple[int, int] | None = None,
    name: str = "graph",
    source: str = "arrays",
    findings: tuple[Finding, ...] = (),
) -> OwnGraph:
    """The graph with its labels.

    Args:
        edges: ``(2, m)`` node numbers.
        labels: One per node: names, or whole numbers; ``None``, an empty name or −1 is unknown.
        nodes: How many nodes there are, where the source of the edges says so.
        features: ``(n, d)``, dense or sparse; without them features are made from the edges.
        trusted: Mask of the nodes whose label was checked.
        node_ids: One per node; 0 … n−1 by default.
        class_names: With whole numbers as labels: their names.
        weights: One per edge.
        feature_names: One per feature, or none.
        picture: Rows and columns, where the features of a node form a picture.
        name: What to call the graph.
        source: What it came from, one line.
        findings: What is known to be odd.
    """
    given, classes = _labels(labels, class_names)
    n = given.size
    if nodes is not None and n != nodes:
        raise LabelError(
            f"Expected one label for each of the {nodes:,} nodes of {source}, but got {n:,}. Hand over one per node, "
            "−1 for unknown."
        )
    matrix = None if features is None else as_features(features)
    if matrix is not None and matrix.shape[0] != n:
        raise LabelError(f"Expected one label for each of the {matrix.shape[0]:,} rows of features, but got {n:,}.")
    ids = tuple(str(i) for i in range(n)) if node_ids is None else tuple(str(name) for name in node_ids)
    if len(ids) != n or len(set(ids)) != n:
        problem = f"got {len(ids):,}" if len(ids) != n else "some repeat"
        raise DataError(f"Expected {n:,} different `node_ids`, but {problem}.")
    mask = np.zeros(n, bool) if trusted is None else np.asarray(trusted)
    if mask.dtype != bool and mask.shape == (n,) and np.isin(mask, (0, 1)).all():
        mask = mask.astype(bool)
    return build(
        Parts(
            name=name,
            source=source,
            node_ids=ids,
            edges=EdgeList(np.asarray(edges), None if weights is None else np.asarray(weights, np.float32)),
            features=matrix,
            feature_names=tuple(feature_names),
            given=given,
            trusted=mask,
            class_names=classes,
            findings=findings,
            picture=picture,
        )
    )


def read_npz(path: Path, options: ImportOptions) -> OwnGraph:
    """The graph of an npz file.

    ``edge_index``, ``y`` (numbers or names), and where they are: ``x`` (or ``x_data, x_indices, x_indptr, x_shape``),
    ``trusted``, ``class_names``, ``node_ids``, ``edge_weight``, ``feature_names``, ``picture_shape``.
    """
    options.require_no_columns("an npz file")
    if path.is_file() and path.stat().st_size == 0:
        raise DataError(f"Expected a graph in {path}, but the file is empty.")
    try:
        arrays: dict[str, Any] = read_arrays(path, ("edge_index", "y"), ("x", *SPARSE_KEYS, *OPTIONAL))
    except MemoryError as error:
        raise DataError(f"Expected arrays that fit into memory in {path}, but got: {error}. Write it again.") from error
    picture = arrays.get("picture_shape")
    try:
        return from_arrays(
            arrays["edge_index"],
            arrays["y"],
            features=features_of(arrays) if "x" in arrays or SPARSE_KEYS[0] in arrays else None,
            trusted=arrays.get("trusted"),
            node_ids=_strings(arrays, "node_ids"),
            class_names=_strings(arrays, "class_names"),
            weights=arrays.get("edge_weight"),
            feature_names=_strings(arrays, "feature_names") or (),
            picture=options.picture or (None if picture is None else (int(picture[0]), int(picture[1]))),
            name=options.name or path.stem,
            source=str(path),
        )
    except (InputError, ValueError, TypeError, IndexError, OverflowError, MemoryError) as error:
        raise DataError(f"{path}: {error}") from error


def _labels(labels: ArrayLike, class_names: Sequence[str] | None) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    array = np.asarray(labels)
    if array.ndim != 1:
        raise LabelError(f"Expected one label per node, but got shape {array.shape}.")
    if class_names is not None and np.issubdtype(array.dtype, np.integer):
        return array.astype(np.int64), tuple(class_names)
    values = [None if value is None or value != value else value for value in array.tolist()]
    known = [value for value in values if value is not None]
    if (
        class_names is not None
        and known
        and all(type(value) in (int, float) and float(value).is_integer() for value in known)
    ):
        return np.array([UNKNOWN if value is None else int(value) for value in values]), tuple(class_names)
    texts = not np.issubdtype(array.dtype, np.number) and array.dtype != bool
    series = pl.Series([None if value is None else str(value) for value in values] if texts else values)
    given, classes = encode_labels(Table("`labels`", pl.DataFrame({"label": series}), row="node"), "label")
    if class_names is None:
        return given, classes
    missing = [name for name in classes if name not in class_names]
    if missing:
        raise LabelError(f"Expected every label among `class_names`, but {missing[0]!r} is not.")
    order = np.array([list(class_names).index(name) for name in classes])
    return np.where(given < 0, given, order[given]), tuple(class_names)


def _strings(arrays: dict[str, Any], key: str) -> list[str] | None:
    if key not in arrays:
        return None
    if arrays[key].ndim != 1:
        raise DataError(f"Expected `{key}` to be a list, but got shape {arrays[key].shape}.")
    return [str(item) for item in arrays[key].tolist()]
