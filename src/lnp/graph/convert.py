"""To and from the graphs of other libraries: PyTorch Geometric, networkx, scipy.

PyTorch Geometric and networkx are imported when a function that needs them is called. Sparse features stay sparse: a
torch CSR tensor in a PyG ``Data``, the scipy matrix itself in a networkx graph. What comes in obeys the contract of
:class:`~lnp.graph.graph.Graph` afterwards: undirected, doubled edges merged, no self-loops.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from lnp.errors import GraphError, InputError, LabelError
from lnp.graph.csr_notice import without_csr_notice
from lnp.graph.graph import Features, Graph, sorted_csr
from lnp.graph.labels import UNKNOWN, Truth
from lnp.graph.split import Split

__all__ = [
    "from_networkx",
    "from_pyg",
    "from_scipy",
    "import_optional",
    "splits_from_masks",
    "to_networkx",
    "to_pyg",
    "to_scipy",
]

MASKS = ("train_mask", "val_mask", "test_mask")


def import_optional(module: str, purpose: str) -> Any:
    """The module, or a clear error where it is not installed.

    Warnings at import are silenced: torch_geometric calls functions that torch deprecates, which concerns its authors.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise InputError(f"Expected {package} to be installed, which {purpose} needs, but got: {error}.") from error


def splits_from_masks(train: ArrayLike, validation: ArrayLike, test: ArrayLike) -> tuple[Split, ...]:
    """One split for masks of shape ``(n,)``, s of them for ``(n, s)``."""
    masks = [np.asarray(mask) for mask in (train, validation, test)]
    for mask in masks:
        if mask.dtype != bool or mask.ndim not in (1, 2) or mask.shape != masks[0].shape:
            raise LabelError(
                "Expected three boolean masks of one shape, (nodes,) or (nodes, splits), but got "
                f"{', '.join(f'{m.dtype} {m.shape}' for m in masks)}."
            )
    columns = (mask.reshape(len(mask), -1).T for mask in masks)
    return tuple(Split.from_masks(*parts) for parts in zip(*columns, strict=True))


# PyTorch Geometric


def to_pyg(graph: Graph, labels: Truth | None = None, split: Split | None = None) -> Any:
    """A ``torch_geometric.data.Data``.

    ``x`` is dense or torch CSR as the features are, ``edge_index`` has both directions of every edge, ``edge_weight``
    is there when a weight differs from 1, and ``y``, ``train_mask``, ``val_mask``, ``test_mask`` when given. Names and
    notes travel along as ``class_names``, ``node_ids``, ``name`` and ``notes``.
    """
    data_module = import_optional("torch_geometric.data", "to_pyg")
    arrows = graph.adjacency.tocoo()
    data = data_module.Data(
        x=_features_to_torch(graph.features),
        edge_index=torch.from_numpy(np.stack([arrows.row, arrows.col]).astype(np.int64)),
        class_names=graph.class_names,
        name=graph.name,
        notes=dict(graph.notes),
    )
    if (arrows.data != 1).any():
        data.edge_weight = torch.from_numpy(arrows.data.astype(np.float32))
    if graph.node_ids is not None:
        data.node_ids = graph.node_ids
    if labels is not None:
        data.y = torch.from_numpy(labels.labels.copy())
    if split is not None:
        for name, nodes in zip(MASKS, (split.train, split.validation, split.test), strict=True):
            mask = torch.zeros(graph.node_count, dtype=torch.bool)
            mask[torch.from_numpy(nodes)] = True
            data[name] = mask
    return data


def from_pyg(data: Any, class_names: tuple[str, ...] | None = None) -> tuple[Graph, Truth | None, Split | None]:
    """Graph, labels and split of a ``torch_geometric.data.Data``.

    Labels and split are ``None`` where ``y`` or a mask is missing. Of masks with several columns the first is the
    split; :func:`splits_from_masks` has them all.

    Args:
        data: With ``x`` (dense or sparse), ``edge_index`` and whatever else :func:`to_pyg` writes.
        class_names: Defaults to ``data.class_names``, then to the numbers up to the largest label.
    """
    for key in ("x", "edge_index"):
        if data.get(key) is None:
            raise GraphError(f"Expected `data` to have `{key}`, but it has only {', '.join(sorted(data.keys()))}.")
    labels = None if data.get("y") is None else _labels_from_torch(data.y)
    names = class_names or data.get("class_names")
    if names is None:
        if labels is None:
            raise GraphError("Expected `class_names`, for `data` has neither labels `y` nor `class_names`.")
        names = tuple(str(k) for k in range(max(2, int(labels.max(initial=UNKNOWN)) + 1)))
    weights, ids = data.get("edge_weight"), data.get("node_ids")
    graph = Graph.from_edges(
        data.edge_index.cpu().numpy(),
        _features_from_torch(data.x),
        class_names=tuple(names),
        weights=None if weights is None else weights.cpu().numpy(),
        node_ids=None if ids is None else tuple(ids),
        name=data.get("name") or "graph",
        notes=data.get("notes"),
    )
    masks = [data.get(key) for key in MASKS]
    splits = () if any(mask is None for mask in masks) else splits_from_masks(*(mask.cpu().numpy() for mask in masks))
    truth = None if labels is None else Truth(labels, graph.class_count)
    return graph, truth, splits[0] if splits else None


def _features_to_torch(features: Features) -> Tensor:
    if isinstance(features, np.ndarray):
        return torch.from_numpy(features.copy())
    pointers, columns = (torch.from_numpy(part.astype(np.int64)) for part in (features.indptr, features.indices))
    with without_csr_notice():
        return torch.sparse_csr_tensor(pointers, columns, torch.from_numpy(features.data.copy()), features.shape)


