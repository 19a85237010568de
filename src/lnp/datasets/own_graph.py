"""A user's own graph: what was imported, as one object and as one folder.

==========  =============================================================================================
graph.npz   ``edge_index`` (each edge once), ``edge_weight`` where a weight differs from 1, the features (``x``, or
            ``x_data, x_indices, x_indptr, x_shape``), ``y`` (−1 unknown), ``trusted``, node ids and kept texts as
            packed strings, and a copy of graph.json
graph.json  format version, sizes, classes, feature names, checksums, and the summary of the import
==========  =============================================================================================

A write that is cut off leaves the earlier graph or the new one. No pickle; everything is checked on reading.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lnp import __version__
from lnp.datasets.import_summary import ImportSummary
from lnp.datasets.npz import SPARSE_KEYS, features_of, read_arrays
from lnp.datasets.packed_text import pack, unpack
from lnp.errors import DataError, InputError, LabelError
from lnp.graph.graph import Graph
from lnp.graph.labels import UNKNOWN, ObservedLabels

__all__ = ["ARRAYS", "FACTS", "OwnGraph", "is_own_graph", "read_own_graph", "require_free", "write_own_graph"]

ARRAYS, FACTS = "graph.npz", "graph.json"
FORMAT = 1

KINDS: dict[str, type] = {
    "format": int,
    "fingerprint": str,
    "lnp": str,
    "name": str,
    "source": str,
    "nodes": int,
    "edges": int,
    "features": int,
    "classes": list,
    "labelled": int,
    "trusted": int,
    "feature_names": list,
    "texts": list,
    "checksum": str,
    "labels_checksum": str,
}
"""What graph.json must hold; ``picture_shape`` and ``summary`` may be null."""


@dataclass(frozen=True, eq=False)
class OwnGraph:
    """A graph with the labels that came with it and the names its owner knows things by.

    Args:
        graph: Edges and features.
        labels: The given labels (−1 unknown) and which of them are trusted.
        node_ids: The owner's ids, in node order.
        class_names: The labels as written, in class order.
        texts: Columns to show to people, by name: one string per node, empty where there was none.
        feature_names: One per feature, or none where they are unknown.
        picture_shape: Rows and columns, where the features of a node form a picture.
        source: What it was imported from, one line.
        summary: What the import found; ``print(own.summary)``.
    """

    graph: Graph
    labels: ObservedLabels
    node_ids: tuple[str, ...]
    class_names: tuple[str, ...]
    texts: dict[str, tuple[str, ...]]
    feature_names: tuple[str, ...]
    picture_shape: tuple[int, int] | None = None
    source: str = ""
    summary: ImportSummary | None = None

    def __post_init__(self) -> None:
        n, d = self.graph.node_count, self.graph.feature_count
        if self.labels.node_count != n or self.labels.class_count != self.graph.class_count:
            raise LabelError(
                f"Expected labels for {n} nodes in {self.graph.class_count} classes, but got {self.labels.node_count} "
                f"nodes in {self.labels.class_count} classes."
            )
        if len(self.node_ids) != n or (self.graph.node_ids is not None and self.graph.node_ids != self.node_ids):
            raise DataError(f"Expected `node_ids` to name the {n} nodes of the graph, but they do not.")
        if self.class_names != self.graph.class_names:
            raise DataError("Expected `class_names` to be those of the graph, but they differ.")
        for name, column in self.texts.items():
            if len(column) != n:
                raise DataError(f"Expected {n} texts in column {name!r}, but got {len(column)}.")
        if self.feature_names and len(self.feature_names) != d:
            raise DataError(f"Expected {d} `feature_names` or none, but got {len(self.feature_names)}.")
        if self.picture_shape is not None and self.picture_shape[0] * self.picture_shape[1] != d:
            rows, columns = self.picture_shape
            raise DataError(f"Expected a picture of {rows} × {columns} to have all {d} features, but it does not.")

    def __repr__(self) -> str:
        labelled = int((self.labels.given != UNKNOWN).sum())
        findings = 0 if self.summary is None else len(self.summary.findings)
        hint = f", {findings} findings: print(….summary)" if findings else ""
        return f"OwnGraph({self.graph!r}, {labelled:,} labelled, {int(self.labels.trusted.sum()):,} trusted{hint})"


def is_own_graph(folder: Path) -> bool:
    """Whether there is an imported graph in the folder."""
    return (folder / FACTS).is_file() and (folder / ARRAYS).is_file()


def require_free(folder: Path, *, overwrite: bool = False) -> None:
    """Raises where a graph cannot be written."""
    if folder.exists() and not folder.is_dir():
        raise DataError(f"Expected {folder} to be a folder for the graph, but it is a file. Choose another.")
    if not overwrite and ((folder / FACTS).exists() or (folder / ARRAYS).exists()):
        raise DataError(
            f"Expected {folder} to hold no graph yet, but it has one. Choose another folder, or pass --overwrite."
        )


def write_own_graph(own: OwnGraph, folder: Path) -> None:
    """Writes both files, whole or not at all; other files of the folder stay, an earlier graph is replaced."""
    require_free(folder, overwrite=True)
    facts = _facts(own)
    text = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    arrays = _arrays(own) | {"facts": np.frombuffer(json.dumps(facts).encode(), np.uint8)}
    folder.parent.mkdir(parents=True, exist_ok=True)
    staging = folder.parent / f".{folder.resolve().name}.{os.getpid()}.tmp"
    try:
        staging.mkdir()
        with (staging / ARRAYS).open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        (staging / FACTS).write_text(text, encoding="utf-8", errors="surrogatepass")
        if folder.exists():
            for name in (ARRAYS, FACTS):  # the arrays first: from then on the folder reads as the new graph
                os.replace(staging / name, folder / name)
        else:
            os.rename(staging, folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def read_own_graph(folder: Path) -> OwnGraph:
    """Reads what :func:`write_own_graph` wrote; an error names the file and the field."""
    for name in (FACTS, ARRAYS):
        if not (folder / name).is_file():
            raise DataError(
                f"Expected an imported graph in {folder}, but there is no {name}. Make one with `lnp import`."
            )
    path = folder / FACTS
    try:
        facts = json.loads(path.read_text(encoding="utf-8", errors="surrogatepass"))
    except (ValueError, OSError) as error:
        raise DataError(f"Expected {path} to be readable JSON, but got: {error}. Import the graph again.") from error
    _check_facts(path, facts)
    required = ("edge_index", "y", "trusted", "node_ids", "node_ids_ends", "facts")
    texts = [f"text_{i}{end}" for i in range(len(facts["texts"])) for end in ("", "_ends")]
    arrays: dict[str, Any] = read_arrays(
        folder / ARRAYS, required, ("before", "edge_weight", "x", *SPARSE_KEYS, *texts)
    )
    try:
        copy = json.loads(arrays["facts"].tobytes())
        if isinstance(copy, dict) and copy.get("fingerprint") != facts["fingerprint"]:
            _check_facts(
                folder / ARRAYS, copy
            )  # a write was cut off between the two files: the arrays are the new ones
            facts = copy
            texts = [f"text_{i}{end}" for i in range(len(facts["texts"])) for end in ("", "_ends")]
            arrays |= read_arrays(folder / ARRAYS, tuple(texts))
        return _own_graph(facts, arrays)
    except (InputError, ValueError, TypeError, KeyError, OverflowError) as error:
        raise DataError(f"Expected {folder} to hold a whole graph, but: {error} Import the graph again.") from error


def _facts(own: OwnGraph) -> dict[str, Any]:
    graph, labels = own.graph, own.labels
    facts: dict[str, Any] = {
        "format": FORMAT,
        "lnp": __version__,
        "name": graph.name,
        "source": own.source,
        "nodes": graph.node_count,
        "edges": graph.edge_count,
        "features": graph.feature_count,
        "classes": list(own.class_names),
        "labelled": int((labels.given != UNKNOWN).sum()),
        "trusted": int(labels.trusted.sum()),
        "feature_names": list(own.feature_names),
        "texts": list(own.texts),
        "picture_shape": None if own.picture_shape is None else list(own.picture_shape),
        "checksum": graph.checksum,
        "labels_checksum": _labels_checksum(labels),
        "summary": None if own.summary is None else own.summary.to_json(),
    }
    return {**facts, "fingerprint": hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]}


def _arrays(own: OwnGraph) -> dict[str, NDArray[Any]]:
    graph = own.graph
    upper = sp.triu(graph.adjacency, 1).tocoo()
    small = np.int32 if graph.node_count < 2**31 else np.int64
    arrays: dict[str, NDArray[Any]] = {
        "edge_index": np.stack([upper.row, upper.col]).astype(small),
        "y": own.labels.given.astype(np.int32),
        "trusted": own.labels.trusted,
    }
    if (own.labels.before != UNKNOWN).any():
        arrays["before"] = own.labels.before.astype(np.int32)
    if (upper.data != 1).any():
        arrays["edge_weight"] = upper.data
    if isinstance(graph.features, np.ndarray):
        arrays["x"] = graph.features
    else:
        parts = (graph.features.data, graph.features.indices, graph.features.indptr, np.array(graph.features.shape))
        arrays |= dict(zip(SPARSE_KEYS, parts, strict=True))
    arrays["node_ids"], arrays["node_ids_ends"] = pack(own.node_ids)
    for i, column in enumerate(own.texts.values()):
        arrays[f"text_{i}"], arrays[f"text_{i}_ends"] = pack(column)
    return arrays


def _own_graph(facts: dict[str, Any], arrays: dict[str, Any]) -> OwnGraph:
    node_ids, classes = unpack(arrays["node_ids"], arrays["node_ids_ends"]), tuple(facts["classes"])
    shape = facts.get("picture_shape")
    graph = Graph.from_edges(
        arrays["edge_index"],
        features_of(arrays),
        weights=arrays.get("edge_weight"),
        class_names=classes,
        node_ids=node_ids,
        name=facts["name"],
        notes={} if shape is None else {"picture_shape": tuple(shape)},
    )
    before = arrays.get("before")
    labels = ObservedLabels(arrays["y"], arrays["trusted"], class_count=len(classes), before=before)
    found = {"checksum": graph.checksum, "labels_checksum": _labels_checksum(labels)}
    for key, value in found.items():
        if facts[key] != value:
            raise DataError(f"the `{key}` of its arrays is {value}, but {FACTS} says {facts[key]}.")
    summary = facts.get("summary")
    return OwnGraph(
        graph=graph,
        labels=labels,
        node_ids=node_ids,
        class_names=classes,
        texts={name: unpack(arrays[f"text_{i}"], arrays[f"text_{i}_ends"]) for i, name in enumerate(facts["texts"])},
        feature_names=tuple(facts["feature_names"]),
        picture_shape=None if shape is None else (int(shape[0]), int(shape[1])),
        source=facts["source"],
        summary=None if summary is None else ImportSummary.from_json(summary),
    )


def _labels_checksum(labels: ObservedLabels) -> str:
    digest = hashlib.sha256(labels.given.astype(np.int64).tobytes())
    digest.update(labels.trusted.tobytes())
    return digest.hexdigest()[:16]


def _check_facts(path: Path, facts: object) -> None:
    if not isinstance(facts, dict) or not isinstance(facts.get("format"), int):
        raise DataError(f"Expected {path} to describe an imported graph, but it does not. Import the graph again.")
    if not 1 <= facts["format"] <= FORMAT:
        raise DataError(
            f"{path} has format {facts['format']}, written by lnp {facts.get('lnp', 'of another version')}, but lnp "
            f"{__version__} reads formats up to {FORMAT}. Install that version to read it."
        )
    for key, kind in KINDS.items():
        if not isinstance(facts.get(key), kind):
            state = f"got {facts[key]!r}" if key in facts else "it is missing"
            raise DataError(f"Expected `{key}` of {path} to be a {kind.__name__}, but {state}. Import the graph again.")
