r"""snap-patents from the file of its authors, ``snap_patents.mat``, which has to be at hand: it is not downloaded.

Nodes are patents, edges are citations, and the class is the fifth of the years in which a patent was granted. With
q_1 ≤ … ≤ q_4 the quantiles of all years at 20, 40, 60 and 80 %,

.. math:: y_i = |\{k : q_k \le \mathrm{year}_i\}|,

so a year that is a quantile belongs to the upper class, and classes are as even as whole years allow.

================  =====================================================================
``edge_index``    ``(2, E)`` citations; made undirected here
``node_feat``     ``(n, 269)`` sparse
``num_nodes``     n
``years``         n years
================  =====================================================================

The authors' own splits are a pickled file, which is not read. Masks of them (``train_mask``, ``val_mask`` and
``test_mask``, boolean, ``(n, splits)``) in ``snap_patents_splits.npz`` beside the file are used; without it five splits
of 50/25/25 % are drawn, the same at every load, and ``source`` says so.

Reference: Lim et al., *Large scale learning on non-homophilous graphs*, NeurIPS 2021.
"""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from numpy.typing import NDArray

from lnp.datasets.dataset import Dataset
from lnp.datasets.npz import VARIABLE, data_folder, read_arrays
from lnp.errors import DataError, InputError
from lnp.graph.convert import MASKS, splits_from_masks
from lnp.graph.graph import Graph
from lnp.graph.labels import UNKNOWN, Truth
from lnp.graph.split import Split, random_split
from lnp.seeds import Seeds

__all__ = ["SNAP_PATENTS_FILE", "even_quantile_labels", "load_snap_patents"]

SNAP_PATENTS_FILE = "snap_patents.mat"
SPLITS_FILE = "snap_patents_splits.npz"
KEYS = ("edge_index", "node_feat", "num_nodes", "years")
CLASSES = 5
SPLITS = 5
SHARES = (0.5, 0.25, 0.25)


def load_snap_patents(path: Path | None = None) -> Dataset:
    """The graph.

    Args:
        path: The file; by default ``snap_patents.mat`` in the folder that ``LNP_DATA`` names.
    """
    path = _find(path)
    parts = _read(path)
    try:
        features, years = parts["node_feat"], _years(parts)
        if not sp.issparse(features) and np.ndim(features) != 2:
            raise DataError(f"Expected `node_feat` to be a (nodes, features) matrix, but got {np.shape(features)}.")
        n = features.shape[0]
        if parts["num_nodes"].size != 1 or int(parts["num_nodes"].item()) != n or years.size != n:
            raise DataError(
                f"Expected `num_nodes` and `years` for the {n} rows of `node_feat`, but got {parts['num_nodes']} and "
                f"{years.size} years."
            )
        labels, cuts = even_quantile_labels(years, CLASSES)
        graph = Graph.from_edges(
            parts["edge_index"], features, class_names=_class_names(cuts), class_count=CLASSES, name="snap-patents"
        )
        splits, origin = _splits(path, labels)
    except InputError as error:
        raise DataError(f"{path}: {error}") from error
    return Dataset(
        graph=graph,
        truth=Truth(labels, CLASSES),
        public_splits=splits,
        scaling="auto",
        source=f"{path}, {origin}",
    )


def even_quantile_labels(values: NDArray[np.floating], classes: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """One class per value, as many of each as can be, and where they are cut; no class where there is no number.

    >>> labels, cuts = even_quantile_labels(np.array([1990.0, 1991, 1992, 1992, 1999]), 2)
    >>> labels.tolist(), cuts.tolist()
    ([0, 0, 1, 1, 1], [1992.0])
    """
    known = np.isfinite(values)
    if not known.any():
        raise DataError("Expected years to cut at their quantiles, but there is no number among them.")
    cuts = np.quantile(values[known], np.arange(1, classes) / classes)
    labels = np.searchsorted(cuts, values, side="right")
    return np.where(known, labels, UNKNOWN).astype(np.int64), cuts


def _find(path: Path | None) -> Path:
    if path is not None:
        if not path.is_file():
            raise DataError(f"Expected the file of snap-patents at {path}, but there is none.")
        return path
    folder = data_folder()
    if folder is None or not (folder / SNAP_PATENTS_FILE).is_file():
        raise DataError(
            f"Expected {VARIABLE} to name a folder with {SNAP_PATENTS_FILE}, where dataset 'snap-patents' is, but it "
            f"{'is not set' if folder is None else f'names {folder}, which has no such file'}. It is published with "
            "the code of Lim et al. (2021), and snap-patents:path=FILE reads it from anywhere. For time and memory "
            "alone, synthetic-patents has the same size."
        )
    return folder / SNAP_PATENTS_FILE


def _read(path: Path) -> dict[str, Any]:
    try:
        parts: dict[str, Any] = scipy.io.loadmat(path, variable_names=KEYS)
    except Exception as error:  # a cut or foreign file fails wherever its bytes stop making sense
        raise DataError(
            f"Expected {path} to be a MATLAB file (version 7 or earlier), but got {type(error).__name__}: {error}. It "
            "may be truncated; fetch it again."
        ) from error
    missing = [key for key in KEYS if key not in parts]
    if missing:
        raise DataError(f"Expected {path} to have {', '.join(KEYS)}, but it lacks {', '.join(missing)}.")
    return parts


def _years(parts: dict[str, Any]) -> NDArray[np.float64]:
    years = np.asarray(parts["years"])
    if not np.issubdtype(years.dtype, np.number):
        raise DataError(f"Expected `years` to be numbers, but got {years.dtype}.")
    return years.astype(np.float64).ravel()


def _class_names(cuts: NDArray[np.float64]) -> tuple[str, ...]:
    first = [math.ceil(cut) for cut in cuts]  # the first year of every class but the lowest
    between = (f"{low}–{high - 1}" if low < high - 1 else f"{low}" for low, high in pairwise(first))
    return (f"to {first[0] - 1}", *between, f"from {first[-1]}")


def _splits(path: Path, labels: NDArray[np.int64]) -> tuple[tuple[Split, ...], str]:
    file = path.with_name(SPLITS_FILE)
    if file.is_file():
        masks = read_arrays(file, MASKS)
        if any(len(mask) != labels.size for mask in masks.values()):
            raise DataError(f"Expected masks of {labels.size} nodes in {file}, but got another number.")
        return splits_from_masks(*(masks[key] for key in MASKS)), f"splits of {file.name}"
    drawn = (random_split(labels, Seeds(number).generator("snap-patents split"), SHARES) for number in range(SPLITS))
    return tuple(drawn), "splits drawn here, not the authors'"