def _features_from_torch(x: Tensor) -> Features:
    x = x.detach().cpu()
    if x.layout == torch.strided:
        return x.numpy().copy()
    with without_csr_notice():
        coo = x.to_sparse(layout=torch.sparse_coo).coalesce()
    rows, columns = coo.indices().numpy()
    return sp.csr_array((coo.values().numpy(), (rows, columns)), shape=tuple(x.shape))


def _labels_from_torch(y: Tensor) -> NDArray[np.int64]:
    column = y.squeeze(1) if y.ndim == 2 and y.shape[1] == 1 else y
    if column.ndim != 1 or column.is_floating_point() or column.is_complex():
        raise LabelError(f"Expected `y` to be one whole number per node, but got shape {tuple(y.shape)} of {y.dtype}.")
    return column.cpu().numpy().astype(np.int64)


# networkx


def to_networkx(graph: Graph, labels: Truth | None = None) -> Any:
    """A ``networkx.Graph`` whose nodes are the node ids (or 0 … n−1), in order.

    Edges carry ``weight``, nodes their class number ``y`` when labels are given; the feature matrix, one row per node
    in order, is the graph's attribute ``features``, beside ``class_names``, ``name`` and ``notes``.
    """
    networkx = import_optional("networkx", "to_networkx")
    names = list(graph.node_ids) if graph.node_ids is not None else list(range(graph.node_count))
    if len(set(names)) != len(names):
        raise GraphError("Expected `node_ids` without repetition, because networkx tells nodes apart by them.")
    result = networkx.Graph(
        features=graph.features.copy(), class_names=graph.class_names, name=graph.name, notes=dict(graph.notes)
    )
    result.add_nodes_from(names)
    upper = sp.triu(graph.adjacency, 1).tocoo()
    result.add_weighted_edges_from(
        (names[i], names[j], weight)
        for i, j, weight in zip(upper.row.tolist(), upper.col.tolist(), upper.data.tolist(), strict=True)
    )
    if labels is not None:
        networkx.set_node_attributes(result, dict(zip(names, labels.labels.tolist(), strict=True)), "y")
    return result


def from_networkx(
    source: Any,
    features: ArrayLike | sp.sparray | sp.spmatrix | str = "features",
    *,
    label: str = "y",
    class_names: tuple[str, ...] | None = None,
) -> tuple[Graph, Truth | None]:
    """Graph and labels of any networkx graph; labels are ``None`` when no node has one.

    Args:
        source: Directed or not, with or without parallel edges; ``weight`` counts where it is there.
        features: A matrix with one row per node in the order of ``source.nodes``, or the name of a graph attribute
            with such a matrix, or else of a node attribute with a row of numbers.
        label: The node attribute with the class number; a node without it is unlabelled.
        class_names: Defaults to the graph attribute ``class_names``, then to the numbers up to the largest label.
    """
    import_optional("networkx", "from_networkx")
    nodes = list(source.nodes)
    position = {node: i for i, node in enumerate(nodes)}
    found = [(position[u], position[v], w) for u, v, w in source.edges(data="weight", default=1.0)]
    table = np.array([edge[:2] for edge in found], dtype=np.int64).reshape(-1, 2).T
    attributes = source.graph
    if isinstance(features, str):
        features = attributes[features] if features in attributes else _node_rows(source, features)
    given = np.array([source.nodes[node].get(label, UNKNOWN) for node in nodes])
    labelled = bool((given != UNKNOWN).any())
    names = class_names or attributes.get("class_names")
    if names is None:
        if not labelled:
            raise GraphError("Expected `class_names`, for no node has a label and the graph does not name its classes.")
        names = tuple(str(k) for k in range(max(2, int(given.max()) + 1)))
    graph = Graph.from_edges(
        table,
        features,
        class_names=tuple(names),
        weights=np.array([edge[2] for edge in found], dtype=np.float32),
        node_ids=None if nodes == list(range(len(nodes))) else tuple(str(node) for node in nodes),
        name=attributes.get("name") or "graph",
        notes=attributes.get("notes"),
    )
    return graph, Truth(given, graph.class_count) if labelled else None


def _node_rows(source: Any, attribute: str) -> NDArray[np.float32]:
    missing = [node for node in source.nodes if attribute not in source.nodes[node]]
    if missing:
        raise GraphError(
            f"Expected features in the attribute {attribute!r} of the graph or of every node, but node {missing[0]!r} "
            "has none. Pass a matrix as `features`, or the name of the attribute."
        )
    return np.array([source.nodes[node][attribute] for node in source.nodes], dtype=np.float32)


# scipy


def to_scipy(graph: Graph) -> tuple[sp.csr_array, Features]:
    """Copies of the adjacency matrix (CSR) and of the features (dense or CSR)."""
    return graph.adjacency.copy(), graph.features.copy()


def from_scipy(
    adjacency: sp.sparray | sp.spmatrix,
    features: ArrayLike | sp.sparray | sp.spmatrix,
    *,
    class_names: tuple[str, ...] | None = None,
    class_count: int | None = None,
    node_ids: tuple[str, ...] | None = None,
    name: str = "graph",
) -> Graph:
    """A graph from a matrix of positive weights; where the two directions of an edge differ, the larger one stays."""
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise GraphError(f"Expected `adjacency` to be square, but got shape {adjacency.shape}.")
    entries = sorted_csr(sp.csr_array(adjacency).astype(np.float32)).tocoo()
    return Graph.from_edges(
        np.stack([entries.row, entries.col]),
        features,
        class_names=class_names,
        class_count=class_count,
        weights=entries.data,
        node_ids=node_ids,
        name=name,
    )
